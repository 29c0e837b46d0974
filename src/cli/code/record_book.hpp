// SPDX-License-Identifier: Apache-2.0
// Names of records for an input: of a module's debug information, where its file is what ran; else of its source below
// --source; else of OTP's own rows. A module is looked for when a term of it is to be named, and once.
//
// What a source tells is not proved to be what ran: its records are named where tag and size fit.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/record_names.hpp"
#include "beamheap/snapshot.hpp"
#include "cli/code/code_files.hpp"

namespace beamheap::cli {

/// Sources below folders that the user named: modules by their names, headers by theirs.
class SourceFolders {
public:
    explicit SourceFolders(std::vector<std::string> folders) : folders_(std::move(folders)) {}
    bool empty() const { return folders_.empty(); }
    /// Records of the module's source, and of all that it includes and that lies there; `path` becomes that of the
    /// source; empty where there is none.
    std::vector<RecordType> records(const std::string& module, std::string& path);
    /// The file that a compiler has called so: of those with its name the one whose path ends most as `name` does;
    /// empty where there is none.
    std::string file(std::string_view name);

private:
    void list();
    std::vector<std::string> folders_;
    bool listed_ = false;
    std::map<std::string, std::vector<std::string>, std::less<>> files_;  // by name
};

/// A source's text, at most 16 MiB of it; empty where it can't be read, or is no file.
std::string source_text(const std::string& path);

class RecordBook final : public RecordNames {
public:
    /// `code` may be null: no modules are looked for. Refers to the snapshot, whose member it becomes.
    RecordBook(const Snapshot& snapshot, std::shared_ptr<CodeFiles> code, std::vector<std::string> sources, bool told);
    bool told() const override { return told_; }
    const RecordType* find(std::string_view module, std::string_view tag, std::uint64_t arity) override;

    /// Where the records of a module are from, of those that were asked for and are named.
    enum class From : std::uint8_t { module, source, otp };
    struct Use {
        std::string module;
        From from = From::module;
        std::string path;  ///< of the file; empty: rows of ours
    };
    std::vector<Use> uses() const;

private:
    struct Page {
        std::vector<RecordType> records;
        From from = From::otp;
        std::string path;
        bool used = false;
    };
    struct TextHash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    Page& page_of(std::string_view module);

    const Snapshot& snapshot_;
    bool told_;
    std::shared_ptr<CodeFiles> code_;
    SourceFolders sources_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, std::unique_ptr<Page>, TextHash, std::equal_to<>> pages_;
};

}  // namespace beamheap::cli
