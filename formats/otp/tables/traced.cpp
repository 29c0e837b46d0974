// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/tables/traced.hpp"

#include <algorithm>

namespace beamheap::otp {
namespace {

using bytes::load;

// beam_bp.c, ERTS_BPF_*.
constexpr Word counts_calls = 0x04, counts_time = 0x20, counts_memory = 0x100;
constexpr std::uint64_t most_functions = 1u << 22, most_sessions = 1024, most_hashes = 4096, most_items = 1u << 24;
constexpr std::uint64_t item_bytes = 24;    // pid, calls, time or words
constexpr std::uint32_t session_name = 32;  // ErtsTraceSession.name_atom (erl_trace.h, OTP 27 to 29)

class TraceReader {
public:
    explicit TraceReader(Reader& reader) : reader_(reader), at_(reader.at), memory_(reader.memory) {}

    std::vector<TracedFunction> run() {
        for (const Code::Module& module : reader_.vm.code.modules()) {
            const auto count = memory_.word(module.start);
            if (!count || *count > most_functions) continue;
            const std::byte* functions = memory_.at(module.start + at_.code_functions, *count * 8);
            for (std::uint64_t i = 0; functions != nullptr && i < *count; ++i) function(load<Word>(functions + 8 * i));
        }
        return std::move(found_);
    }

private:
    void function(std::uint64_t info) {
        const auto first = memory_.word(info + at_.code_info_breakpoint);
        if (!first || *first == 0) return;
        std::uint64_t sessions = 0;
        for (std::uint64_t breakpoint = *first; breakpoint != 0 && sessions < most_sessions; ++sessions) {
            const std::byte* p = memory_.at(breakpoint, at_.breakpoint_data + 2ull * at_.breakpoint_data_size);
            if (p == nullptr) return;
            take(info, breakpoint,
                 p + at_.breakpoint_data + std::size_t{reader_.vm.roots.breakpoint_index} * at_.breakpoint_data_size);
            breakpoint = at_.breakpoint_next == absent ? 0 : memory_.word(breakpoint + at_.breakpoint_next).value_or(0);
        }
    }

    void take(std::uint64_t info, std::uint64_t breakpoint, const std::byte* data) {
        const Word flags = load<std::uint32_t>(data + at_.breakpoint_flags);
        if ((flags & (counts_calls | counts_time | counts_memory)) == 0) return;
        const auto mfa = Code::mfa_at(memory_, info + at_.code_info_mfa);
        if (!mfa) return;
        TracedFunction row;
        row.function = reader_.function(*mfa);
        if (row.function == FunctionId::none) return;
        if (at_.breakpoint_session != absent)
            if (const auto session = memory_.word(breakpoint + at_.breakpoint_session); session && *session != 0)
                row.session = reader_.atom(memory_.word(*session + session_name).value_or(0));
        if ((flags & counts_calls) != 0)
            if (const auto calls = memory_.word(load<Word>(data + at_.breakpoint_count))) row.calls = *calls;
        const bool readable = reader_.vm.layout.trace_hashes != TraceHashes::unknown;
        if (readable && (flags & counts_time) != 0) {
            row.timed = true;
            processes(load<Word>(data + at_.breakpoint_time), row.time);
        }
        if (readable && (flags & counts_memory) != 0 && at_.breakpoint_memory != absent) {
            row.measured = true;
            processes(load<Word>(data + at_.breakpoint_memory), row.memory);
        }
        found_.push_back(std::move(row));
    }

    void processes(std::uint64_t trace, std::vector<TracedProcess>& out) {
        const auto count = memory_.word(trace);
        if (!count || *count > most_hashes) return;
        const TraceHashes form = reader_.vm.layout.trace_hashes;
        const std::uint64_t row = form == TraceHashes::by_pointer ? memory_.word(trace + 8).value_or(0) : trace + 16;
        for (std::uint64_t i = 0; i < *count; ++i) {
            if (form == TraceHashes::blocks) {  // {n, used} and the items
                const auto block = memory_.word(row + 8 * i);
                const auto room = block ? memory_.word(*block) : std::nullopt;
                if (room) items(*block + 16, *room, out);
            } else {  // {n, used, items}
                const std::byte* hash = memory_.at(row + 24 * i, 24);
                if (hash != nullptr && load<Word>(hash + 8) != 0) items(load<Word>(hash + 16), load<Word>(hash), out);
            }
        }
        // A process may have run on several schedulers.
        std::sort(out.begin(), out.end(), [](const TracedProcess& a, const TracedProcess& b) {
            return std::pair{a.pid.serial, a.pid.number} < std::pair{b.pid.serial, b.pid.number};
        });
        std::size_t kept = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (kept != 0 && out[kept - 1].pid == out[i].pid) {
                out[kept - 1].calls += out[i].calls;
                out[kept - 1].amount += out[i].amount;
            } else {
                out[kept++] = out[i];
            }
        }
        out.resize(kept);
    }

    void items(std::uint64_t first, std::uint64_t count, std::vector<TracedProcess>& out) {
        if (count > most_items) return;
        const std::byte* p = memory_.at(first, count * item_bytes);
        for (std::uint64_t i = 0; p != nullptr && i < count; ++i, p += item_bytes)
            if (const auto pid = load<Word>(p); is_pid(pid))
                out.push_back({reader_.pid(pid), load<Word>(p + 8), load<Word>(p + 16)});
    }

    Reader& reader_;
    const Offsets& at_;
    bytes::MemoryReader& memory_;
    std::vector<TracedFunction> found_;
};

}  // namespace

std::vector<TracedFunction> read_traced(Reader& reader) { return TraceReader(reader).run(); }

}  // namespace beamheap::otp
