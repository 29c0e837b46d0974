#include "bytes/unwinder.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace beamheap::bytes {
namespace {

// DWARF's numbers of the registers of x86-64 (System V psABI, figure 3.36), 16 being the return address.
constexpr std::array<Register, 17> dwarf_registers{
    Register::rax, Register::rdx, Register::rcx, Register::rbx, Register::rsi, Register::rdi,
    Register::rbp, Register::rsp, Register::r8,  Register::r9,  Register::r10, Register::r11,
    Register::r12, Register::r13, Register::r14, Register::r15, Register::rip};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string readable(const char* name) {
    if (name == nullptr) return {};
    if (name[0] != '_' || name[1] != 'Z') return std::string(name, std::strcspn(name, "@"));  // without its version
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string result = status == 0 && text != nullptr ? text : name;
    std::free(text);
    return result;
}

struct Unwinding {
    const CoreNotes* notes = nullptr;
    MemoryReader* memory = nullptr;
};

}  // namespace

struct Unwinder::State {
    State(const CoreNotes& n, const AddressSpace& s) : notes(n), memory(s) {}

    const CoreNotes& notes;
    MemoryReader memory;
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

std::string Unwinder::State::report(const CoreFile& file) {
    const auto on_disk = ElfImage::open(file.path);
    if (!on_disk) return "not on this machine";
    if (!same_build(file, *on_disk)) return "the core does not prove that the one on this machine is the one that ran";
    const std::string name = base_name(file.path);
    if (dwfl_report_elf(dwfl, name.c_str(), file.path.c_str(), -1, file.start, false) == nullptr)
        return dwfl_errmsg(-1);
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

namespace {

// Threads are known to libdwfl by their place in the list, from 1: a forged core may have two of one id.
pid_t next_thread(Dwfl*, void*, void**) { return 0; }

bool get_thread(Dwfl*, pid_t id, void* argument, void** thread) {
    *thread =
        const_cast<CoreThread*>(&static_cast<Unwinding*>(argument)->notes->threads[static_cast<std::size_t>(id - 1)]);
    return true;
}

bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
    const std::byte* word = static_cast<Unwinding*>(argument)->memory->probe(address, 8);
    if (word == nullptr) return false;
    *result = load<std::uint64_t>(word);
    return true;
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
    const auto& core = *static_cast<const CoreThread*>(argument);
    std::array<Dwarf_Word, dwarf_registers.size()> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = core[dwarf_registers[i]];
    return dwfl_thread_state_registers(thread, 0, values.size(), values.data());
}

constexpr Dwfl_Thread_Callbacks thread_callbacks{next_thread, get_thread, read_memory, set_registers, nullptr, nullptr};

struct Walk {
    Dwfl* dwfl = nullptr;
    NativeStack* out = nullptr;
    bool outside = false;
};

int on_frame(Dwfl_Frame* frame, void* argument) {
    Walk& walk = *static_cast<Walk*>(argument);
    Dwarf_Addr pc = 0;
    bool interrupted = false;
    if (!dwfl_frame_pc(frame, &pc, &interrupted)) return DWARF_CB_ABORT;
    if (walk.out->frames.size() == most_native_frames) {
        walk.out->end = "deeper than is shown";
        return DWARF_CB_ABORT;
    }
    NativeFrame row;
    row.address = pc;
    // A return address is behind its call, which may be the last instruction of its function.
    const Dwarf_Addr inside = interrupted || pc == 0 ? pc : pc - 1;
    Dwfl_Module* module = dwfl_addrmodule(walk.dwfl, inside);
    if (module == nullptr) {
        walk.outside = true;
        walk.out->frames.push_back(std::move(row));
        return DWARF_CB_ABORT;
    }
    Dwarf_Addr start = 0;
    if (const char* name = dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr))
        row.file = name;
    row.offset = pc - start;
    GElf_Off offset = 0;
    GElf_Sym symbol{};
    const char* name = dwfl_module_addrinfo(module, inside, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name != nullptr && offset < symbol.st_size) {
        row.function = readable(name);
        row.offset = pc - (inside - offset);
    }
    walk.out->frames.push_back(std::move(row));
    return DWARF_CB_OK;
}

}  // namespace

Unwinder::Unwinder(const CoreNotes& notes, const AddressSpace& space, const ElfImage& executable, std::uint64_t bias)
    : state_(std::make_unique<State>(notes, space)) {
    State& s = *state_;
    s.finders.find_elf = dwfl_build_id_find_elf;
    s.finders.find_debuginfo = dwfl_standard_find_debuginfo;
    s.finders.debuginfo_path = &s.debug_path;
    s.dwfl = dwfl_begin(&s.finders);
    if (s.dwfl == nullptr) {
        s.missing.push_back(dwfl_errmsg(-1));
        return;
    }
    dwfl_report_begin(s.dwfl);
    const std::uint64_t base = executable.base_address() + bias;
    const std::string name = base_name(executable.name());
    if (dwfl_report_elf(s.dwfl, name.c_str(), executable.name().c_str(), -1, base, false) == nullptr)
        s.missing.push_back(fmt::format("{}: {}", name, dwfl_errmsg(-1)));
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
    Walk walk{s.dwfl, &stack};
    const int result = dwfl_getthread_frames(s.dwfl, static_cast<pid_t>(thread + 1), on_frame, &walk);
    if (walk.outside) {
        stack.end = s.why_not(stack.frames.back().address);
        if (stack.end.empty()) stack.end = "code of no file";
    } else if (result < 0) {
        stack.end = dwfl_errmsg(-1);
    }
    return stack;
}

}  // namespace beamheap::bytes
