// SPDX-License-Identifier: Apache-2.0
#include "bytes/sample_unwinder.hpp"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "bytes/debug_files.hpp"
#include "bytes/native_names.hpp"
#include "bytes/read_files.hpp"

namespace beamheap::bytes {

struct SampleUnwinder::State {
    State(std::uint32_t p, const LiveMemory& m) : process(p), memory(m) {}
    std::uint32_t process;
    const LiveMemory& memory;
    Dwfl* dwfl = nullptr;
    bool attached = false;
    char* debug_path = nullptr;  // the default: beside the file, and /usr/lib/debug
    Dwfl_Callbacks finders{};
    std::vector<std::string> missing;
    std::unordered_map<std::uint64_t, NativeFrame> names;  // by address, and in bit 63 whether it was interrupted
    struct Piece {
        CodeExtent extent;
        NativeFrame first;  // the first of its code that was named
    };
    std::map<std::uint64_t, Piece> pieces;  // of functions, by where they begin
    std::unordered_map<Dwfl_Module*, std::vector<std::uint64_t>> bounds;

    const ThreadSample* sample = nullptr;
    std::vector<UnwoundFrame>* frames = nullptr;
    bool ended = false;   // at code of no file
    bool unread = false;  // a word of the stack that the youngest of the frames so far has saved was not to be had

    void report();
    int open_file(const Mapping& mapping) const;
    int copy_of(const Mapping& mapping) const;
    void finish();
    void name(NativeFrame& row, bool interrupted);
    CodeExtent piece_of(std::uint64_t address);
    void keep_rbx() const;
    static int on_frame(Dwfl_Frame* frame, void* argument);
};

namespace {

// The list of threads is asked for by none of the calls made here: every sample is of one thread, which libdwfl is told
// of as 1.
pid_t no_next_thread(Dwfl*, void*, void**) { return 0; }

}  // namespace

// The mapped file itself. The kernel's own link to it needs a right that not all have; names are those of the process's
// file system, or, where it was moved into a part of ours (chroot), of ours: whichever is the file with that number.
int SampleUnwinder::State::open_file(const Mapping& mapping) const {
    const std::string folder = fmt::format("/proc/{}", process);
    const std::string places[] = {fmt::format("{}/map_files/{:x}-{:x}", folder, mapping.start, mapping.end),
                                  folder + "/root" + mapping.path, mapping.path};
    for (const std::string& place : places) {
        const int fd = open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) continue;
        struct stat status {};
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == mapping.inode) {
            note_read(fd, "code that the VM runs");
            return fd;
        }
        close(fd);
    }
    return -1;
}

// The kernel's own code in every process ("[vdso]", where the clock is read) is in no file: its memory is one.
int SampleUnwinder::State::copy_of(const Mapping& mapping) const {
    constexpr std::uint64_t most = 1u << 20;
    std::vector<std::byte> bytes(std::min(mapping.end - mapping.start, most));
    if (memory.read(mapping.start, bytes) != bytes.size()) return -1;
    const int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0) return -1;
    if (write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) return fd;
    close(fd);
    return -1;
}

void SampleUnwinder::State::report() {
    const std::vector<Mapping> mappings = memory.mappings();
    // Where a file begins whose code is mapped behind it: it may be mapped again, as data, by whoever reads it.
    std::set<std::uint64_t> begins;
    for (std::uint64_t begin = 0, inode = 0; const Mapping& mapping : mappings) {
        if (mapping.inode == 0) continue;
        if (mapping.file_offset == 0) begin = mapping.start, inode = mapping.inode;
        if (mapping.executable && mapping.inode == inode) begins.insert(begin);
    }
    std::set<std::uint64_t> seen;  // inodes
    dwfl_report_begin(dwfl);
    for (const Mapping& mapping : mappings) {
        const bool kernels = mapping.path == "[vdso]";
        if (!kernels &&
            (mapping.path.empty() || mapping.path[0] != '/' || mapping.path.starts_with("/memfd:") ||
             mapping.file_offset != 0 || !begins.contains(mapping.start) || !seen.insert(mapping.inode).second))
            continue;
        std::string name = mapping.path.substr(mapping.path.rfind('/') + 1);
        if (const std::size_t end = name.find(" (deleted)"); end != std::string::npos) name.resize(end);
        const int fd = kernels ? copy_of(mapping) : open_file(mapping);
        if (fd < 0) {
            missing.push_back(fmt::format("{}: not to be opened from here", name));
            continue;
        }
        if (dwfl_report_elf(dwfl, name.c_str(), mapping.path.c_str(), fd, mapping.start, false) == nullptr) {
            missing.push_back(fmt::format("{}: {}", name, dwfl_errmsg(-1)));
            close(fd);
        }
    }
    dwfl_report_end(dwfl, nullptr, nullptr);
}

// Of the registers that a called function must keep, tables name those that it saves; the others are as they were. For
// these libdwfl asks a list of its own, which has rax in the place of rbx (elfutils, backends/x86_64_cfi.c: register 0
// is called %rbx, which is 3).
void SampleUnwinder::State::keep_rbx() const {
    constexpr auto rax = static_cast<std::size_t>(X86::rax), rbx = static_cast<std::size_t>(X86::rbx);
    if (frames->size() < 2) return;
    const UnwoundFrame& called = (*frames)[frames->size() - 2];
    UnwoundFrame& row = frames->back();
    row.known &= ~(1u << rax);
    if ((row.known >> rbx & 1) != 0 || (called.known >> rbx & 1) == 0 || unread) return;
    row.registers[rbx] = called.registers[rbx];
    row.known |= 1u << rbx;
}

int SampleUnwinder::State::on_frame(Dwfl_Frame* frame, void* argument) {
    State& s = *static_cast<State*>(argument);
    Dwarf_Addr pc = 0;
    bool interrupted = false;
    if (!dwfl_frame_pc(frame, &pc, &interrupted)) return DWARF_CB_ABORT;
    UnwoundFrame& row = s.frames->emplace_back();
    row.address = pc;
    row.interrupted = interrupted;
    row.of_file = dwfl_addrmodule(s.dwfl, interrupted || pc == 0 ? pc : pc - 1) != nullptr;
    for (std::size_t i = 0; i < row.registers.size(); ++i) {
        Dwarf_Word value = 0;
        if (dwfl_frame_reg(frame, static_cast<unsigned>(i), &value) != 0) continue;
        row.registers[i] = value;
        row.known |= 1u << i;
    }
    s.keep_rbx();
    s.unread = false;
    s.ended = !row.of_file;
    return s.ended || s.frames->size() == most_native_frames ? DWARF_CB_ABORT : DWARF_CB_OK;
}

SampleUnwinder::SampleUnwinder(std::uint32_t process, const LiveMemory& memory)
    : state_(std::make_unique<State>(process, memory)) {
    state_->finders.find_elf = dwfl_build_id_find_elf;
    state_->finders.find_debuginfo = find_debug_file;
    state_->finders.debuginfo_path = &state_->debug_path;
    look_again();
}

SampleUnwinder::~SampleUnwinder() { state_->finish(); }

void SampleUnwinder::State::finish() {
    if (dwfl != nullptr) dwfl_end(dwfl);
    dwfl = nullptr;
}

void SampleUnwinder::look_again() {
    static constexpr Dwfl_Thread_Callbacks callbacks{
        no_next_thread,
        [](Dwfl*, pid_t, void* argument, void** thread) {
            *thread = argument;
            return true;
        },
        [](Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
            State& s = *static_cast<State*>(argument);
            const std::uint64_t offset = address - s.sample->stack_pointer();
            const Bytes stack = s.sample->stack;
            if (offset < stack.size() && stack.size() - offset >= 8) {
                *result = load<std::uint64_t>(stack.data() + offset);
                return true;
            }
            std::byte word[8];
            s.unread = s.memory.read(address, word) != sizeof word;
            if (s.unread) return false;
            *result = load<std::uint64_t>(word);
            return true;
        },
        [](Dwfl_Thread* thread, void* argument) {
            const State& s = *static_cast<State*>(argument);
            std::array<Dwarf_Word, ThreadSample::register_count> values{};
            std::copy(s.sample->registers.begin(), s.sample->registers.end(), values.begin());
            return dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(values.size()), values.data());
        },
        nullptr,
        nullptr};
    State& s = *state_;
    s.finish();
    s.names.clear();
    s.pieces.clear();
    s.bounds.clear();
    s.missing.clear();
    s.attached = false;
    s.dwfl = dwfl_begin(&s.finders);
    if (s.dwfl != nullptr) {
        s.report();
        s.attached = dwfl_attach_state(s.dwfl, nullptr, 1, &callbacks, &s);
    }
    if (!s.attached) s.missing.push_back(dwfl_errmsg(-1));
}

const std::vector<std::string>& SampleUnwinder::missing() const { return state_->missing; }

bool SampleUnwinder::unwind(const ThreadSample& sample, std::vector<UnwoundFrame>& frames) {
    State& s = *state_;
    frames.clear();
    if (!s.attached) return false;
    s.sample = &sample;
    s.frames = &frames;
    s.ended = s.unread = false;
    const int result = dwfl_getthread_frames(s.dwfl, 1, State::on_frame, &s);
    s.sample = nullptr;
    s.frames = nullptr;
    return s.ended || result == 0;
}

// The code around an address of which all has the same name.
CodeExtent SampleUnwinder::State::piece_of(std::uint64_t address) {
    Dwfl_Module* const module = dwfl_addrmodule(dwfl, address);
    const auto [at, is_new] = bounds.try_emplace(module);
    if (is_new) at->second = symbol_bounds(module);
    const auto next = std::ranges::upper_bound(at->second, address);
    CodeExtent piece{0, next == at->second.end() ? address + 1 : *next};
    if (next != at->second.begin()) piece.start = *std::prev(next);
    return piece;
}

// libdwfl goes through all symbols of a file for each address (elfutils, libdwfl/dwfl_module_addrsym.c), and samples
// have thousands of addresses of some hundred functions: each piece of code is looked for once.
void SampleUnwinder::State::name(NativeFrame& row, bool interrupted) {
    const std::uint64_t inside = interrupted ? row.address : row.address - 1;
    if (const auto after = pieces.upper_bound(inside); after != pieces.begin()) {
        const Piece& known = std::prev(after)->second;
        if (known.extent.holds(inside)) {
            const bool named = !known.first.function.empty();  // else the offset is that of the function's start
            const std::uint64_t further = named ? row.address - known.first.address : 0;
            row = {row.address, known.first.function, known.first.offset + further, known.first.file};
            return;
        }
    }
    if (!name_native_code(dwfl, !interrupted, row)) return;
    CodeExtent piece = piece_of(inside);
    if (row.function.empty()) {
        const CodeExtent unnamed = extent_of_unnamed(dwfl_addrmodule(dwfl, inside), inside);
        if (unnamed.holds(inside)) row.offset -= row.address - unnamed.start;
        piece = {std::max(piece.start, unnamed.start), std::min(piece.end, unnamed.end)};
    }
    if (piece.holds(inside)) pieces[piece.start] = {piece, row};
}

const NativeFrame& SampleUnwinder::name(const UnwoundFrame& frame) {
    const auto [at, is_new] = state_->names.try_emplace(frame.address | (frame.interrupted ? 1ull << 63 : 0));
    if (is_new) {
        at->second.address = frame.address;
        state_->name(at->second, frame.interrupted);
    }
    return at->second;
}

}  // namespace beamheap::bytes
