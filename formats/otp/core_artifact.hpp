// SPDX-License-Identifier: Apache-2.0
// A core image of beam.smp, or one that runs, as an Artifact.
//
// Of a VM that runs nothing is stopped and nothing is written: its memory is read as it is at that instant, and each
// process is proved by reading it again (processes/live_row.hpp). Tables of the VM are read again where they were found
// in the middle of a change. Terms are those of processes that stood still while they were read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "beamheap/artifact.hpp"
#include "bytes/source.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Whether content begins like an ELF file.
bool sniff(std::string_view head);

/// The releases whose core images are read, for texts: "23 to 29", from the first row of known_layouts() to the last.
std::string releases_read();

/// Opens a core image and finds its executable. A plain file is mapped; anything else (compressed, a pipe) is kept in
/// a temporary file first. Errors: unreadable; not_recognised, with what it is or lacks.
Result<std::unique_ptr<Artifact>> open(std::unique_ptr<bytes::Source> source, const std::string& path,
                                       const OpenOptions& options);

/// A VM that runs, recognised and its layout proved: what is needed to read its structures. `vm` refers to `image`, and
/// that to the process (Image::process()), whose memory its space() reads.
struct RunningVm {
    std::unique_ptr<Image> image;
    std::unique_ptr<Vm> vm;
};

/// Attaches to the VM with this pid; `path` being what the user gave, `options.executable` another executable than the
/// one that the system names. Errors: usage (this program's own pid); unreadable: no such process, or a right is
/// missing (which one, and its cure); not_recognised: no Erlang VM, or one that no layout fits.
Result<RunningVm> attach(std::uint32_t pid, const std::string& path, const OpenOptions& options);

/// The same as an Artifact. Its load() reads the VM as it is then; a later one is to be opened anew.
Result<std::unique_ptr<Artifact>> open_running(std::uint32_t pid, const std::string& path, const OpenOptions& options);

/// The VM of an artifact that open_running() gave and that was loaded, to be loaded once more without being recognised
/// and proved anew, which costs more than reading it: for looks that follow each other within seconds, since code that
/// is loaded meanwhile is not known. Null of anything else. They must not be used at the same time.
std::unique_ptr<Artifact> read_again(const Artifact& before);

}  // namespace beamheap::otp
