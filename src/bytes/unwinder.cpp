// SPDX-License-Identifier: Apache-2.0
#include "bytes/unwinder.hpp"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "bytes/debug_files.hpp"
#include "bytes/descriptor.hpp"
#include "bytes/failed_reads.hpp"
#include "bytes/native_names.hpp"

namespace beamheap::bytes {
namespace {

// Above the 48 bits that Linux gives to programs which don't ask for more: where signatures of arm64 are, if no note
// says so.
constexpr std::uint64_t usual_signature_bits = ~0ull << 48;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

constexpr const char* code_of_no_file = "code of no file";

struct Unwinding {
    const CoreNotes* notes = nullptr;
    MemoryReader* memory = nullptr;
    Dwfl* dwfl = nullptr;
    std::uint64_t signature_bits = 0;  // of a return address; 0 on machines that don't sign them
    std::size_t registers = 0;         // that libdwfl is told of
    const CoreThread* thread = nullptr;

    /// A word of a stack as the address that it is: without a signature, if there is code where the rest points to.
    std::uint64_t address(std::uint64_t word) const {
        const std::uint64_t plain = word & ~signature_bits;
        return plain != word && dwfl_addrmodule(dwfl, plain) != nullptr ? plain : word;
    }
};

}  // namespace

struct Unwinder::State {
    State(const CoreNotes& n, const AddressSpace& s, std::uint16_t m)
        : notes(n), memory(s), arm64(m == elf::machine_aarch64) {
        unwinding.registers =
            static_cast<std::size_t>(arm64 ? static_cast<unsigned>(Arm64::count_) : static_cast<unsigned>(X86::count_));
        if (arm64) unwinding.signature_bits = notes.signature_bits.value_or(usual_signature_bits);
    }

    const CoreNotes& notes;
    MemoryReader memory;
    bool arm64;
    Unwinding unwinding{&notes, &memory};
    Dwfl* dwfl = nullptr;
    bool attached = false;
    char* debug_path = nullptr;  // the default: beside the file, and /usr/lib/debug
    Dwfl_Callbacks finders{};
    std::vector<std::string> missing;
    std::map<std::string, std::string> unusable;  // by path: the reason

    std::string report(const CoreFile& file);
    bool same_build(const CoreFile& file, const ElfImage& on_disk);
    std::string why_not(std::uint64_t address);
    NativeFrame frame(std::uint64_t address, bool returning);
    void follow_records(const CoreThread& thread, NativeStack& stack);
    struct Walk {
        State* state = nullptr;
        NativeStack* out = nullptr;
        bool outside = false;
    };
    static int on_frame(Dwfl_Frame* frame, void* argument);
    bool goes_on_behind(const CoreThread& thread, const NativeStack& stack, std::uint64_t& record);
};

// The headers of a mapped file are in its first page, which kernels and gcore keep by default (core(5), coredump_filter
// bit 4); the note with the build id lies there too, or in a page that the core may lack.
bool Unwinder::State::same_build(const CoreFile& file, const ElfImage& on_disk) {
    const Bytes head = memory.from(file.start, 4096);
    if (head.size() < 64 || !identify_elf(head).is_elf) return false;
    const std::string wanted = on_disk.build_id();
    for (const ElfSegment& segment : on_disk.segments()) {
        if (segment.type != elf::segment_note) continue;
        const std::byte* note = memory.probe(file.start + segment.offset, segment.file_size);
        const Bytes known = on_disk.contents(segment);
        if (note == nullptr || known.size() != segment.file_size) continue;
        for (const ElfNote& each : parse_notes({note, known.size()}))
            if (each.owner == "GNU" && each.type == elf::note_gnu_build_id && !wanted.empty())
                return std::equal(known.begin(), known.end(), note);
    }
    return false;
}

namespace {

// Keeps that the system gives a file to nobody now: no descriptors, a file system that went away. Frames lose their
// names by that, and the answer is not whole. One that is not here, or not ours to read, is told with the frames.
void note_refusal(const std::string& path, bool was_open) {
    const Descriptor again(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const int error = again ? 0 : errno;
    if (error != 0 && error != ENOENT && error != ENOTDIR && (was_open || error != EACCES))
        note_failed_read({ErrorCode::unreadable, fmt::format("{}: {}", path, std::strerror(error)), {}});
}

// Why a file that a core names can't be opened: most often the core is another machine's.
std::string reason_of(const Error& error, const std::string& path) {
    const std::string_view said =
        std::string_view(error.message).substr(std::min(path.size() + 2, error.message.size()));
    if (said == std::strerror(ENOENT) || said == std::strerror(ENOTDIR)) return "not on this machine";
    return fmt::format("reading it failed: {}", said);
}

std::string refusal_of_libdw(const std::string& path) {
    std::string reason = dwfl_errmsg(-1);
    note_refusal(path, true);
    return reason;
}

}  // namespace

std::string Unwinder::State::report(const CoreFile& file) {
    const auto on_disk = ElfImage::open(file.path);
    if (!on_disk) {
        note_refusal(file.path, false);
        return reason_of(on_disk.error(), file.path);
    }
    if (!same_build(file, *on_disk)) return "the core does not prove that the one on this machine is the one that ran";
    const std::string name = base_name(file.path);
    if (dwfl_report_elf(dwfl, name.c_str(), file.path.c_str(), -1, file.start, false) == nullptr)
        return refusal_of_libdw(file.path);
    return {};
}

std::string Unwinder::State::why_not(std::uint64_t address) {
    const CoreFile* file = notes.file_at(address);
    if (file == nullptr || file->path.starts_with("/memfd:")) return {};  // memory that the process made itself
    const auto reason = unusable.find(file->path);
    if (reason == unusable.end()) return {};
    const std::string text = fmt::format("{}: {}", base_name(file->path), reason->second);
    if (std::find(missing.begin(), missing.end(), text) == missing.end()) missing.push_back(text);
    return fmt::format("in {}, which can't be unwound", base_name(file->path));
}

// What is at an address; a return address is behind its call, which may be the last instruction of its function.
NativeFrame Unwinder::State::frame(std::uint64_t address, bool returning) {
    NativeFrame row;
    row.address = address;
    const Dwarf_Addr inside = returning && address != 0 ? address - 1 : address;
    if (name_native_code(dwfl, returning, row)) return row;
    const CoreFile* file = notes.file_at(inside);
    if (file == nullptr || file->path.starts_with("/memfd:")) return row;
    row.file = base_name(file->path);
    row.offset = address - file->start + file->file_offset;
    return row;
}

// Finds the record whose return address leads to the caller of the stack's oldest frame. That frame is itself some
// record's return address, or what was interrupted; what was interrupted has no record where it calls nobody (a
// wrapper of a system call): then its caller, in another file, is only in the link register.
bool Unwinder::State::goes_on_behind(const CoreThread& thread, const NativeStack& stack, std::uint64_t& record) {
    record = thread[Arm64::frame];
    if (stack.frames.size() == 1) return true;
    for (std::size_t n = 0; n < 2 * most_native_frames; ++n) {
        const std::byte* p = memory.probe(record, 16);
        if (p == nullptr) return false;
        const auto older = load<std::uint64_t>(p);
        const std::uint64_t address = load<std::uint64_t>(p + 8) & ~unwinding.signature_bits;
        if (older <= record) return false;
        record = older;
        if (address == stack.frames.back().address) return true;
    }
    return false;
}

// The rest of a stack out of frame records {older record, return address}, each at a higher address than the last.
void Unwinder::State::follow_records(const CoreThread& thread, NativeStack& stack) {
    std::uint64_t record = 0;
    if (stack.frames.empty() || stack.frames.back().file.empty() || !goes_on_behind(thread, stack, record)) return;
    stack.end.clear();
    const auto add = [&](std::uint64_t address) {
        if (stack.frames.size() == most_native_frames) {
            stack.end = "deeper than is shown";
            return false;
        }
        stack.frames.push_back(frame(address, true));
        if (stack.frames.back().file.empty()) stack.end = code_of_no_file;
        return stack.end.empty();
    };
    const std::byte* p = memory.probe(record, 16);
    if (stack.frames.size() == 1) {
        const std::uint64_t link = thread[Arm64::link] & ~unwinding.signature_bits;
        const std::uint64_t known = p == nullptr ? 0 : load<std::uint64_t>(p + 8) & ~unwinding.signature_bits;
        const std::string file = link == 0 ? std::string{} : frame(link, true).file;
        if (link != known && !file.empty() && file != stack.frames.front().file && !add(link)) return;
    }
    for (; p != nullptr && record % 8 == 0; p = memory.probe(record, 16)) {
        const auto older = load<std::uint64_t>(p);
        const std::uint64_t address = load<std::uint64_t>(p + 8) & ~unwinding.signature_bits;
        if (address == 0 || !add(address) || older <= record) return;
        record = older;
    }
}

namespace {

// Threads are known to libdwfl by their place in the list, from 1: a forged core may have two of one id.
pid_t next_thread(Dwfl*, void*, void**) { return 0; }

bool get_thread(Dwfl*, pid_t id, void* argument, void** thread) {
    auto& unwinding = *static_cast<Unwinding*>(argument);
    unwinding.thread = &unwinding.notes->threads[static_cast<std::size_t>(id - 1)];
    *thread = argument;
    return true;
}

bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
    const auto& unwinding = *static_cast<Unwinding*>(argument);
    const std::byte* word = unwinding.memory->probe(address, 8);
    if (word == nullptr) return false;
    *result = unwinding.address(load<std::uint64_t>(word));
    return true;
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
    const auto& unwinding = *static_cast<const Unwinding*>(argument);
    const CoreThread& core = *unwinding.thread;
    std::array<Dwarf_Word, std::tuple_size_v<decltype(CoreThread::registers)>> values{};
    for (std::size_t i = 0; i < unwinding.registers; ++i) values[i] = unwinding.address(core.registers[i]);
    if (!dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(unwinding.registers), values.data()))
        return false;
    dwfl_thread_state_register_pc(thread, core.program_counter);
    return true;
}

constexpr Dwfl_Thread_Callbacks thread_callbacks{next_thread, get_thread, read_memory, set_registers, nullptr, nullptr};

}  // namespace

int Unwinder::State::on_frame(Dwfl_Frame* frame, void* argument) {
    Walk& walk = *static_cast<Walk*>(argument);
    Dwarf_Addr pc = 0;
    bool interrupted = false;
    if (!dwfl_frame_pc(frame, &pc, &interrupted)) return DWARF_CB_ABORT;
    if (walk.out->frames.size() == most_native_frames) {
        walk.out->end = "deeper than is shown";
        return DWARF_CB_ABORT;
    }
    walk.out->frames.push_back(walk.state->frame(pc, !interrupted));
    walk.outside = dwfl_addrmodule(walk.state->dwfl, interrupted || pc == 0 ? pc : pc - 1) == nullptr;
    return walk.outside ? DWARF_CB_ABORT : DWARF_CB_OK;
}

Unwinder::Unwinder(const CoreNotes& notes, const AddressSpace& space, const ElfImage& executable, std::uint64_t bias)
    : state_(std::make_unique<State>(notes, space, executable.machine())) {
    State& s = *state_;
    s.finders.find_elf = dwfl_build_id_find_elf;
    s.finders.find_debuginfo = find_debug_file;
    s.finders.debuginfo_path = &s.debug_path;
    s.dwfl = dwfl_begin(&s.finders);
    if (s.dwfl == nullptr) {
        s.missing.push_back(dwfl_errmsg(-1));
        return;
    }
    s.unwinding.dwfl = s.dwfl;
    dwfl_report_begin(s.dwfl);
    const std::uint64_t base = executable.base_address() + bias;
    const std::string name = base_name(executable.name());
    if (dwfl_report_elf(s.dwfl, name.c_str(), executable.name().c_str(), -1, base, false) == nullptr)
        s.missing.push_back(fmt::format("{}: {}", name, refusal_of_libdw(executable.name())));
    std::set<std::string> seen;
    for (const CoreFile& file : notes.files)
        if (file.file_offset == 0 && file.start != base && seen.insert(file.path).second)
            if (std::string reason = s.report(file); !reason.empty()) s.unusable.emplace(file.path, std::move(reason));
    dwfl_report_end(s.dwfl, nullptr, nullptr);
    s.attached = dwfl_attach_state(s.dwfl, nullptr, 1, &thread_callbacks, &s.unwinding);
    if (!s.attached) s.missing.push_back(dwfl_errmsg(-1));
}

Unwinder::~Unwinder() {
    if (state_->dwfl != nullptr) dwfl_end(state_->dwfl);
}

const std::vector<std::string>& Unwinder::missing() const { return state_->missing; }

NativeStack Unwinder::stack(std::size_t thread) {
    State& s = *state_;
    NativeStack stack;
    if (s.dwfl == nullptr || !s.attached) {
        stack.end = "nothing to unwind it with";
        return stack;
    }
    State::Walk walk{&s, &stack, false};
    const int result = dwfl_getthread_frames(s.dwfl, static_cast<pid_t>(thread + 1), State::on_frame, &walk);
    if (!walk.outside && result >= 0) return stack;
    const std::size_t unwound = stack.frames.size();
    if (s.arm64) s.follow_records(s.notes.threads[thread], stack);
    if (stack.frames.size() != unwound) return stack;
    if (walk.outside) {
        stack.end = s.why_not(stack.frames.back().address);
        if (stack.end.empty()) stack.end = code_of_no_file;
    } else {
        stack.end = dwfl_errmsg(-1);
    }
    return stack;
}

}  // namespace beamheap::bytes
