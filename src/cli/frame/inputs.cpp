// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/inputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "bytes/read_files.hpp"
#include "bytes/running_process.hpp"
#include "formats/format.hpp"

namespace beamheap::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view member_sign = "!/";

/// What is read is not written over: noted under the name of the file that holds it, which may be an archive.
void note_input(const std::string& file) {
    constexpr std::string_view role = "the input";
    if (file == "-") bytes::note_read(STDIN_FILENO, role);
    else bytes::note_read(file, role);
}

/// A member of an archive, with the walk that came to it: that holds the archives which the member is read through.
class MemberSource final : public bytes::Source {
public:
    MemberSource(std::shared_ptr<InputWalk> walk, std::unique_ptr<bytes::Source> member)
        : walk_(std::move(walk)), member_(std::move(member)) {}
    Result<std::size_t> read(std::span<char> into) override { return member_->read(into); }
    std::optional<std::uint64_t> size() const override { return member_->size(); }
    std::uint64_t stored_position() const override { return member_->stored_position(); }
    std::uint64_t stored_size() const override { return member_->stored_size(); }
    std::string_view compression() const override { return member_->compression(); }
    const std::string& damage() const override { return member_->damage(); }

private:
    std::shared_ptr<InputWalk> walk_;
    std::unique_ptr<bytes::Source> member_;
};

/// The first dump of an archive: after loading, when nothing more is read of it, the rest of the archive is looked at
/// for others, so that what is compressed is decompressed once. Verbs have the answer only if there are none.
class OnlyMember final : public Artifact {
public:
    /// What is said of an archive with further dumps than the first one.
    using Several = std::function<Status()>;
    OnlyMember(std::unique_ptr<Artifact> artifact, Several several)
        : artifact_(std::move(artifact)), several_(std::move(several)) {}
    Status load(const LoadPlan& plan) override {
        Status loaded = artifact_->load(plan);
        BH_CHECK(several_());
        return loaded;
    }
    Snapshot& snapshot() override { return artifact_->snapshot(); }
    Result<std::unique_ptr<TermSource>> terms(ProcId process, const TermsWanted& wanted) override {
        return artifact_->terms(process, wanted);
    }
    Result<std::unique_ptr<TermSource>> terms_and_garbage(ProcId process) override {
        return artifact_->terms_and_garbage(process);
    }
    bool can_identify() const override { return artifact_->can_identify(); }
    void identify(ProcId process) override { artifact_->identify(process); }
    Result<TableContents> table_contents(std::size_t table, std::uint64_t limit) override {
        return artifact_->table_contents(table, limit);
    }
    Result<PersistentTerms> persistent_terms() override { return artifact_->persistent_terms(); }
    Result<StoredBinaries> stored_binaries() override { return artifact_->stored_binaries(); }
    Result<std::vector<TracedFunction>> traced() override { return artifact_->traced(); }
    Result<Carriers> carriers() override { return artifact_->carriers(); }
    Result<NativeThreads> native_threads() override { return artifact_->native_threads(); }
    Status visit_heaps(const HeapRequest& demand) override { return artifact_->visit_heaps(demand); }
    Count binary_bytes(std::uint64_t address) const override { return artifact_->binary_bytes(address); }
    std::vector<Check> checks() const override { return artifact_->checks(); }

private:
    std::unique_ptr<Artifact> artifact_;
    Several several_;
};

/// The file of "a.zip!/b.tar!/c", where there is one by that name: up to the first sign that follows a file.
std::optional<std::string> archive_of(const std::string& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return std::nullopt;
    for (std::size_t at = path.find(member_sign); at != path.npos; at = path.find(member_sign, at + 1))
        if (fs::is_regular_file(path.substr(0, at), ignored)) return path.substr(0, at);
    return std::nullopt;
}

/// Files only: what is read of a pipe is gone.
bool is_archive(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return false;
    auto source = bytes::open_source(path);
    if (!source) return false;
    const auto peeked = bytes::peek(std::move(*source), bytes::archive_head_bytes);
    return peeked && bytes::looks_like_archive(peeked->head);
}

/// The bytes of the dump or core that is called `name` there.
Result<std::unique_ptr<bytes::Source>> member_of(const std::string& archive, const std::string& name) {
    const auto damage = std::make_shared<std::optional<Error>>();  // the walk lives on in the member
    const auto walk =
        std::make_shared<InputWalk>(std::vector{archive}, [damage, name](const std::string& at, const Error& error) {
            if (at == name) *damage = error;
        });
    for (;;) {
        BH_TRY(std::optional<FoundInput> found, walk->next());
        if (*damage) return **damage;
        if (!found) break;
        if (found->name == name)
            return std::unique_ptr<bytes::Source>(std::make_unique<MemberSource>(walk, std::move(found->source)));
    }
    return Error{ErrorCode::unreadable,
                 fmt::format("{}: the archive {} holds no crash dump or core of this name", name, archive),
                 fmt::format("beamheap check {} names what it holds", archive)};
}

Result<std::unique_ptr<Artifact>> open_member(const std::string& archive, const std::string& name,
                                              const OpenOptions& options) {
    BH_TRY(std::unique_ptr<bytes::Source> member, member_of(archive, name));
    return open_artifact_source(std::move(member), name, options);
}

/// An error if the walk finds more than `first`: with the names of some.
Status only_one(const std::string& archive, InputWalk& walk, const std::string& first) {
    constexpr std::size_t shown = 5;
    std::vector<std::string> names{first};
    while (names.size() <= shown) {
        BH_TRY(const std::optional<FoundInput> found, walk.next());
        if (!found) break;
        names.push_back(found->name);
    }
    if (names.size() == 1) return ok();
    const bool more = names.size() > shown;
    return Error{
        ErrorCode::not_recognised,
        fmt::format("{}: is an archive that holds {} crash dumps or cores", archive,
                    more ? fmt::format("more than {}", shown) : std::to_string(names.size())),
        fmt::format(
            "Name one ('{}'{}), or look at all: beamheap check {}",
            fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(shown, names.size())), "' '"),
            more ? " ..." : "", archive)};
}

/// The dump or core of an archive that holds one.
Result<std::unique_ptr<Artifact>> open_only_member(const std::string& archive, const OpenOptions& options) {
    const auto damage = std::make_shared<std::optional<Error>>();
    const auto walk = std::make_shared<InputWalk>(
        std::vector{archive}, [damage](const std::string&, const Error& error) { *damage = error; });
    BH_TRY(std::optional<FoundInput> found, walk->next());
    if (!found && *damage) return **damage;
    if (!found)
        return Error{
            ErrorCode::not_recognised, archive + ": is an archive that holds no crash dump and no core image", {}};
    auto artifact =
        open_artifact_source(std::make_unique<MemberSource>(walk, std::move(found->source)), found->name, options);
    const auto several = [archive, walk, first = found->name] { return only_one(archive, *walk, first); };
    if (!artifact) {
        BH_CHECK(several());
        return artifact;
    }
    return std::unique_ptr<Artifact>(std::make_unique<OnlyMember>(std::move(*artifact), several));
}

}  // namespace

Result<std::unique_ptr<bytes::Source>> open_input_again(const std::string& path) {
    if (const auto archive = archive_of(path)) return member_of(*archive, path);
    const auto unreadable = std::make_shared<std::optional<Error>>();
    const auto walk = std::make_shared<InputWalk>(
        std::vector{path}, [unreadable](const std::string&, const Error& error) { *unreadable = error; });
    BH_TRY(std::optional<FoundInput> found, walk->next());
    if (*unreadable) return **unreadable;
    if (!found) return Error{ErrorCode::not_recognised, fmt::format("{}: is no crash dump or core any more", path), {}};
    if (found->source->seekable()) return std::move(found->source);  // a file of its own
    return std::unique_ptr<bytes::Source>(std::make_unique<MemberSource>(walk, std::move(found->source)));
}

bool named_as_dump(std::string_view path) {
    std::string_view name = path.substr(path.find_last_of('/') + 1);
    for (const std::string_view packed : {".gz", ".zst", ".xz", ".lz4"})
        if (name.ends_with(packed)) name.remove_suffix(packed.size());
    if (name.starts_with("erl_crash.dump") || name.ends_with(".dump") || name == "core") return true;
    if (!name.starts_with("core.")) return false;
    const std::string_view rest = name.substr(std::string_view("core.").size());
    return rest.starts_with("beam") || (!rest.empty() && rest.find_first_not_of("0123456789.") == rest.npos);
}

namespace {

constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";

}  // namespace

bool can_be_opened_again(const std::string& path) {
    std::error_code error;
    if (process_named(path)) return true;
    if (!fs::is_regular_file(path, error) || is_archive(path)) return false;
    auto source = bytes::open_source(path);
    if (!source) return false;
    if ((*source)->compression().empty()) return true;
    const auto peeked = bytes::peek(std::move(*source), elf_magic.size());
    return peeked && !peeked->head.starts_with(elf_magic);
}

namespace {

constexpr std::uint64_t small_text = 32u << 20, small_packed = 2u << 20, small_image = 512u << 20;

enum class FileSize : std::uint8_t { unreadable, small, large_text, large_image };
FileSize size_of_file(const std::string& path) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (error) return FileSize::unreadable;
    auto source = bytes::open_source(path);
    if (!source) return FileSize::unreadable;
    const bool packed = !(*source)->compression().empty();
    if (bytes <= (packed ? small_packed : small_text)) return FileSize::small;  // a dump is packed to a tenth and less
    if (packed) return FileSize::large_text;
    const auto peeked = bytes::peek(std::move(*source), elf_magic.size());
    if (!peeked) return FileSize::unreadable;
    if (!peeked->head.starts_with(elf_magic)) return FileSize::large_text;
    return bytes <= small_image ? FileSize::small : FileSize::large_image;
}

}  // namespace

bool is_large_dump(const std::string& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && size_of_file(path) == FileSize::large_text;
}

bool is_small_input(const std::string& path) {
    std::error_code error;
    // Of a file that can't be asked for its size nothing is left out.
    if (fs::is_regular_file(path, error)) {
        const FileSize size = size_of_file(path);
        return size == FileSize::small || size == FileSize::unreadable;
    }
    if (error && error != std::errc::no_such_file_or_directory) return true;
    const auto pid = process_named(path);
    if (!pid) return false;
    const std::string sizes = bytes::read_small_file(fmt::format("/proc/{}/statm", *pid), 256);  // total, resident
    const std::size_t blank = sizes.find(' ');
    std::uint64_t pages = 0;
    if (blank == sizes.npos) return false;
    std::from_chars(sizes.data() + blank + 1, sizes.data() + sizes.size(), pages);
    return pages != 0 && pages < small_image / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

namespace {

constexpr std::size_t searched_for_sections = 64 * 1024;  // bytes from the start

// Whether sections of a dump stand in a text that does not begin as one does. What else has lines that begin so (a text
// about dumps) has few of them.
bool holds_sections(std::string_view text) {
    constexpr std::size_t enough = 3;
    std::size_t found = 0;
    for (std::size_t at = text.find("\n="); at != text.npos; at = text.find("\n=", at + 1))
        found += begins_section(text.substr(at + 1));
    return found >= enough;
}

}  // namespace

InputWalk::InputWalk(std::vector<std::string> paths, Unreadable unreadable, Wanted wanted)
    : paths_(std::move(paths)), tell_(std::move(unreadable)), wanted_(wanted) {
    std::ranges::reverse(paths_);
}

InputWalk::~InputWalk() {
    while (!stack_.empty()) stack_.pop_back();
}

Result<std::optional<FoundInput>> InputWalk::next() {
    for (;;) {
        if (stack_.empty() && files_.empty() && paths_.empty()) return Found();
        if (stack_.empty() && files_.empty()) {
            next_path();
            continue;
        }
        BH_TRY(Found found, !stack_.empty() ? next_member() : next_file());
        if (found) return found;
    }
}

void InputWalk::next_path() {
    const std::string path = std::move(paths_.back());
    paths_.pop_back();
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (path != "-" && !fs::exists(status)) return absent(path, error ? error.message() : "No such file or directory");
    if (fs::is_directory(status)) list_folder(path);
    else files_.push_back(path);
}

void InputWalk::absent(const std::string& path, std::string why) {
    ++counts_.absent;
    if (process_named(path))
        return tell_(path, {ErrorCode::unreadable,
                            fmt::format("{}: names a process, and `check` judges what VMs have left behind", path),
                            fmt::format("Of a running VM: beamheap analyze {}", path)});
    tell_(path, {ErrorCode::unreadable, fmt::format("{}: {}", path, std::move(why)), {}});
}

void InputWalk::list_folder(const std::string& path) {
    std::error_code error;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
    if (error) return tell_(path, {ErrorCode::unreadable, fmt::format("{}: {}", path, error.message()), {}});
    for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
        if (error) {
            tell_(path, {ErrorCode::unreadable, fmt::format("{}: {}", path, error.message()), {}});
            break;
        }
        std::error_code ignored;
        if (fs::is_regular_file(at->symlink_status(ignored))) files_.push_back(at->path().string());
    }
    std::ranges::sort(files_, std::ranges::greater());
}

Result<std::optional<FoundInput>> InputWalk::next_file() {
    const std::string path = std::move(files_.back());
    files_.pop_back();
    auto source = bytes::open_source(path);
    if (source) return look(std::move(*source), path);
    ++counts_.files;
    tell_(path, source.error());
    return Found();
}

Result<std::optional<FoundInput>> InputWalk::next_member() {
    bytes::Archive& archive = *stack_.back().archive;
    const std::string within = stack_.back().name;
    auto member = archive.next();
    if (!member || !*member) {
        const std::optional<Error> error = member ? std::nullopt : std::optional(member.error());
        stack_.pop_back();
        if (error) BH_CHECK(unreadable(within, *error));
        return Found();
    }
    std::string_view own = (*member)->name;
    while (own.starts_with("./")) own.remove_prefix(2);
    const std::string path = fmt::format("{}{}{}", within, member_sign, own);
    auto decoded = bytes::decoded_source(archive.source());
    if (decoded) return look(std::move(*decoded), path);
    ++counts_.files;
    BH_CHECK(unreadable(path, decoded.error()));
    return Found();
}

// A dump is what was looked for, an archive is put on the stack, anything else passed over.
Result<std::optional<FoundInput>> InputWalk::look(std::unique_ptr<bytes::Source> source, const std::string& name) {
    ++counts_.files;
    auto peeked = bytes::peek(std::move(source), bytes::archive_head_bytes);
    if (!peeked) {
        BH_CHECK(unreadable(name, peeked.error()));
        return Found();
    }
    const auto found = [&](std::unique_ptr<bytes::Source> bytes) {
        note_input(stack_.empty() ? name : stack_.front().name);
        return Found({std::move(bytes), name});
    };
    if (looks_like_artifact(peeked->head)) return found(std::move(peeked->source));
    if (!bytes::looks_like_archive(peeked->head)) {
        if (wanted_ != Wanted::meant_as_dump) return Found();
        if (named_as_dump(name)) return found(std::move(peeked->source));
        auto more = bytes::peek(std::move(peeked->source), searched_for_sections);
        if (!more) {
            BH_CHECK(unreadable(name, more.error()));
            return Found();
        }
        return holds_sections(more->head) ? found(std::move(more->source)) : Found();
    }
    note_input(stack_.empty() ? name : stack_.front().name);
    if (stack_.size() == archive_depth) {
        BH_CHECK(unreadable(name, {ErrorCode::resource_limit,
                                   fmt::format("{}: archives in archives are read {} deep", name, archive_depth),
                                   {}}));
        return Found();
    }
    auto archive = bytes::open_archive(std::move(peeked->source), name, budget_);
    if (!archive) {
        BH_CHECK(unreadable(name, archive.error()));
        return Found();
    }
    ++counts_.archives;
    stack_.push_back({std::move(*archive), name});
    return Found();
}

// Bombs end everything: what is beyond a limit of all archives together would be met again and again.
Status InputWalk::unreadable(const std::string& name, const Error& error) {
    tell_(name, error);
    if (budget_.members.load() < 0 || budget_.bytes.load() < 0) return error;
    return ok();
}

void note_input_file(const std::string& path) {
    if (!process_named(path)) note_input(archive_of(path).value_or(path));
}

Result<std::unique_ptr<Artifact>> open_input(const std::string& path, const OpenOptions& options) {
    if (process_named(path)) return open_artifact(path, options);
    note_input_file(path);
    if (const std::optional<std::string> archive = archive_of(path)) return open_member(*archive, path, options);
    if (is_archive(path)) return open_only_member(path, options);
    return open_artifact(path, options);
}

}  // namespace beamheap::cli
