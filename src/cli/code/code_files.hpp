// SPDX-License-Identifier: Apache-2.0
// Compiled modules on this machine: where they lie, which of them are opened, and whether they are what the node ran.
//
// Named by --code or BEAMHEAP_CODE: module files, folders (looked through with all below them: ebin, lib/*/ebin,
// _build), archives (.ez, escripts, tarballs of a release). Unasked: the folders that the node's own code path names,
// as far as they are here. Names are listed once; a file is opened when its module is asked for.
//
// What a dump says is somebody else's word: of the folders that it names only files NAME.beam are opened, no devices,
// nothing that a mount of the network would have to bring.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/code_module.hpp"
#include "beamheap/error.hpp"
#include "beamheap/record_names.hpp"

namespace beamheap::cli {

class CodeFiles final : public CodeSource {
public:
    CodeFiles();
    CodeFiles(const CodeFiles&) = delete;
    CodeFiles& operator=(const CodeFiles&) = delete;
    ~CodeFiles() override;

    /// A path that the user named. Errors: usage (there is no such file).
    Status add_named(const std::string& path);
    /// A folder of the node's code path, or an archive that stands for one, below `root` (root_of_node()).
    void add_folder(const std::string& folder, const std::string& root);
    /// Files that were written after this instant (seconds since 1970) are not believed; none: all are.
    void set_end(std::optional<std::int64_t> seconds) { end_ = seconds; }
    /// Whether any place was found where modules lie.
    bool empty() const { return places_.empty() && archives_.empty(); }

    void expect(std::vector<std::string_view> modules) override;
    const Found& find(const Snapshot& snapshot, std::string_view module) override;
    /// Records of the module of this name, of the first file that is what ran and has some in its debug information;
    /// else empty. `path` becomes that of the file.
    std::vector<RecordType> records(const Snapshot& snapshot, const std::string& module, std::string& path);
    /// How many files were opened as modules.
    std::uint64_t opened() const { return opened_; }

private:
    struct Place {
        std::string path;            // of the file, or of the archive
        std::size_t archive = none;  // number in archives_
        std::string member;          // its name there
    };
    struct Archive {
        std::string path;
        std::optional<std::int64_t> written;
        std::unordered_map<std::string, std::string> held;  // bytes of members that were expected, by name
    };
    struct Answer;
    static constexpr std::size_t none = ~std::size_t{0};

    void list(const std::string& folder, unsigned depth);
    void add_file(const std::string& path, std::string_view name);
    void add_archive(const std::string& path);
    void read_archive(std::size_t number, const std::set<std::string, std::less<>>& modules);
    Result<std::string> bytes_of(const Place& place, std::string_view module);
    Found look_at(const Snapshot& snapshot, const Place& place, std::string_view module, Answer& answer);

    std::unordered_map<std::string, std::vector<Place>> places_;  // by module
    std::vector<Archive> archives_;
    std::set<std::string> folders_;  // that were listed
    std::unordered_map<std::string, std::unique_ptr<Answer>> answers_;
    std::optional<std::int64_t> end_;
    std::uint64_t files_ = 0;  // that were listed
    std::uint64_t opened_ = 0;
    std::uint64_t held_bytes_ = 0;
    bool expects_all_ = false;
};

/// When an input was written, in seconds since 1970: by its file's time and by what it says itself, whichever is
/// earlier; nothing of a VM that runs, or where neither is known.
std::optional<std::int64_t> end_of_input(const Snapshot& snapshot);

}  // namespace beamheap::cli
