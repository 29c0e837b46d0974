#include "formats/otp/core_artifact.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

#include "bytes/spool.hpp"
#include "formats/otp/tables/carriers.hpp"
#include "formats/otp/heaps/core_terms.hpp"
#include "formats/otp/heaps/heap_reader.hpp"
#include "formats/otp/vm/image.hpp"
#include "formats/otp/tables/native.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/processes/stack_slots.hpp"
#include "formats/otp/heaps/stored_binaries.hpp"
#include "formats/otp/heaps/terms_check.hpp"
#include "formats/otp/tables/tables.hpp"
#include "formats/otp/tables/traced.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {
namespace {

class CoreArtifact final : public Artifact {
public:
    /// `damage`: what became of the compressed data that the image was taken from; empty: it is whole.
    CoreArtifact(std::unique_ptr<Image> image, std::unique_ptr<Vm> vm, const std::string& damage)
        : image_(std::move(image)), vm_(std::move(vm)) {
        if (!damage.empty())
            snapshot_.anomalies.add(Anomaly::compressed_damage, image_->core().bytes().size(), damage);
    }

    Status load(const LoadPlan& plan) override {
        Reader reader(*vm_, snapshot_);
        snapshot_.source.path = image_->core().name();
        read_node(reader);
        read_processes(reader, plan);
        if (plan.tables || plan.modules) read_modules(reader);
        if (plan.tables) {
            read_schedulers(reader);
            read_ets(reader);
            read_ports(reader);
            read_timers(reader);
            read_peers(reader);
            read_allocators(reader);
        }
        if (plan.atoms) read_atoms(reader);
        snapshot_.seal();
        read_stack_slots(reader, plan);
        if (plan.heaps != nullptr) (void)visit_heaps(*plan.heaps);
        if (vm_->atoms.lost() != 0)
            snapshot_.anomalies.add(Anomaly::inconsistent_state, vm_->roots.atom_table, fmt::format("the names of {} atoms are lost", vm_->atoms.lost()));
        if (reader.memory.misses() != 0) {
            snapshot_.anomalies.add(Anomaly::unreadable_memory, reader.memory.first_miss());
            misses_ = reader.memory.misses();
        }
        return ok();
    }
    Snapshot& snapshot() override { return snapshot_; }

    Result<std::unique_ptr<TermSource>> terms(ProcId process, const TermsWanted&) override { return read_terms(process, false); }
    Result<std::unique_ptr<TermSource>> terms_and_garbage(ProcId process) override { return read_terms(process, true); }

    Result<TableContents> table_contents(std::size_t table, std::uint64_t limit) override {
        if (!vm_->terms_readable)
            return Error{ErrorCode::not_recognised, "terms of this VM are in a form that no known layout has", vm_->unproven};
        Decoder reader(*vm_);
        const EtsObjects objects = read_ets_objects(reader, snapshot_.ets[table].address, limit, snapshot_.ets[table].objects);
        TableContents contents;
        contents.key = objects.key;
        contents.more = objects.more;
        contents.damaged = objects.damaged;
        if (objects.damaged)
            snapshot_.anomalies.add(Anomaly::inconsistent_state, snapshot_.ets[table].address,
                                    "an ETS table could not be followed to its end");
        auto terms = std::make_unique<CoreTerms>(*vm_, snapshot_, objects);
        tell(terms->heap().damage(), snapshot_.ets[table].address, snapshot_.anomalies);
        contents.terms = std::move(terms);
        return contents;
    }

    Result<StoredBinaries> stored_binaries() override {
        if (!vm_->terms_readable) return StoredBinaries{};
        Decoder reader(*vm_);
        StoredBinaries stored = read_stored_binaries(*vm_, snapshot_, reader);
        for (std::uint64_t i = 0; i < stored.damaged_tables; ++i)
            snapshot_.anomalies.add(Anomaly::inconsistent_state, stored.first_damaged,
                                    "an ETS table could not be followed to its end");
        if (stored.lost != 0)
            snapshot_.anomalies.add(Anomaly::dangling_reference, 0, fmt::format("{} terms of ETS tables and persistent terms", stored.lost));
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
            snapshot_.anomalies.add(Anomaly::inconsistent_state, 0, fmt::format("{} carriers of allocators could not be followed", found.unknown));
        return found;
    }

    Result<NativeThreads> native_threads() override {
        Reader reader(*vm_, snapshot_);
        return read_native_threads(reader);
    }

    Count binary_bytes(std::uint64_t address) const override {
        bytes::MemoryReader memory(image_->space());
        const auto size = memory.word(address + vm_->layout.at.binary_length);
        return size ? Count(*size) : Count();
    }

    // Workers take processes one by one; each has a reader, whose arenas the next heap uses again.
    Status visit_heaps(const HeapRequest& demand) override {
        std::vector<ProcId> wanted;
        for (std::uint32_t i = 0; i < snapshot_.processes.size(); ++i) {
            const auto id = static_cast<ProcId>(i);
            if (snapshot_[id].has_heap && (!demand.wanted || demand.wanted(snapshot_, id))) wanted.push_back(id);
        }
        const unsigned count = std::max(1u, std::min<unsigned>(demand.workers, static_cast<unsigned>(wanted.size())));
        std::atomic<std::size_t> next{0};
        std::vector<Anomalies> met(count);
        const auto work = [&](unsigned worker) {
            HeapReader reader(*vm_);
            for (std::size_t i = next++; i < wanted.size(); i = next++) {
                const Process& row = snapshot_[wanted[i]];
                HeapGraph& graph = reader.read(row.offset, HeapGraph::Mode::sizes);
                const HeapDamage& damage = reader.damage();
                tell(damage, row.offset, met[worker]);
                if (damage.collecting) continue;
                demand.visit({wanted[i], row, graph, worker, reader.messages(), reader.distribution_messages(),
                              reader.distribution_bytes()});
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
    std::unique_ptr<TermSource> read_terms(ProcId process, bool garbage) {
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
        } catch (const std::system_error&) {  // no room for another thread's stack
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
            anomalies.add(Anomaly::inconsistent_state, process, "a process dictionary has not the entries that it counts");
        if (damage.lost_binaries != 0) anomalies.add(Anomaly::dangling_reference, process, "a binary outside of the heaps");
        if (damage.collecting) anomalies.add(Anomaly::heap_missing, process);
    }

    std::unique_ptr<Image> image_;
    std::unique_ptr<Vm> vm_;
    Snapshot snapshot_;
    std::uint64_t misses_ = 0;
};

}  // namespace

std::string releases_read() {
    return fmt::format("{} to {}", known_layouts().front().release, known_layouts().back().release);
}

bool sniff(std::string_view head) { return head.substr(0, 4) == "\177ELF"; }

Result<std::unique_ptr<Artifact>> open(std::unique_ptr<bytes::Source> source, const std::string& path,
                                       const OpenOptions& options) {
    std::unique_ptr<Image> image;
    std::string damage;
    if (path != "-" && source->compression().empty() && source->seekable()) {
        BH_TRY(image, Image::open(path, options.executable));
    } else {
        BH_TRY(bytes::MappedFile file, bytes::spool(*source, path));
        damage = source->damage();
        BH_TRY(bytes::ElfImage core, bytes::ElfImage::adopt(std::move(file), path));
        BH_TRY(image, Image::adopt(std::move(core), path, options.executable));
    }
    BH_TRY(std::unique_ptr<Vm> vm, Vm::open(*image));
    if (!vm->unproven.empty()) prove_terms(*vm);
    return std::unique_ptr<Artifact>(new CoreArtifact(std::move(image), std::move(vm), damage));
}

}  // namespace beamheap::otp
