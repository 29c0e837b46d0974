// SPDX-License-Identifier: Apache-2.0
// One VM of a watch: its rounds, and what was told of what grows in it. Of a VM that stands still nothing is told but
// that; where another one has its pid or name by now, all begins anew.
//
// When something is told first (growth_teller.hpp), the heap of the process behind it is looked into, once, by what
// `analyze` knows of suspects (facts/catalogue/suspects.hpp); of atoms, the newest are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyses/diagnosis/growth.hpp"
#include "beamheap/artifact.hpp"
#include "cli/frame/context.hpp"
#include "cli/watch/growth_teller.hpp"

namespace beamheap::cli {

class WatchedVm {
public:
    WatchedVm(const Context& context, std::string input, std::uint32_t pid)
        : context_(context), input_(std::move(input)), pid_(pid) {}

    /// Reads the VM and judges. Errors: those of opening and reading it; unreadable: it has ended.
    Status round();

    /// From the next round on another VM, which has its name: that will be its notice().
    void move_to(std::string input) {
        input_ = std::move(input);
        attached_ns_ = labelled_ns_ = 0;
    }
    const std::string& input() const { return input_; }
    std::uint32_t pid() const { return pid_; }
    const analyses::GrowthWatch& watch() const { return watch_; }
    const analyses::SystemFigures& system() const { return system_; }
    /// The snapshot of the last round.
    const Snapshot& snapshot() const { return artifact_->snapshot(); }
    bool read() const { return artifact_ != nullptr; }
    std::int64_t at_ms() const { return at_ms_; }
    /// What grows, and what no longer does since the last round; `change` since then.
    const std::vector<present::ToldGrowth>& told() const { return told_; }
    /// Whether one of them is not as it was, or there is something else to say.
    bool news() const;
    /// That it stands still, goes on, or is another VM, where that is so since the round before; else empty.
    const std::string& notice() const { return notice_; }
    /// Why it stands still, as of the last round.
    VmHalt halt() const { return halt_; }
    /// How many VMs have had its place, with this one.
    std::uint64_t vms() const { return vms_; }
    /// Whether the last round was the first that left things out (GrowthWatch::left_out).
    bool begins_to_leave_out() const { return leaves_out_ == 1; }
    /// What grows now, as it was told.
    std::vector<analyses::Growing> growing() const;
    present::Syntax syntax() const;

private:
    Result<std::shared_ptr<Artifact>> look();
    bool take_labels(Artifact& artifact) const;
    void notice_another(const LiveReading& live);
    void notice_halt(const LiveReading& live);
    present::Text look_into(const analyses::Growing& growing) const;
    Result<present::Text> suspect(const analyses::Growing& growing) const;
    Result<present::Text> newest_atoms(const analyses::Growing& growing) const;
    const Context& context_;
    std::string input_;
    std::uint32_t pid_;
    std::uint64_t started_ticks_ = 0, vms_ = 1;
    VmHalt halt_ = VmHalt::none;
    std::uint64_t halted_ns_ = 0;  // when it was found so: the wall clock may be set back meanwhile
    std::string notice_;
    analyses::GrowthWatch watch_;
    analyses::SystemFigures system_;
    std::shared_ptr<Artifact> artifact_;
    std::uint64_t attached_ns_ = 0, labelled_ns_ = 0;
    std::int64_t at_ms_ = 0;
    std::uint64_t leaves_out_ = 0;  // rounds since it did first
    GrowthTeller teller_;
    std::vector<present::ToldGrowth> told_;
};

}  // namespace beamheap::cli
