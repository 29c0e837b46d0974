// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/heap_pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace beamheap::crashdump {
namespace {

constexpr std::uint64_t batch_bytes = 128 * 1024;
constexpr std::size_t window_bytes = 256 * 1024;
constexpr std::size_t batch_jobs = 256, usual_jobs = 64;  // at most; as many as processes of ten kilobytes make
constexpr std::size_t batches_ahead = 2;                  // per worker
constexpr std::uint64_t bytes_ahead = 3 * batch_bytes;    // in all: the scanner's buffers are held as long

void begin(HeapReader& giant, const HeapFacts& facts) {
    giant.begin(facts);
    giant.expect_giant();
}

}  // namespace

HeapFacts heap_facts(const Process& process, HeapGraph::Mode mode) {
    HeapFacts facts;
    facts.mode = mode;
    facts.heap_words = process.heap_words.value_or(0);
    facts.heap_unused_words = process.heap_unused_words.value_or(0);
    facts.frames_before_returns = process.frames_before_returns;
    return facts;
}

void visit(HeapReader& reader, const HeapJob& job, const HeapRequest& demand, unsigned worker, HeapLosses& losses) {
    reader.set_frames_before_returns(job.process.frames_before_returns);
    HeapGraph& graph = reader.finish();
    const HeapDamage& met = reader.damage();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(met.bad_lines, 1000); ++i)
        losses.anomalies.add(Anomaly::bad_line, met.first_bad_line);
    if (graph.duplicate_addresses() != 0) losses.anomalies.add(Anomaly::duplicate_address, job.extents.begin());
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(graph.impossible_references(), 1000); ++i)
        losses.anomalies.add(Anomaly::dangling_reference, job.process.offset);
    // Signals that are no messages are not listed, but count in queues before 21; a heap that is not there at all is
    // told by heap_missing.
    const std::uint64_t queued = job.process.msgq_len.value_or(0);
    const bool fewer = reader.has_section(TermSection::heap) && reader.messages() < queued;
    if (fewer) losses.anomalies.add(Anomaly::messages_lost, job.process.offset);
    // Who runs takes in what others have sent meanwhile.
    if (job.process.state == ProcessState::waiting && job.process.msgq_len.has() && reader.messages() > queued)
        losses.anomalies.add(Anomaly::count_mismatch, job.process.offset, "messages");
    const bool unreached = graph.unreferenced() > graph.duplicate_addresses();
    if (unreached) losses.anomalies.add(Anomaly::unreached_object, job.process.offset);
    if (met.bad_lines != 0 || graph.impossible_references() != 0 || graph.duplicate_addresses() != 0 || fewer)
        losses.damaged.push_back(job.id);
    losses.bytes += met.bad_bytes;
    if (losses.keep_addresses) losses.addresses.add(graph, job.id);
    losses.binaries.add_binaries(graph, job.id);
    demand.visit({job.id, job.process, graph, worker, reader.messages(), reader.distribution_messages(),
                  reader.distribution_bytes()});
    if (graph.mode() == HeapGraph::Mode::values && job.facts.mode == HeapGraph::Mode::values)
        losses.kept.emplace_back(job.id, reader.take(job.extents.count));
}

namespace {

// A section of a giant, which a second thread copies out of the page cache.
Status feed_ahead(const bytes::Source& source, const Extent& part, HeapReader& reader) {
    bytes::Window window(bytes::reader_of(source));
    const std::uint64_t end = part.offset + part.bytes;
    window.prefetch_after = 0;
    window.seek(part.offset);
    for (bool last = false; !last;) {
        const bool more = window.more();
        BH_CHECK(Status(window.status()));
        last = !more || window.offset() + window.view().size() >= end;
        const std::string_view text = window.view().substr(0, static_cast<std::size_t>(end - window.offset()));
        window.consume(reader.feed(part.section, text, window.offset(), last));
    }
    return ok();
}

// Any other: no more is read of it than it has, into the same buffer as of the one before.
Status feed_section(const bytes::Source& source, const Extent& part, HeapReader& reader, std::string& buffer) {
    std::uint64_t read = 0;  // bytes of the section that were read
    std::size_t kept = 0;    // of those, at the buffer's front and not taken yet
    for (;;) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(part.bytes - read, window_bytes));
        if (buffer.size() < kept + wanted) buffer.resize(2 * kept + wanted);
        BH_TRY(const std::size_t got, source.read_at(part.offset + read, {buffer.data() + kept, wanted}));
        const std::uint64_t offset = part.offset + read - kept;
        read += got;
        const bool last = read == part.bytes || got < wanted;
        const std::string_view text(buffer.data(), kept + got);
        const std::size_t taken = reader.feed(part.section, text, offset, last);
        if (last) return ok();
        kept = text.size() - taken;
        std::memmove(buffer.data(), buffer.data() + taken, kept);
    }
}

}  // namespace

Status feed_in_windows(const bytes::Source& source, const TermExtents& extents, HeapReader& reader, std::string& buffer,
                       bool prefetch) {
    for (std::uint32_t i = 0; i < extents.count; ++i) {
        const Extent& part = extents.parts[i];
        BH_CHECK(prefetch && part.bytes >= bytes::Window::worth_prefetching
                     ? feed_ahead(source, part, reader)
                     : feed_section(source, part, reader, buffer));
    }
    return ok();
}

HeapPipeline::HeapPipeline(const bytes::Source& source, const HeapDialect& dialect, const HeapRequest& demand,
                           bool keep_addresses)
    : source_(source), demand_(demand) {
    const unsigned count = std::max(1u, demand.workers);
    inline_ = count == 1;
    for (unsigned i = 0; i < count; ++i) {
        workers_.push_back(std::make_unique<Worker>(dialect));
        workers_.back()->losses.keep_addresses = keep_addresses;
    }
    if (inline_) return;
    for (unsigned i = 0; i < count; ++i) {
        Worker& worker = *workers_[i];
        try {
            worker.thread = std::thread([this, &worker, i] { run(worker, i); });
        } catch (const std::exception&) {  // no room for another thread, or its stack: those that run do it all
            inline_ = i == 0;
            break;
        }
    }
}

HeapPipeline::~HeapPipeline() { join(); }

void HeapPipeline::add(HeapJob job) {
    if (job.extents.count == 0) return;
    if (!batch_.empty() && (job.extents.end() - batch_.front().extents.begin() > batch_bytes ||
                            job.extents.begin() < batch_.back().extents.end() || batch_.size() >= batch_jobs))
        flush();
    if (batch_.empty()) batch_.reserve(usual_jobs);
    batch_.push_back(std::move(job));
}

std::uint64_t HeapPipeline::bytes_of(const Batch& batch) {
    return batch.empty() ? 0 : batch.back().extents.end() - batch.front().extents.begin();
}

void HeapPipeline::flush() {
    if (batch_.empty()) return;
    if (inline_) {
        decode(*workers_[0], 0, batch_);
        batch_.clear();
        return;
    }
    hand_over({std::exchange(batch_, {}), {}});
}

void HeapPipeline::hand_over(Work work) {
    {
        std::unique_lock lock(mutex_);
        taken_.wait(lock, [this] {
            return queue_.empty() || (queue_.size() < batches_ahead * workers_.size() && queued_bytes_ < bytes_ahead);
        });
        queued_bytes_ += bytes_of(work.batch);
        queue_.push_back(std::move(work));
    }
    added_.notify_one();
}

void HeapPipeline::begin_giant(const HeapFacts& facts) {
    flush();
    giant_ = std::make_shared<Giant>();
    giant_->facts = facts;
    if (inline_) begin(workers_[0]->reader, facts);
    else hand_over({{}, giant_});
}

void HeapPipeline::add_piece(HeapPiece piece) {
    if (inline_) giant_->feeder.feed(workers_[0]->reader, piece);
    else giant_->pieces.push(std::move(piece));
}

void HeapPipeline::end_giant(HeapJob job) {
    const std::shared_ptr<Giant> giant = std::exchange(giant_, nullptr);
    giant->job = std::move(job);
    giant->ended = true;
    if (inline_) finish_giant(*workers_[0], 0, *giant);
    else giant->pieces.close();
}

void HeapPipeline::run(Worker& worker, unsigned index) {
    for (;;) {
        Work work;
        {
            std::unique_lock lock(mutex_);
            added_.wait(lock, [this] { return closed_ || !queue_.empty(); });
            if (queue_.empty()) return;
            work = std::move(queue_.front());
            queue_.pop_front();
            queued_bytes_ -= bytes_of(work.batch);
        }
        taken_.notify_one();
        try {
            // The queue must run empty, or add() would wait for ever.
            if (worker.failure == nullptr && work.giant == nullptr) decode(worker, index, work.batch);
            if (worker.failure == nullptr && work.giant != nullptr) decode_giant(worker, index, *work.giant);
        } catch (...) {
            worker.failure = std::current_exception();
        }
        if (work.giant != nullptr) work.giant->pieces.refuse();
    }
}

void HeapPipeline::decode(Worker& worker, unsigned index, std::span<const HeapJob> batch) {
    if (!worker.status) return;
    const auto has_text = [](const HeapJob& job) { return !job.text.empty(); };
    if (std::ranges::any_of(batch, has_text)) {
        for (const HeapJob& job : batch) {
            if (has_text(job) && decode_held(worker, index, job)) continue;
            worker.status = decode_again(worker, job);
            if (!worker.status) return;
            visit(worker.reader, job, demand_, index, worker.losses);
        }
        return;
    }
    if (batch.back().extents.end() - batch.front().extents.begin() <= 2 * batch_bytes) {
        decode_whole(worker, index, batch);
        return;
    }
    for (const HeapJob& job : batch) {
        worker.status = decode_again(worker, job);
        if (!worker.status) return;
        visit(worker.reader, job, demand_, index, worker.losses);
    }
}

void HeapPipeline::decode_giant(Worker& worker, unsigned index, Giant& giant) {
    begin(worker.reader, giant.facts);
    while (const std::optional<HeapPiece> piece = giant.pieces.pop()) giant.feeder.feed(worker.reader, *piece);
    if (giant.ended) finish_giant(worker, index, giant);
}

void HeapPipeline::finish_giant(Worker& worker, unsigned index, const Giant& giant) {
    if (!worker.status) return;
    if (!giant.feeder.whole()) {
        worker.status = decode_again(worker, giant.job);
        if (!worker.status) return;
    }
    visit(worker.reader, giant.job, demand_, index, worker.losses);
}

bool HeapPipeline::decode_whole(Worker& worker, unsigned index, std::span<const HeapJob> batch) {
    const std::uint64_t begin = batch.front().extents.begin();
    const auto bytes = static_cast<std::size_t>(batch.back().extents.end() - begin);
    if (worker.buffer.size() < bytes) worker.buffer.resize(std::max<std::size_t>(bytes, 2 * batch_bytes));
    const auto got = source_.read_at(begin, {worker.buffer.data(), bytes});
    if (!got) {
        worker.status = Error(got.error());
        return false;
    }
    const std::string_view text(worker.buffer.data(), *got);
    for (const HeapJob& job : batch) decode_text(worker, index, job, text, begin);
    return true;
}

Status HeapPipeline::decode_again(Worker& worker, const HeapJob& job) {
    worker.reader.begin(job.facts);
    return feed_in_windows(source_, job.extents, worker.reader, worker.buffer, false);
}

/// A process whose text is held. False: not all of it is.
bool HeapPipeline::decode_held(Worker& worker, unsigned index, const HeapJob& job) {
    worker.reader.begin(job.facts);
    auto piece = job.text.begin();
    for (std::uint32_t i = 0; i < job.extents.count; ++i) {
        const Extent& part = job.extents.parts[i];
        const std::uint64_t end = part.offset + part.bytes;
        for (std::uint64_t at = part.offset;;) {
            while (piece->end() < end && piece + 1 != job.text.end() && piece[1].offset <= at) ++piece;
            if (piece->offset > at || piece->end() < at) return false;
            const bool last = piece->end() >= end;
            const std::string_view text =
                piece->text.substr(static_cast<std::size_t>(at - piece->offset), static_cast<std::size_t>(end - at));
            at += worker.reader.feed(part.section, text, at, last);
            if (last) break;
            if (piece + 1 == job.text.end() || piece[1].offset > at) return false;
        }
    }
    visit(worker.reader, job, demand_, index, worker.losses);
    return true;
}

/// A process whose sections are all in `text`, which begins at offset `begin` of the input.
void HeapPipeline::decode_text(Worker& worker, unsigned index, const HeapJob& job, std::string_view text,
                               std::uint64_t begin) {
    worker.reader.begin(job.facts);
    for (std::uint32_t i = 0; i < job.extents.count; ++i) {
        const Extent& part = job.extents.parts[i];
        const auto from = std::min<std::size_t>(static_cast<std::size_t>(part.offset - begin), text.size());
        worker.reader.feed(part.section, text.substr(from, static_cast<std::size_t>(part.bytes)), part.offset, true);
    }
    visit(worker.reader, job, demand_, index, worker.losses);
}

void HeapPipeline::join() {
    if (giant_ != nullptr) giant_->pieces.close();  // it has not ended: who passed it gave up
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    added_.notify_all();
    for (auto& worker : workers_)
        if (worker->thread.joinable()) worker->thread.join();
}

Status HeapPipeline::finish(HeapLosses& losses) {
    flush();
    join();
    for (auto& worker : workers_)
        if (worker->failure != nullptr) std::rethrow_exception(std::exchange(worker->failure, nullptr));
    Status status = ok();
    for (auto& worker : workers_) {
        losses.anomalies.merge(worker->losses.anomalies);
        losses.damaged.insert(losses.damaged.end(), worker->losses.damaged.begin(), worker->losses.damaged.end());
        losses.bytes += worker->losses.bytes;
        for (auto& each : worker->losses.kept) losses.kept.push_back(std::move(each));
        losses.addresses.merge(worker->losses.addresses);
        losses.binaries.merge(worker->losses.binaries);
        worker->losses = {};
        if (status && !worker->status) status = worker->status;
    }
    return status;
}

}  // namespace beamheap::crashdump
