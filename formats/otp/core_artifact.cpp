#include "formats/otp/core_artifact.hpp"

#include <fmt/format.h>

#include "bytes/spool.hpp"
#include "formats/otp/image.hpp"
#include "formats/otp/process_table.hpp"
#include "formats/otp/tables.hpp"
#include "formats/otp/vm.hpp"

namespace beamheap::otp {
namespace {

class CoreArtifact final : public Artifact {
public:
    CoreArtifact(std::unique_ptr<Image> image, std::unique_ptr<Vm> vm) : image_(std::move(image)), vm_(std::move(vm)) {}

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
        if (reader.memory.misses() != 0) {
            snapshot_.anomalies.add(Anomaly::unreadable_memory, reader.memory.first_miss());
            misses_ = reader.memory.misses();
        }
        snapshot_.seal();
        return ok();
    }
    Snapshot& snapshot() override { return snapshot_; }

    std::vector<Check> checks() const override {
        std::vector<Check> all = image_->checks();
        all.insert(all.end(), vm_->checks.begin(), vm_->checks.end());
        all.push_back({"memory", misses_ == 0, fmt::format("{} addresses asked for that the image does not hold", misses_)});
        return all;
    }

private:
    std::unique_ptr<Image> image_;
    std::unique_ptr<Vm> vm_;
    Snapshot snapshot_;
    std::uint64_t misses_ = 0;
};

}  // namespace

bool sniff(std::string_view head) { return head.substr(0, 4) == "\177ELF"; }

Result<std::unique_ptr<Artifact>> open(std::unique_ptr<bytes::Source> source, const std::string& path,
                                       const OpenOptions& options) {
    std::unique_ptr<Image> image;
    if (path != "-" && source->compression().empty() && source->seekable()) {
        BH_TRY(image, Image::open(path, options.executable));
    } else {
        BH_TRY(bytes::MappedFile file, bytes::spool(*source, path));
        const std::string damage = source->damage();
        BH_TRY(bytes::ElfImage core, bytes::ElfImage::adopt(std::move(file), path));
        BH_TRY(image, Image::adopt(std::move(core), path, options.executable));
    }
    BH_TRY(std::unique_ptr<Vm> vm, Vm::open(*image));
    return std::unique_ptr<Artifact>(new CoreArtifact(std::move(image), std::move(vm)));
}

}  // namespace beamheap::otp
