// SPDX-License-Identifier: Apache-2.0
#include "cli/code/code_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "analyses/base/printed_time.hpp"
#include "bytes/archive.hpp"
#include "bytes/read_files.hpp"
#include "bytes/source.hpp"
#include "cli/code/node_paths.hpp"
#include "formats/beam/chunks.hpp"
#include "formats/beam/module.hpp"
#include "formats/beam/records.hpp"

namespace beamheap::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".beam";
constexpr unsigned deepest_folder = 12;
constexpr std::uint64_t most_files = 1'000'000;
constexpr std::size_t most_archive_bytes = 512u << 20;  // of an escript, or of what is held of all archives
constexpr std::size_t most_shebang = 4096;

bool ends_with(std::string_view text, std::string_view end) { return text.ends_with(end); }

bool is_archive_name(std::string_view name) {
    for (const std::string_view end : {".ez", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz"})
        if (ends_with(name, end)) return true;
    return false;
}

std::optional<std::int64_t> written(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::nullopt;
    return info.st_mtime;
}

// All bytes of a source, up to `most`.
Result<std::string> all_of(bytes::Source& source, std::size_t most) {
    std::string text;
    std::string buffer(64 * 1024, '\0');
    for (;;) {
        BH_TRY(const std::size_t got, source.read(buffer));
        if (got == 0) break;
        if (text.size() + got > most) return Error{ErrorCode::resource_limit, "is too large", {}};
        text.append(buffer, 0, got);
    }
    if (!source.damage().empty()) return Error{ErrorCode::damaged, source.damage(), {}};
    return text;
}

// A regular file and nothing else: what is opened may wait, or be a device.
Result<std::string> file_bytes(const std::string& path, std::size_t most) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        return Error{ErrorCode::unreadable, "is no file that can be read", {}};
    BH_TRY(const std::unique_ptr<bytes::Source> source, bytes::open_source(path, {.max_bytes = most}));
    bytes::note_read(path, "a module");
    return all_of(*source, most);
}

// An escript has lines for the system and for erl in front of an archive, or of one module.
std::string_view behind_shebang(std::string_view text) {
    if (!text.starts_with("#!")) return text;
    const std::string_view head = text.substr(0, most_shebang);
    const std::size_t at = std::min(head.find("PK\x03\x04"), head.find("FOR1"));
    return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool funs_differ(const Snapshot& snapshot, TextId name, const CodeModule& module, bool& any) {
    for (const FunEntry& fun : snapshot.funs) {
        if (fun.module != name || !fun.index.has()) continue;
        const auto at = std::lower_bound(module.funs.begin(), module.funs.end(), *fun.index,
                                         [](const CodeFun& a, std::uint64_t index) { return a.index < index; });
        const bool there = at != module.funs.end() && at->index == *fun.index;
        if (!there || std::to_string(at->uniq) != snapshot.text(fun.uniq)) return true;
        any = true;
    }
    return false;
}

// What the VM is linked with has no attributes in it: the release's own files are the same, as far as their funs are.
bool is_of_this_vm(const Snapshot& snapshot, std::string_view path) {
    const std::string& erts = snapshot.source.erts_version;
    return !erts.empty() && path.find(fmt::format("/erts-{}/ebin/", erts)) != path.npos;
}

CodeMatch match_of(const Snapshot& snapshot, const CodeModule& module, std::string_view path) {
    const TextId name = snapshot.texts.find(module.name);
    const auto loaded = std::find_if(snapshot.modules.begin(), snapshot.modules.end(),
                                     [&](const Module& each) { return each.name == name; });
    if (name == TextId::none || loaded == snapshot.modules.end()) return CodeMatch::unproved;
    const bool preloaded = !loaded->version.known();
    if (!preloaded && loaded->version != module.version) return CodeMatch::differs;
    // Two versions are loaded: which one a frame is in is not told.
    if (loaded->old_bytes.value_or(0) != 0) return CodeMatch::unproved;
    bool any = false;
    if (funs_differ(snapshot, name, module, any)) return CodeMatch::differs;
    // A stripped module has no attributes; its funs are numbered by the checksum of its code.
    if (preloaded && !any && !is_of_this_vm(snapshot, path)) return CodeMatch::unproved;
    return module.own_version || any ? CodeMatch::same : CodeMatch::unproved;
}

// "Thu Nov 26 07:53:09 2026" in this machine's zone, which may not be the node's.
std::optional<std::int64_t> instant_of(const std::string& text) {
    std::optional<std::tm> when = analyses::printed_time(text);
    if (!when) return std::nullopt;
    const std::time_t seconds = std::mktime(&*when);
    if (seconds == -1) return std::nullopt;
    return seconds;
}

}  // namespace

struct CodeFiles::Answer {
    Found found;
    std::unique_ptr<CodeModule> module;
};

CodeFiles::CodeFiles() = default;
CodeFiles::~CodeFiles() = default;

Status CodeFiles::add_named(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::none)  // the system does not say what it is
        return Error{error == std::errc::not_enough_memory ? ErrorCode::resource_limit : ErrorCode::unreadable,
                     path + ": can't be looked at: " + error.message(),
                     {}};
    if (!fs::exists(status)) return Error{ErrorCode::usage, path + ": there is no such file or folder", {}};
    if (fs::is_directory(status)) {
        list(path, deepest_folder);
        return ok();
    }
    if (ends_with(path, ending)) {
        add_file(path, file_name(path));
        return ok();
    }
    add_archive(path);
    return ok();
}

void CodeFiles::add_folder(const std::string& named, const std::string& root) {
    const auto place = find_of_node(root, named);
    if (!place) return;
    if (place->is_folder) list(place->path, 0);
    else if (folders_.insert(place->path).second) add_archive(place->path);
}

void CodeFiles::list(const std::string& folder, unsigned depth) {
    // What it is, and not its name: that of a folder in another root may be the name of one in ours.
    struct stat info {};
    std::error_code error;
    if (::stat(folder.c_str(), &info) != 0 || !folders_.insert(fmt::format("{} {}", info.st_dev, info.st_ino)).second)
        return;
    std::vector<std::string> names, folders;
    for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && at != end && files_ < most_files; at.increment(error)) {
        ++files_;
        const std::string name = at->path().filename().string();
        std::error_code ignored;
        if (ends_with(name, ending)) names.push_back(name);
        else if (depth != 0 && is_archive_name(name) && at->is_regular_file(ignored)) names.push_back(name);
        else if (depth != 0 && at->is_directory(ignored) && !name.starts_with('.')) folders.push_back(name);
    }
    std::sort(names.begin(), names.end());
    std::sort(folders.begin(), folders.end());
    for (const std::string& name : names) {
        const std::string path = folder + '/' + name;
        if (ends_with(name, ending)) add_file(path, name);
        else if (ends_with(name, ".ez")) add_archive(path);
    }
    for (const std::string& name : folders) list(folder + '/' + name, depth - 1);
}

void CodeFiles::add_file(const std::string& path, std::string_view name) {
    name.remove_suffix(std::min(ending.size(), name.size()));
    places_[std::string(name)].push_back({path, none, {}});
}

void CodeFiles::add_archive(const std::string& path) {
    Archive archive;
    archive.path = path;
    archive.written = written(path);
    archives_.push_back(std::move(archive));
}

// Goes through an archive once: what was expected of it is held, the rest is passed over.
void CodeFiles::read_archive(std::size_t number, const std::set<std::string, std::less<>>& modules) {
    Archive& archive = archives_[number];
    auto opened = bytes::open_source(archive.path);
    if (!opened) return;
    bytes::note_read(archive.path, "modules");
    std::unique_ptr<bytes::Source> source = std::move(*opened);
    std::string script;
    {
        auto peeked = bytes::peek(std::move(source), bytes::archive_head_bytes);
        if (!peeked) return;
        source = std::move(peeked->source);
        if (peeked->head.starts_with("#!")) {
            auto text = all_of(*source, most_archive_bytes);
            if (!text) return;
            script = std::string(behind_shebang(*text));
            if (beam::looks_like_module(script)) {
                if (auto module = beam::read_module(script)) {
                    const std::string name = module->name;
                    if (modules.contains(name) && archive.held.emplace(name, script).second)
                        places_[name].push_back({archive.path, number, {}});
                }
                return;
            }
            auto memory = bytes::memory_source(script);
            if (!memory) return;
            source = std::move(*memory);
        }
    }
    bytes::ArchiveBudget budget;
    auto archived = bytes::open_archive(std::move(source), archive.path, budget);
    if (!archived) return;
    for (;;) {
        auto member = (*archived)->next();
        if (!member || !*member) return;
        std::string_view name = file_name((*member)->name);
        if (!ends_with(name, ending)) continue;
        name.remove_suffix(ending.size());
        if (!modules.contains(name) || archive.held.contains(std::string(name))) continue;
        const std::unique_ptr<bytes::Source> packed = (*archived)->source();
        auto bytes = all_of(*packed, beam::most_module_bytes);
        if (!bytes) continue;
        held_bytes_ += bytes->size();
        if (held_bytes_ > most_archive_bytes) return;
        const std::string module(name);
        archive.held.emplace(module, std::move(*bytes));
        places_[module].push_back({archive.path, number, (*member)->name});
    }
}

void CodeFiles::expect(std::vector<std::string_view> modules) {
    std::set<std::string, std::less<>> names;
    for (const std::string_view module : modules) names.emplace(module);
    for (std::size_t i = 0; i < archives_.size(); ++i) read_archive(i, names);
}

Result<std::string> CodeFiles::bytes_of(const Place& place, std::string_view module) {
    if (place.archive == none) return file_bytes(place.path, beam::most_module_bytes);
    const std::string& held = archives_[place.archive].held[std::string(module)];
    if (!held.starts_with("\x1f\x8b")) return held;
    BH_TRY(const std::unique_ptr<bytes::Source> source,
           bytes::memory_source(held, {.max_bytes = beam::most_module_bytes}));
    return all_of(*source, beam::most_module_bytes);
}

CodeSource::Found CodeFiles::look_at(const Snapshot& snapshot, const Place& place, std::string_view module,
                                     Answer& answer) {
    Found found;
    found.path = place.member.empty() ? place.path : place.path + "!/" + place.member;
    const auto unreadable = [&](const Error& error) {
        found.match = CodeMatch::unreadable;
        found.problem = error.message;
        return found;
    };
    ++opened_;
    auto bytes = bytes_of(place, module);
    if (!bytes) return unreadable(bytes.error());
    auto read = beam::read_module(*bytes);
    if (!read) return unreadable(read.error());
    if (read->name != module) {
        found.match = CodeMatch::unreadable;
        found.problem = "is another module";
        return found;
    }
    found.match = match_of(snapshot, *read, found.path);
    const auto time = place.archive == none ? written(place.path) : archives_[place.archive].written;
    if (found.match == CodeMatch::same && end_ && time && *time > *end_) found.match = CodeMatch::newer;
    if (found.match == CodeMatch::same) {
        answer.module = std::make_unique<CodeModule>(std::move(*read));
        found.module = answer.module.get();
    }
    return found;
}

const CodeSource::Found& CodeFiles::find(const Snapshot& snapshot, std::string_view module) {
    std::unique_ptr<Answer>& answer = answers_[std::string(module)];
    if (answer != nullptr) return answer->found;
    answer = std::make_unique<Answer>();
    const auto places = places_.find(std::string(module));
    if (places == places_.end()) return answer->found;
    // The first that is what ran; where none is, what is to be said of the first.
    for (const Place& place : places->second) {
        Found found = look_at(snapshot, place, module, *answer);
        const bool same = found.match == CodeMatch::same;
        if (same || answer->found.match == CodeMatch::not_there) answer->found = std::move(found);
        if (same) break;
    }
    return answer->found;
}

std::vector<RecordType> CodeFiles::records(const Snapshot& snapshot, const std::string& module, std::string& path) {
    // An archive is gone through once for all that the node had loaded: which of them terms will be of is not known.
    if (!archives_.empty() && !std::exchange(expects_all_, true)) {
        std::vector<std::string_view> all;
        for (const Module& each : snapshot.modules) all.push_back(snapshot.text(each.name));
        expect(std::move(all));
    }
    const auto places = places_.find(module);
    if (places == places_.end()) return {};
    // A release's own is often stripped of its debug information; what it was made of may lie there, too.
    for (const Place& place : places->second) {
        Answer answer;
        if (look_at(snapshot, place, module, answer).match != CodeMatch::same) continue;
        auto bytes = bytes_of(place, module);
        if (!bytes) continue;
        auto records = beam::read_records(*bytes);
        if (!records || records->empty()) continue;
        path = place.member.empty() ? place.path : place.path + "!/" + place.member;
        return std::move(*records);
    }
    return {};
}

std::optional<std::int64_t> end_of_input(const Snapshot& snapshot) {
    const Source& source = snapshot.source;
    if (source.live) return std::nullopt;
    const auto told = instant_of(snapshot.node.created);
    const std::string file = source.path.substr(0, source.path.find("!/"));
    const auto by_file = file == "-" ? std::nullopt : written(file);
    if (!told) return by_file;
    return by_file ? std::min(*told, *by_file) : *told;
}

}  // namespace beamheap::cli
