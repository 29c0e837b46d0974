// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/core_artifact.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "bytes/spool.hpp"
#include "bytes/thread_wait.hpp"
#include "formats/otp/heaps/core_terms.hpp"
#include "formats/otp/heaps/heap_reader.hpp"
#include "formats/otp/heaps/stored_binaries.hpp"
#include "formats/otp/heaps/terms_check.hpp"
#include "formats/otp/processes/live_row.hpp"
#include "formats/otp/processes/process_identity.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/processes/stack_slots.hpp"
#include "formats/otp/sampling/held_schedulers.hpp"
#include "formats/otp/tables/carriers.hpp"
#include "formats/otp/tables/native.hpp"
#include "formats/otp/tables/tables.hpp"
#include "formats/otp/tables/traced.hpp"
#include "formats/otp/vm/image.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {
namespace {

class CoreArtifact final : public Artifact {
public:
    /// `damage`: what became of the compressed data that the image was taken from; empty: it is whole.
    CoreArtifact(std::shared_ptr<Image> image, std::shared_ptr<Vm> vm, const std::string& damage, Progress progress)
        : image_(std::move(image)), vm_(std::move(vm)), progress_(std::move(progress)) {
        if (!damage.empty())
            snapshot_.anomalies.add(Anomaly::compressed_damage,
                                    image_->core() == nullptr ? 0 : image_->core()->bytes().size(), damage);
    }

    /// The same VM by the same layout; its atoms are those of now.
    std::unique_ptr<CoreArtifact> again() const {
        auto next = std::make_unique<CoreArtifact>(image_, vm_, std::string(), Progress());
        Reader reader(*vm_, next->snapshot_);
        vm_->atoms.forget_interned();
        vm_->atoms.renew(reader.memory, vm_->roots.atom_table);
        return next;
    }

    Status load(const LoadPlan& plan) override {
        // Who waits may have gone, and says so by an exception; it is not asked once this has ended.
        const Progress progress = std::exchange(progress_, {});
        const auto step = [&] {
            if (progress) progress(0, 0);
        };
        Reader reader(*vm_, snapshot_);
        reader.module_versions = plan.module_versions;
        snapshot_.source.path = image_->name();
        const auto begun = std::chrono::steady_clock::now();
        if (live()) begin_live();
        read_node(reader);
        read_processes(reader, plan, progress);
        if (live()) {
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
            snapshot_.source.live->took_ms = took.count();
        }
        step();
        if (plan.tables || plan.modules)
            settle(reader, read_modules, [&] {
                snapshot_.modules.clear();
                reader.code_bytes = 0;
            });
        step();
        if (plan.tables) read_tables(reader);
        if (plan.tables && live() && snapshot_.source.live->halt == VmHalt::none)
            read_held_schedulers(reader, *image_->process());
        step();
        if (plan.atoms) read_atoms(reader);
        step();
        snapshot_.seal();
        reader.memory.forget();
        read_stack_slots(reader, plan);
        plan_ = plan;
        plan_.heaps = nullptr;
        if (plan.heaps != nullptr) (void)visit_heaps(*plan.heaps);
        if (vm_->atoms.lost() != 0)
            snapshot_.anomalies.add(Anomaly::inconsistent_state, vm_->roots.atom_table,
                                    fmt::format("the names of {} atoms are lost", vm_->atoms.lost()));
        misses_ = reader.memory.misses();
        if (live()) return end_live();
        if (misses_ != 0) snapshot_.anomalies.add(Anomaly::unreadable_memory, reader.memory.first_miss());
        return ok();
    }
    Snapshot& snapshot() override { return snapshot_; }

    Result<std::unique_ptr<TermSource>> terms(ProcId process, const TermsWanted&) override {
        return read_terms(process, false);
    }
    Result<std::unique_ptr<TermSource>> terms_and_garbage(ProcId process) override { return read_terms(process, true); }

    bool can_identify() const override { return true; }
    void identify(ProcId process) override {
        if (plan_.labels || !vm_->terms_readable || snapshot_[process].state == ProcessState::exiting) return;
        Reader reader(*vm_, snapshot_);
        const Process before = snapshot_[process];
        if (live()) {  // the dictionary of one that stands still; its figures stay those of the other rows' instant
            LoadPlan plan = plan_;
            plan.labels = true;
            vm_->atoms.renew(reader.memory, vm_->roots.atom_table);
            (void)RowRefresher(reader, plan).refresh(process);
        } else if (const std::byte* p = reader.memory.at(before.offset, reader.at.process_size); p != nullptr) {
            (void)LabelReader(reader).read(p, snapshot_[process]);
        }
        const FunctionId call = snapshot_[process].real_initial_call;
        const TextId label = snapshot_[process].label;
        snapshot_[process] = before;
        snapshot_[process].real_initial_call = call;
        snapshot_[process].label = label;
    }

    Result<TableContents> table_contents(std::size_t table, std::uint64_t limit) override {
        if (!vm_->terms_readable)
            return Error{ErrorCode::not_recognised, "terms of this VM are in a form that no known layout has",
                         vm_->unproven};
        Decoder reader(*vm_);
        const EtsObjects objects =
            read_ets_objects(reader, snapshot_.ets[table].address, limit, snapshot_.ets[table].objects);
        TableContents contents;
        contents.key = objects.key;
        contents.more = objects.more;
        contents.damaged = objects.damaged;
        if (objects.damaged)
            snapshot_.anomalies.add(Anomaly::inconsistent_state, snapshot_.ets[table].address,
                                    "an ETS table could not be followed to its end");
        if (live()) vm_->atoms.renew(reader.memory, vm_->roots.atom_table);
        auto terms = std::make_unique<CoreTerms>(*vm_, snapshot_, objects);
        tell(terms->heap().damage(), snapshot_.ets[table].address, snapshot_.anomalies);
        contents.terms = std::move(terms);
        return contents;
    }

    Result<PersistentTerms> persistent_terms() override {
        PersistentTerms found;
        if (!vm_->terms_readable) return found;
        Decoder reader(*vm_);
        const std::vector<std::uint64_t> tuples = persistent_tuples(*vm_, reader);
        if (live()) vm_->atoms.renew(reader.memory, vm_->roots.atom_table);
        auto terms = CoreTerms::of_literals(*vm_, snapshot_, tuples);
        for (const std::uint64_t address : tuples) {
            const Element tuple = terms->at(address);
            if (tuple.kind != ElementKind::object || terms->head(tuple.id).kind != TermKind::tuple) continue;
            ElementCursor cursor = terms->elements(tuple.id);
            PersistentTerms::Entry entry;
            if (terms->next(cursor, entry.key) && terms->next(cursor, entry.value)) found.entries.push_back(entry);
        }
        found.terms = std::move(terms);
        return found;
    }

    Result<StoredBinaries> stored_binaries() override {
        if (!vm_->terms_readable) return StoredBinaries{};
        Decoder reader(*vm_);
        StoredBinaries stored = read_stored_binaries(*vm_, snapshot_, reader);
        for (std::uint64_t i = 0; i < stored.damaged_tables; ++i)
            snapshot_.anomalies.add(Anomaly::inconsistent_state, stored.first_damaged,
                                    "an ETS table could not be followed to its end");
        if (stored.lost != 0)
            snapshot_.anomalies.add(Anomaly::dangling_reference, 0,
                                    fmt::format("{} terms of ETS tables and persistent terms", stored.lost));
        return stored;
    }

    Result<std::vector<TracedFunction>> traced() override {
        Reader reader(*vm_, snapshot_);
        return read_traced(reader);
    }

    Result<Carriers> carriers() override {
        Reader reader(*vm_, snapshot_);
        Carriers found = read_carriers(reader);
        if (found.unknown != 0)
            snapshot_.anomalies.add(Anomaly::inconsistent_state, 0,
                                    fmt::format("{} carriers of allocators could not be followed", found.unknown));
        return found;
    }

    Result<NativeThreads> native_threads() override {
        if (live())
            return Error{ErrorCode::not_held,
                         fmt::format("{}: its threads run on, and where they are can't be read without stopping them",
                                     image_->name()),
                         "A core image has the stacks of all threads at one instant: gcore PID (it stops the VM while "
                         "it writes)."};
        Reader reader(*vm_, snapshot_);
        return read_native_threads(reader);
    }

    Count binary_bytes(std::uint64_t address) const override {
        const std::lock_guard guard(sizes_lock_);
        if (!sizes_) sizes_.emplace(image_->space());
        const auto size = sizes_->word(address + vm_->layout.at.binary_length);
        return size ? Count(*size) : Count();
    }

    // Workers take processes one by one; each has a reader, whose arenas the next heap uses again.
    Status visit_heaps(const HeapRequest& demand) override {
        std::vector<ProcId> wanted;
        for (std::uint32_t i = 0; i < snapshot_.processes.size(); ++i) {
            const auto id = static_cast<ProcId>(i);
            if (snapshot_[id].has_heap && (!demand.wanted || demand.wanted(snapshot_, id))) wanted.push_back(id);
        }
        if (live()) return visit_live(demand, wanted);
        const unsigned count = std::max(1u, std::min<unsigned>(demand.workers, static_cast<unsigned>(wanted.size())));
        std::atomic<std::size_t> next{0};
        std::vector<Anomalies> met(count);
        const auto work = [&](unsigned worker) {
            HeapReader reader(*vm_);
            for (std::size_t i = next++; i < wanted.size(); i = next++) {
                const Process& row = snapshot_[wanted[i]];
                HeapGraph& graph = reader.read(row.offset, HeapGraph::Mode::sizes);
                const HeapDamage& damage = reader.damage();
                const auto kept = kept_of(reader, demand);
                tell(damage, row.offset, met[worker]);
                if (damage.collecting) continue;
                demand.visit({wanted[i], row, graph, worker, reader.messages(), reader.distribution_messages(),
                              reader.distribution_bytes(), kept});
            }
        };
        run_side_by_side(count, work);
        for (const Anomalies& some : met) snapshot_.anomalies.merge(some);
        return ok();
    }

    std::vector<Check> checks() const override {
        std::vector<Check> all = image_->checks();
        all.insert(all.end(), vm_->checks.begin(), vm_->checks.end());
        all.push_back(
            {"memory", misses_ == 0, fmt::format("{} addresses asked for that the image does not hold", misses_)});
        return all;
    }

private:
    bool live() const { return image_->process() != nullptr; }

    void begin_live() {
        LiveReading reading;
        reading.pid = image_->process()->pid();
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        switch (bytes::halt_of(*image_->process())) {
            case bytes::Halt::none: break;
            case bytes::Halt::stopped: reading.halt = VmHalt::stopped; break;
            case bytes::Halt::traced: reading.halt = VmHalt::traced; break;
            case bytes::Halt::frozen: reading.halt = VmHalt::frozen; break;
        }
        reading.read_at_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
        snapshot_.source.live = reading;
    }
    Status end_live() {
        if (!image_->process()->gone()) return ok();
        if (snapshot_.processes.empty())
            return Error{ErrorCode::unreadable, fmt::format("{}: the VM ended while it was read", image_->name()), {}};
        snapshot_.source.live->ended = true;
        snapshot_.source.complete = false;
        snapshot_.anomalies.add(Anomaly::vm_ended, 0);
        return ok();
    }

    /// Reads a table of the VM; of one that runs again, where it was found in the middle of a change: `clear` takes
    /// back what the attempt has read.
    template <class Read, class Clear>
    void settle(Reader& reader, const Read& read, const Clear& clear) {
        const Anomalies met = snapshot_.anomalies;
        for (unsigned tries = 1;; ++tries) {
            reader.memory.forget();
            read(reader);
            if (!live() || tries == most_tries || snapshot_.anomalies.total() == met.total()) return;
            clear();
            snapshot_.anomalies = met;
        }
    }

    void read_tables(Reader& reader) {
        settle(reader, read_schedulers, [this] { snapshot_.schedulers.clear(); });
        settle(reader, read_ets, [this] { snapshot_.ets.clear(); });
        settle(reader, read_ports, [this] { snapshot_.ports.clear(); });
        settle(reader, read_timers, [this] { snapshot_.timers.clear(); });
        settle(reader, read_peers, [this] { snapshot_.nodes.clear(); });
        settle(reader, read_allocators, [this] {
            snapshot_.allocators.clear();
            snapshot_.memory.clear();
            snapshot_.areas.clear();
            snapshot_.vm_tables.clear();
        });
    }

    static std::optional<std::span<const std::uint64_t>> kept_of(HeapReader& reader, const HeapRequest& demand) {
        if (!demand.kept_binaries) return std::nullopt;
        return reader.kept_binaries();
    }

    /// Heaps of many processes are fetched side by side. One that has not moved since its row was read is of the row's
    /// instant; of any other the row is read again right before its heap, and held against the process after it.
    Status visit_live(const HeapRequest& demand, const std::vector<ProcId>& wanted) {
        Reader reader(*vm_, snapshot_);
        vm_->atoms.renew(reader.memory, vm_->roots.atom_table);
        RowRefresher rows(reader, plan_);
        HeapReader heaps(*vm_);
        const auto visit = [&](ProcId id, HeapGraph& graph, const auto& kept) {
            tell(heaps.damage(), snapshot_[id].offset, snapshot_.anomalies);
            demand.visit({id, snapshot_[id], graph, 0, heaps.messages(), heaps.distribution_messages(),
                          heaps.distribution_bytes(), kept});
        };
        std::vector<std::uint64_t> addresses;
        std::vector<ProcId> moved;
        for (std::size_t first = 0; first < wanted.size(); first += RowBatch::most) {
            const auto batch = std::span(wanted).subspan(first, std::min(RowBatch::most, wanted.size() - first));
            addresses.clear();
            for (const ProcId id : batch) addresses.push_back(snapshot_[id].offset);
            heaps.batch().fetch(addresses, RowBatch::Depth::heap);
            moved.clear();
            for (std::size_t i = 0; i < batch.size(); ++i) {
                const Process& row = snapshot_[batch[i]];
                const std::optional<RowKey>& before = heaps.batch().before(i);
                // What waits in a queue may have become more without a change of the row.
                bool still = row.version != 0 && row.msgq_len == Count(0) && before && !before->runs() &&
                             before->version() == row.version;
                if (still) {
                    HeapGraph& graph = heaps.read_of_batch(addresses[i], heaps.batch().row(i), HeapGraph::Mode::sizes);
                    const auto kept = kept_of(heaps, demand);
                    const std::optional<RowKey> after = heaps.batch().after(i);
                    still = after && before->same(*after) && !heaps.damage().collecting;
                    if (still) visit(batch[i], graph, kept);
                }
                if (!still) moved.push_back(batch[i]);
            }
            for (const ProcId id : moved) {
                bool still = false;
                for (unsigned tries = 0; tries < most_tries && !still; ++tries) {
                    if (rows.refresh(id) != RowReading::stable || !snapshot_[id].has_heap) break;
                    HeapGraph& graph = heaps.read(snapshot_[id].offset, HeapGraph::Mode::sizes);
                    const auto kept = kept_of(heaps, demand);
                    still = rows.still(id) && !heaps.damage().collecting;
                    if (still) visit(id, graph, kept);
                }
                if (!still) snapshot_.anomalies.add(Anomaly::terms_moved, snapshot_[id].offset);
            }
            if (!moved.empty() && image_->process()->gone()) return end_live();
        }
        return ok();
    }

    static constexpr std::chrono::milliseconds longest_wait{1000};  // for one process
    static constexpr std::chrono::microseconds pause{200};          // until a process that runs is looked at again

    /// Terms, with the row of the process as it was at that instant; moved() where it ran each time. A process that is
    /// busy stands still for moments, which are waited for, all processes together no longer than patience_.
    std::unique_ptr<TermSource> read_live_terms(ProcId process, bool garbage) {
        Reader reader(*vm_, snapshot_);
        vm_->atoms.renew(reader.memory, vm_->roots.atom_table);
        RowRefresher rows(reader, plan_);
        using Clock = std::chrono::steady_clock;
        const Clock::time_point begun = Clock::now();
        const Clock::time_point end = begun + std::min<Clock::duration>(patience_, longest_wait);
        for (unsigned tries = 0; tries < most_tries || Clock::now() < end; ++tries) {
            if (image_->process()->gone()) break;
            const std::optional<RowReading> row = rows.refresh(process);
            if (!row) break;
            if (row == RowReading::stable && !snapshot_[process].has_heap) break;
            if (row != RowReading::stable) {
                std::this_thread::sleep_for(pause);
                continue;
            }
            const std::uint64_t address = snapshot_[process].offset;
            auto terms = std::make_unique<CoreTerms>(*vm_, snapshot_, address, garbage);
            if (!rows.still(process) || (terms->heap().damage().collecting && Clock::now() < end)) continue;
            tell(terms->heap().damage(), address, snapshot_.anomalies);
            return terms;
        }
        patience_ = std::max(Clock::duration::zero(), patience_ - (Clock::now() - begun));
        snapshot_.anomalies.add(Anomaly::terms_moved, snapshot_[process].offset);
        return CoreTerms::moved_terms(*vm_, snapshot_);
    }

    std::unique_ptr<TermSource> read_terms(ProcId process, bool garbage) {
        if (live()) return read_live_terms(process, garbage);
        const std::uint64_t address = snapshot_[process].offset;
        auto terms = std::make_unique<CoreTerms>(*vm_, snapshot_, address, garbage);
        tell(terms->heap().damage(), address, snapshot_.anomalies);
        if (terms->damaged_literals() != 0) snapshot_.anomalies.add(Anomaly::dangling_reference, address, "a literal");
        return terms;
    }

    /// Calls work(0) .. work(count - 1), each in a thread of its own while there are threads to be had: work must take
    /// what there is to do from a common queue. What one of them throws, out of memory above all, is thrown here.
    template <class Work>
    static void run_side_by_side(unsigned count, const Work& work) {
        std::vector<std::exception_ptr> failures(count);
        const auto guarded = [&](unsigned worker) {
            try {
                work(worker);
            } catch (...) {
                failures[worker] = std::current_exception();
            }
        };
        std::vector<std::thread> threads;
        threads.reserve(count);
        try {
            for (unsigned worker = 1; worker < count; ++worker) threads.emplace_back(guarded, worker);
        } catch (const std::exception&) {  // no room for another thread, or its stack: those that run are waited for
        }
        guarded(0);
        for (std::thread& thread : threads) thread.join();
        for (const std::exception_ptr& failure : failures)
            if (failure != nullptr) std::rethrow_exception(failure);
    }

    static void tell(const HeapDamage& damage, std::uint64_t process, Anomalies& anomalies) {
        if (damage.bad_pointers != 0) anomalies.add(Anomaly::dangling_reference, damage.first_bad, "a heap");
        if (damage.unreadable != 0) anomalies.add(Anomaly::unreadable_memory, process, "a heap");
        if (damage.zeroed != 0) anomalies.add(Anomaly::zeroed, process, "a heap or a stack");
        if (damage.unwalked != 0)
            anomalies.add(Anomaly::inconsistent_state, process, "part of a heap could not be walked for garbage");
        if (damage.queue_damaged)
            anomalies.add(Anomaly::inconsistent_state, process, "a message queue could not be followed to its end");
        if (damage.dictionary_damaged)
            anomalies.add(Anomaly::inconsistent_state, process,
                          "a process dictionary has not the entries that it counts");
        if (damage.list_broken)
            anomalies.add(Anomaly::inconsistent_state, process,
                          "the list of what a process holds outside of its heap could not be followed to its end");
        if (damage.lost_binaries != 0)
            anomalies.add(Anomaly::dangling_reference, process, "a binary outside of the heaps");
        if (damage.collecting) anomalies.add(Anomaly::heap_missing, process);
    }

    std::shared_ptr<Image> image_;
    std::chrono::steady_clock::duration patience_ = std::chrono::seconds(3);  // with processes of a VM that run
    std::shared_ptr<Vm> vm_;
    Progress progress_;
    Snapshot snapshot_;
    LoadPlan plan_;  // what was loaded, for rows that are read again
    std::uint64_t misses_ = 0;
    mutable std::mutex sizes_lock_;
    mutable std::optional<bytes::MemoryReader> sizes_;
};

}  // namespace

std::string releases_read() {
    return fmt::format("{} to {}", known_layouts().front().release, known_layouts().back().release);
}

bool sniff(std::string_view head) { return head.substr(0, 4) == "\177ELF"; }

Result<std::unique_ptr<Artifact>> open(std::unique_ptr<bytes::Source> source, const std::string& path,
                                       const OpenOptions& options) {
    // Whoever waits may take the question back between the steps: what is thrown then passes through here.
    const auto look = [&] {
        if (options.progress) options.progress(0, 0);
    };
    std::unique_ptr<Image> image;
    std::string damage;
    look();
    if (path != "-" && source->compression().empty() && source->seekable()) {
        BH_TRY(image, Image::open(path, options.executable));
    } else {
        BH_TRY(bytes::MappedFile file, bytes::spool(*source, path, options.progress));
        damage = source->damage();
        BH_TRY(bytes::ElfImage core, bytes::ElfImage::adopt(std::move(file), path));
        BH_TRY(image, Image::adopt(std::move(core), path, options.executable));
    }
    look();
    BH_TRY(std::unique_ptr<Vm> vm, Vm::open(*image));
    look();
    if (!vm->unproven.empty()) prove_terms(*vm);
    look();
    return std::unique_ptr<Artifact>(new CoreArtifact(std::move(image), std::move(vm), damage, options.progress));
}

// A VM that is being started, or loads code, may be caught between two stores: it is looked at again. So is one that
// speaks against its layout: what does so twice in the same words is no accident.
Result<RunningVm> attach(std::uint32_t pid, const std::string& path, const OpenOptions& options) {
    BH_TRY(bytes::RunningProcess found, bytes::RunningProcess::attach(pid));
    const auto process = std::make_shared<const bytes::RunningProcess>(std::move(found));
    std::string doubts;
    for (unsigned tries = 1;; ++tries) {
        RunningVm running;
        BH_TRY(running.image, Image::follow(process, path, options.executable));
        auto vm = Vm::open(*running.image);
        if (!vm && process->gone())
            return Error{ErrorCode::unreadable, fmt::format("{}: the VM ended while it was looked at", path), {}};
        if (!vm && tries < most_tries) continue;
        BH_TRY(running.vm, std::move(vm));
        if (!running.vm->unproven.empty()) prove_terms(*running.vm);
        if (running.vm->unproven == doubts || running.vm->unproven.empty() || tries >= most_tries) return running;
        doubts = running.vm->unproven;
    }
}

Result<std::unique_ptr<Artifact>> open_running(std::uint32_t pid, const std::string& path, const OpenOptions& options) {
    BH_TRY(RunningVm running, attach(pid, path, options));
    return std::unique_ptr<Artifact>(
        new CoreArtifact(std::move(running.image), std::move(running.vm), {}, options.progress));
}

std::unique_ptr<Artifact> read_again(const Artifact& before) {
    const auto* const core = dynamic_cast<const CoreArtifact*>(&before);
    return core == nullptr || !before.snapshot().source.live ? nullptr : core->again();
}

}  // namespace beamheap::otp
