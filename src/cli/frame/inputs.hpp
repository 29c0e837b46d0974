// SPDX-License-Identifier: Apache-2.0
// Finding the dumps and cores among files, folders and archives, and opening one by its name.
//
// Told by content, never by name; what is compressed is looked into, and archives three deep. Folders are walked in the
// order of names without following links. Nothing is unpacked to a file but a core image, which needs one: that has no
// name (bytes/spool.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/error.hpp"
#include "bytes/archive.hpp"
#include "bytes/source.hpp"

namespace beamheap::cli {

inline constexpr unsigned archive_depth = 3;  ///< archives in archives

struct InputCounts {
    std::uint64_t files = 0;     ///< looked at, members too
    std::uint64_t archives = 0;  ///< opened
    std::uint64_t absent = 0;    ///< paths that were named, and lead nowhere
};

/// A dump or core: its bytes from the start, decompressed; `name` is the file, or "a.zip!/b.tar!/c" of a member.
struct FoundInput {
    std::unique_ptr<bytes::Source> source;
    std::string name;
};

/// Whether a file was to be a dump or a core by its name: erl_crash.dump, NAME.dump, core, core.1234, also compressed.
bool named_as_dump(std::string_view path);

/// Which files a walk finds.
enum class Wanted : std::uint8_t {
    readable,      ///< those that begin as dumps and cores do
    meant_as_dump  ///< also those that were to be one by their name or a section in them; who opens them is told why
                   ///< not
};

/// Goes through all files that paths name or lead to, one dump or core after the other.
class InputWalk {
public:
    /// Told what can't be read, a path that does not exist among it; the others are still looked at.
    using Unreadable = std::function<void(const std::string& name, const Error& error)>;
    InputWalk(std::vector<std::string> paths, Unreadable unreadable, Wanted wanted = Wanted::readable);
    InputWalk(const InputWalk&) = delete;
    InputWalk& operator=(const InputWalk&) = delete;
    ~InputWalk();

    /// The next one; none: that was all. What was found before must be gone: a member is read through its archive.
    /// Errors: a limit of all archives together (a bomb), which ends the walk.
    Result<std::optional<FoundInput>> next();
    const InputCounts& counts() const { return counts_; }

private:
    // What is being read, outermost first. A member's source reads from the archive above it, and goes before that.
    struct Open {
        std::unique_ptr<bytes::Archive> archive;
        std::string name;
    };
    using Found = std::optional<FoundInput>;

    void next_path();
    void absent(const std::string& path, std::string why);
    Result<Found> next_file();
    Result<Found> next_member();
    Result<Found> look(std::unique_ptr<bytes::Source> source, const std::string& name);
    void list_folder(const std::string& path);
    Status unreadable(const std::string& name, const Error& error);

    std::vector<std::string> paths_;  // the next one last
    std::vector<std::string> files_;  // of a folder, the next one last
    std::vector<Open> stack_;
    Unreadable tell_;
    Wanted wanted_;
    bytes::ArchiveBudget budget_;
    InputCounts counts_;
};

/// The bytes of an input once more from their start, decompressed: of a file, of an archive's first dump or core, or of
/// the member that `path` names, as open_input() takes it; not of a pipe. Errors: it can't be read (any more).
Result<std::unique_ptr<bytes::Source>> open_input_again(const std::string& path);

/// Whether reading all of an input costs next to nothing: a small file, a VM with little memory.
bool is_small_input(const std::string& path);

/// Whether a file is a dump so large that reading all of it takes seconds. Images are not: their tables are where they
/// are.
bool is_large_dump(const std::string& path);

/// Whether an input can be opened again and again at no other cost than that of reading it: no pipe, and nothing that
/// is unpacked to a file first.
bool can_be_opened_again(const std::string& path);

/// Notes that the input which `path` names, as open_input() takes it, is not to be written over
/// (bytes/read_files.hpp): the file, or the archive that holds it. For those who write before they read; what is opened
/// here, and what a walk finds, is noted by itself.
void note_input_file(const std::string& path);

/// Opens the dump or core that `path` names: a file, standard input ("-"), a member of an archive as `check` names it
/// ("logs.tgz!/oom.dump.zst"), or an archive that holds one only.
/// Errors: those of open_artifact; an archive that holds none, or several (not_recognised, with their names).
Result<std::unique_ptr<Artifact>> open_input(const std::string& path, const OpenOptions& options);

}  // namespace beamheap::cli
