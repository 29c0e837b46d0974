// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sampling/scheduler_sampler.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

namespace beamheap::otp {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint32_t learning_hertz = 500;
constexpr std::uint64_t frames_to_learn = 300, seconds_to_learn = 5;

std::uint64_t exit_stub(Reader& reader, const bytes::LiveMemory& memory) {
    std::vector<std::uint64_t> processes;
    for (const Process& process : reader.snapshot.processes) processes.push_back(process.offset);
    return learn_exit_stub(reader.vm.layout, memory, processes);
}

}  // namespace

std::int64_t unix_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * static_cast<std::int64_t>(second) + now.tv_nsec;
}

SchedulerSampler::SchedulerSampler(SamplingTarget target)
    : reader_(target.reader),
      process_(target.process),
      code_(target.reader),
      unwinder_(target.process.pid(), target.process),
      resolver_(target.reader.vm.layout, target.reader.vm.roots.frame_pointers,
                exit_stub(target.reader, target.process), target.process, code_),
      code_listed_ns_(monotonic_ns()),
      jit_(target.reader.vm.image->build().jit) {}

Result<std::unique_ptr<SchedulerSampler>> SchedulerSampler::make(SamplingTarget target) {
    if (!bytes::can_sample_threads() || target.reader.vm.image->executable().machine() != bytes::elf::machine_x86_64)
        return Error{ErrorCode::not_held, "sampling reads the registers of x86-64 only", {}};
    std::unique_ptr<SchedulerSampler> sampler(new SchedulerSampler(target));
    sampler->threads_ = scheduler_threads(target.reader.vm, target.process, target.process.threads());
    if (sampler->threads_.empty())
        return Error{ErrorCode::not_held, "no scheduler's thread was found in this process",
                     "beamheap doctor tells what was recognised of it."};
    for (std::size_t i = 0; i < sampler->threads_.size(); ++i)
        sampler->thread_index_.emplace(sampler->threads_[i].thread.id, i);
    return sampler;
}

std::vector<std::uint32_t> SchedulerSampler::thread_ids() const {
    std::vector<std::uint32_t> ids;
    for (const SchedulerThread& each : threads_) ids.push_back(each.thread.id);
    return ids;
}

std::size_t SchedulerSampler::thread_of(std::uint32_t id) const {
    const auto at = thread_index_.find(id);
    return at == thread_index_.end() ? threads_.size() : at->second;
}

std::uint64_t SchedulerSampler::current_process(std::size_t thread) const {
    return process_in_hand(reader_.vm, process_, threads_[thread]);
}

bool SchedulerSampler::fragment_words(std::uint64_t process, std::uint64_t& words) const {
    std::byte word[8];
    if (process == 0 || reader_.at.process_fragment_words == absent ||
        process_.read(fragment_words_of(process), word) != sizeof word)
        return false;
    words = bytes::load<std::uint64_t>(word);
    return true;
}

const bytes::UnwoundFrame* SchedulerSampler::interpreter_frame() {
    for (const bytes::UnwoundFrame& frame : frames_)
        if (frame.of_file && unwinder_.name(frame).function == "process_main") return &frame;
    return nullptr;
}

void SchedulerSampler::learn_from(const bytes::ThreadSample& sample) {
    const std::size_t thread = thread_of(sample.thread);
    if (thread == threads_.size()) return;
    const SeenProcess current = see(current_process(thread));
    unwinder_.unwind(sample, frames_);
    if (const bytes::UnwoundFrame* frame = interpreter_frame())
        registers_.learn(*frame, current, [this](std::uint64_t address) { return code_.holds(address); });
}

Status SchedulerSampler::learn(const std::function<bool()>& stop, bytes::ThreadHolder* holder) {
    if (jit_) return ok();
    const std::uint64_t end = monotonic_ns() + seconds_to_learn * second;
    const auto goes_on = [&] {
        return monotonic_ns() < end && registers_.frames() < frames_to_learn && !(stop && stop());
    };
    if (holder != nullptr) {
        while (goes_on() && !holder->all_gone()) {
            for (std::size_t i = 0; i < holder->threads(); ++i)
                holder->sample(i, 0, [this](const bytes::ThreadSample& sample) { learn_from(sample); });
            const timespec rest{0, static_cast<long>(second / learning_hertz)};
            nanosleep(&rest, nullptr);
        }
    } else {
        BH_TRY(bytes::ThreadSampler sampler, bytes::ThreadSampler::open(thread_ids(), {learning_hertz, 16384}));
        while (goes_on() && !sampler.all_gone())
            sampler.wait(100, [this](const bytes::ThreadSample& sample) { learn_from(sample); });
    }
    if (!registers_.tells_functions())
        no_erlang_ = fmt::format(
            "Erlang functions are not told: which registers this interpreter keeps its state in could not be learned "
            "from {} samples of it",
            registers_.frames());
    return ok();
}

std::uint32_t SchedulerSampler::native(const bytes::UnwoundFrame& frame) {
    const auto [at, is_new] = native_by_address_.try_emplace(frame.address | (frame.interrupted ? 1ull << 63 : 0));
    if (!is_new) return at->second;
    const bytes::NativeFrame& name = unwinder_.name(frame);
    NativeFunction function{name.function, name.file, name.function.empty() ? name.offset : 0};
    const std::string key = fmt::format("{}\n{}\n{}", function.file, function.name, function.offset);
    const auto [known, unseen] = native_by_name_.try_emplace(key, static_cast<std::uint32_t>(natives_.size()));
    if (unseen) natives_.push_back(std::move(function));
    return at->second = known->second;
}

// What the interpreter has in its registers names process and function at the instant; the stack is read now.
ResolvedSample SchedulerSampler::resolve_interpreted(const bytes::UnwoundFrame& frame) {
    const auto process = registers_.process(), stack = registers_.stack();
    if (!process || !registers_.tells_functions()) return {};
    const InterpretedCode code =
        registers_.place(frame, [this](std::uint64_t address) { return code_.frame(address, false).function; });
    const SeenProcess now = see(frame[*process].value_or(0));
    std::uint64_t top = stack ? frame[*stack].value_or(0) : 0;
    if (top < now.heap || top > now.end || top % 8 != 0) top = 0;
    ResolvedSample out = resolver_.resolve_process(now.address, top, code.address);
    if (frame.interrupted) out.stack_top = top;
    if (out.by_code && code.sure) out.basis = frame.interrupted ? SampleBasis::exact : SampleBasis::checked;
    return out;
}

// Unknown code may be code that was loaded since.
void SchedulerSampler::refresh_code(const ResolvedSample& resolved) {
    if (!resolved.unknown_code || monotonic_ns() - code_listed_ns_ < second) return;
    code_.look_again();
    code_listed_ns_ = monotonic_ns();
    ++code_reloads_;
}

ResolvedSample SchedulerSampler::resolve(const bytes::ThreadSample& sample) {
    const bool ended = unwinder_.unwind(sample, frames_);
    const std::size_t thread = thread_of(sample.thread);
    const std::size_t native = frames_.size();
    ResolvedSample resolved;
    if (jit_) {
        resolved = resolver_.resolve(sample, frames_, ended);
    } else if (const bytes::UnwoundFrame* frame = interpreter_frame()) {
        resolved = resolve_interpreted(*frame);
        // What stands below process_main is C code that it called; it stands for Erlang code itself, where that is
        // known.
        resolved.native = static_cast<std::size_t>(frame - frames_.data()) + (resolved.frames.empty() ? 1 : 0);
    } else {
        resolved.native = native;
    }
    // A dirty scheduler has no Erlang code on its stack: what it works for is what it says.
    if (resolved.basis == SampleBasis::none && thread < threads_.size() &&
        threads_[thread].thread.kind != Scheduler::Kind::normal)
        if (const std::uint64_t process = current_process(thread); process != 0) {
            resolved = resolver_.resolve_process(process, 0, 0);
            resolved.native = native;
        }
    resolved.followed = ended || (!jit_ && interpreter_frame() != nullptr);
    refresh_code(resolved);
    return resolved;
}

ResolvedSample SchedulerSampler::resolve_held(const bytes::ThreadSample& sample, std::uint64_t process) {
    ResolvedSample resolved = resolve(sample);
    if (resolved.basis != SampleBasis::none && resolved.process.address == process) return resolved;
    const std::size_t native = frames_.size();
    std::uint64_t called_at = 0;
    if (jit_) {
        const std::uint64_t begin = sample.stack_pointer();
        const std::uint64_t top = frames_.empty() ? begin : frames_.back()[bytes::X86::rsp].value_or(begin);
        for (std::size_t at = top > begin ? (top - begin) & ~std::uint64_t{7} : 0;
             at + 8 <= sample.stack.size() && called_at == 0; at += 8)
            if (const auto word = bytes::load<std::uint64_t>(sample.stack.data() + at);
                code_.frame(word, true).function != FunctionId::none)
                called_at = word;
    }
    resolved = resolver_.resolve_process(process, 0, 0);
    if (called_at != 0) resolved.frames.insert(resolved.frames.begin(), code_.frame(called_at, true));
    if (!resolved.frames.empty()) resolved.basis = SampleBasis::approximate;
    resolved.native = native;
    resolved.followed = called_at != 0;
    return resolved;
}

}  // namespace beamheap::otp
