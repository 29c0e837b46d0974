// SPDX-License-Identifier: Apache-2.0
#include "cli/code/record_book.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "bytes/read_files.hpp"
#include "bytes/source.hpp"
#include "erlang/otp_records.hpp"
#include "erlang/record_source.hpp"

namespace beamheap::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_source_files = 300'000, most_headers = 200;
constexpr std::size_t most_source_bytes = 16u << 20;
constexpr int deepest_source_folder = 16;

// The file that a header's name means: "include/shop.hrl", "shop/include/shop.hrl": the one with most of its end.
const std::string* best_of(const std::vector<std::string>& paths, std::string_view wanted) {
    const std::string* best = nullptr;
    std::size_t most = 0;
    for (const std::string& path : paths) {
        std::size_t same = 0;
        while (same < path.size() && same < wanted.size() &&
               path[path.size() - 1 - same] == wanted[wanted.size() - 1 - same])
            ++same;
        if (best == nullptr || same > most) best = &path, most = same;
    }
    return best;
}

}  // namespace

std::string source_text(const std::string& path) {
    std::error_code error;
    std::string text;
    if (!fs::is_regular_file(path, error)) return text;
    auto source = bytes::open_source(path, {.max_bytes = most_source_bytes});
    if (!source) return text;
    bytes::note_read(path, "a source");
    std::string buffer(64 * 1024, '\0');
    while (text.size() < most_source_bytes) {
        const auto got = (*source)->read(buffer);
        if (!got || *got == 0) break;
        text.append(buffer, 0, *got);
    }
    return text;
}

void SourceFolders::list() {
    listed_ = true;
    std::size_t files = 0;
    for (const std::string& folder : folders_) {
        std::error_code error;
        fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
        for (; !error && at != end && files < most_source_files; at.increment(error), ++files) {
            const std::string name = at->path().filename().string();
            std::error_code ignored;
            if (at->is_directory(ignored)) {
                if (name.starts_with('.') || at.depth() >= deepest_source_folder) at.disable_recursion_pending();
            } else if (name.ends_with(".erl") || name.ends_with(".hrl") || name.ends_with(".ex") ||
                       name.ends_with(".exs") || name.ends_with(".yrl") || name.ends_with(".xrl") ||
                       name.ends_with(".heex")) {
                files_[name].push_back(at->path().string());
            }
        }
    }
    for (auto& [name, paths] : files_) std::sort(paths.begin(), paths.end());
}

std::vector<RecordType> SourceFolders::records(const std::string& module, std::string& path) {
    std::vector<RecordType> found;
    if (folders_.empty()) return found;
    if (!listed_) list();
    const auto source = files_.find(module + ".erl");
    if (source == files_.end()) return found;
    path = source->second.front();
    std::vector<std::string> waiting{path};
    std::set<std::string> read(waiting.begin(), waiting.end());
    for (std::size_t i = 0; i < waiting.size() && i < most_headers; ++i) {
        erlang::SourceRecords here = erlang::records_of_source(source_text(waiting[i]), module);
        std::move(here.records.begin(), here.records.end(), std::back_inserter(found));
        for (const std::string& name : here.includes) {
            const auto header = files_.find(name.substr(name.rfind('/') + 1));
            const std::string* const one = header == files_.end() ? nullptr : best_of(header->second, name);
            if (one != nullptr && read.insert(*one).second) waiting.push_back(*one);
        }
    }
    return found;
}

std::string SourceFolders::file(std::string_view name) {
    if (folders_.empty()) return {};
    if (!listed_) list();
    const auto found = files_.find(name.substr(name.rfind('/') + 1));
    const std::string* const one = found == files_.end() ? nullptr : best_of(found->second, name);
    return one == nullptr ? std::string() : *one;
}

RecordBook::RecordBook(const Snapshot& snapshot, std::shared_ptr<CodeFiles> code, std::vector<std::string> sources,
                       bool told)
    : snapshot_(snapshot), told_(told), code_(std::move(code)), sources_(std::move(sources)) {}

RecordBook::Page& RecordBook::page_of(std::string_view module) {
    if (const auto found = pages_.find(module); found != pages_.end()) return *found->second;
    auto page = std::make_unique<Page>();
    const std::string name(module);
    if (code_ != nullptr) {
        page->records = code_->records(snapshot_, name, page->path);
        page->from = From::module;
    }
    if (page->records.empty()) {
        page->records = sources_.records(name, page->path);
        page->from = From::source;
    }
    if (page->records.empty()) {
        page->records = erlang::otp_records(module);
        page->from = From::otp;
        page->path.clear();
    }
    return *pages_.emplace(name, std::move(page)).first->second;
}

const RecordType* RecordBook::find(std::string_view module, std::string_view tag, std::uint64_t arity) {
    if (module.empty()) return nullptr;
    const std::lock_guard guard(mutex_);
    Page& page = page_of(module);
    const RecordType* found = nullptr;
    for (const RecordType& record : page.records) {
        if (record.arity() != arity || record.name != tag) continue;
        if (found != nullptr && found->fields != record.fields) return nullptr;  // two of them
        found = &record;
    }
    page.used = page.used || found != nullptr;
    return found;
}

std::vector<RecordBook::Use> RecordBook::uses() const {
    const std::lock_guard guard(mutex_);
    std::vector<Use> all;
    for (const auto& [module, page] : pages_)
        if (page->used) all.push_back({module, page->from, page->path});
    std::sort(all.begin(), all.end(), [](const Use& a, const Use& b) { return a.module < b.module; });
    return all;
}

}  // namespace beamheap::cli
