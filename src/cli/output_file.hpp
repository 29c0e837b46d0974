// Files that beamheap creates: readable by their owner alone, never through a link, never over another file unasked.
#pragma once

#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::cli {

/// Whether a file could be made at `path`: an error (usage) where one is there and `overwrite` is false. "-" is
/// standard output.
Status may_write(const std::string& path, bool overwrite);
/// The same for what is made of an input, which may be the only trace of a crash: it is never written over (usage).
/// `input` may name a member of an archive, or no file.
Status may_write(const std::string& path, bool overwrite, const std::string& input);
/// A file of mode 0600 that is written piece by piece under a name of its own beside its place, and put there when it
/// is whole: whoever looks sees the old file or all of the new one. What is destroyed before finish() leaves nothing
/// behind, nor does a program that is interrupted or terminated meanwhile.
class OutputFile {
public:
    /// "-" is standard output. Errors: those of may_write; unreadable, resource_limit (the system's reason).
    static Result<OutputFile> create(const std::string& path, bool overwrite);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    /// Errors: the system's reason.
    Status write(std::string_view piece);
    /// Writes what is left and gives the file its name; with `overwrite` in place of the one that is there.
    Status finish();
    /// The name that it has until then, for what writes to files by name; empty of standard output.
    const std::string& partial() const { return partial_; }

private:
    OutputFile(std::string path, std::string partial, bool overwrite, int fd);
    Status flush();
    std::string path_, partial_;
    bool overwrite_;
    int fd_;
    std::string held_;
};

/// A file without a name in the same folder: pieces of an output that are put behind others when all are there.
class Aside {
public:
    /// `beside` is the output's path. Errors: the system's reason.
    static Result<Aside> create(const std::string& beside);
    Aside(Aside&& other) noexcept;
    Aside& operator=(Aside&&) = delete;
    ~Aside();
    Status write(std::string_view bytes) const;
    /// Writes all of it to `file`.
    Status copy_to(OutputFile& file) const;

private:
    Aside(int fd, std::string path);
    int fd_;
    std::string path_;
};

/// Takes away what files are being written, for a handler of a signal that ends the program: it calls unlink() alone.
void remove_partial_files();

/// The same with a text that is at hand.
Status write_file(const std::string& path, std::string_view text, bool overwrite);

}  // namespace beamheap::cli
