#include "cli/check_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "formats/format.hpp"

namespace beamheap::cli {
namespace {

namespace fs = std::filesystem;

class Walk {
public:
    Walk(bytes::ArchiveBudget& budget, const InputVisitor& visitor, InputCounts& counts)
        : budget_(budget), visitor_(visitor), counts_(counts) {}

    Status file(const std::string& path) {
        auto source = bytes::open_source(path);
        if (!source) {
            ++counts_.files;
            visitor_.unreadable(path, source.error());
            return ok();
        }
        return content(std::move(*source), path);
    }

    Status folder(const std::string& path) {
        std::error_code error;
        std::vector<std::string> files;
        fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
        if (error) {
            visitor_.unreadable(path, {ErrorCode::unreadable, fmt::format("{}: {}", path, error.message()), {}});
            return ok();
        }
        for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
            if (error) {
                visitor_.unreadable(path, {ErrorCode::unreadable, fmt::format("{}: {}", path, error.message()), {}});
                break;
            }
            std::error_code ignored;
            if (!fs::is_regular_file(at->symlink_status(ignored))) continue;
            files.push_back(at->path().string());
        }
        std::ranges::sort(files);
        for (const std::string& each : files) BH_CHECK(file(each));
        return ok();
    }

private:
    // What is being read, outermost first. A member's source reads from the archive above it, and goes before that.
    struct Open {
        std::unique_ptr<bytes::Archive> archive;
        std::string name;
    };

    // A dump is visited, an archive put on the stack, anything else passed over.
    Status look(std::unique_ptr<bytes::Source> source, const std::string& name, std::vector<Open>& stack) {
        ++counts_.files;
        auto peeked = bytes::peek(std::move(source), bytes::archive_head_bytes);
        if (!peeked) return unreadable(name, peeked.error());
        if (looks_like_artifact(peeked->head)) return visitor_.found(std::move(peeked->source), name);
        if (!bytes::looks_like_archive(peeked->head)) return ok();
        if (stack.size() == archive_depth)
            return unreadable(name, {ErrorCode::resource_limit,
                                     fmt::format("{}: archives in archives are read {} deep", name, archive_depth),
                                     {}});
        auto archive = bytes::open_archive(std::move(peeked->source), name, budget_);
        if (!archive) return unreadable(name, archive.error());
        ++counts_.archives;
        stack.push_back({std::move(*archive), name});
        return ok();
    }

    Status content(std::unique_ptr<bytes::Source> source, const std::string& name) {
        std::vector<Open> stack;
        const Status status = walk(std::move(source), name, stack);
        while (!stack.empty()) stack.pop_back();
        return status;
    }

    Status walk(std::unique_ptr<bytes::Source> source, const std::string& name, std::vector<Open>& stack) {
        BH_CHECK(look(std::move(source), name, stack));
        while (!stack.empty()) {
            bytes::Archive& archive = *stack.back().archive;
            const std::string within = stack.back().name;
            auto member = archive.next();
            if (!member) {
                const Error error = member.error();
                stack.pop_back();
                BH_CHECK(unreadable(within, error));
                continue;
            }
            if (!*member) {
                stack.pop_back();
                continue;
            }
            std::string_view own = (*member)->name;
            while (own.starts_with("./")) own.remove_prefix(2);
            const std::string path = fmt::format("{}!/{}", within, own);
            auto decoded = bytes::decoded_source(archive.source());
            if (!decoded) {
                ++counts_.files;
                BH_CHECK(unreadable(path, decoded.error()));
                continue;
            }
            BH_CHECK(look(std::move(*decoded), path, stack));
        }
        return ok();
    }

    // Bombs end everything: what is beyond a limit of all archives together would be met again and again.
    Status unreadable(const std::string& name, const Error& error) {
        visitor_.unreadable(name, error);
        if (budget_.members.load() < 0 || budget_.bytes.load() < 0) return error;
        return ok();
    }

    bytes::ArchiveBudget& budget_;
    const InputVisitor& visitor_;
    InputCounts& counts_;
};

}  // namespace

Status visit_inputs(const std::vector<std::string>& paths, bytes::ArchiveBudget& budget, const InputVisitor& visitor,
                    InputCounts& counts) {
    Walk walk(budget, visitor, counts);
    for (const std::string& path : paths) {
        std::error_code error;
        const fs::file_status status = fs::status(path, error);
        if (path != "-" && !fs::exists(status))
            return Error{ErrorCode::unreadable,
                         fmt::format("{}: {}", path, error ? error.message() : "No such file or directory"),
                         {}};
        BH_CHECK(fs::is_directory(status) ? walk.folder(path) : walk.file(path));
    }
    return ok();
}

}  // namespace beamheap::cli
