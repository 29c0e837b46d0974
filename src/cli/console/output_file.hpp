// SPDX-License-Identifier: Apache-2.0
// Files that beamheap creates: readable by their owner alone, never through a link, never over another file unasked.
#pragma once

#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::cli {

/// Whether a file could be made at `path`: an error (usage) where one is there and `overwrite` is false, or where it is
/// one that is read (bytes/read_files.hpp), whatever `overwrite` says. "-" is standard output.
Status may_write(const std::string& path, bool overwrite);

/// A file of mode 0600 that is written piece by piece, and put at its place when it is whole: whoever looks sees the
/// old file or all of the new one. Until then it has no name (O_TMPFILE), so that nothing is left however the program
/// ends; where the file system has no such files, it has one of its own beside its place, which is removed when the
/// program fails, or is interrupted or terminated.
class OutputFile {
public:
    /// "-" is standard output. Errors: those of may_write; unreadable, resource_limit (the system's reason).
    static Result<OutputFile> create(const std::string& path, bool overwrite);
    /// One that has a name of its own until then, as where the file system has none without.
    static Result<OutputFile> create_named(const std::string& path, bool overwrite);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    /// Errors: the system's reason.
    Status write(std::string_view piece);
    /// Writes what was held back until now, for who reads the descriptor. Errors: the system's reason.
    Status flush();
    /// Another place for it than it was made for, in the same folder.
    void move_to(std::string path) { path_ = std::move(path); }
    /// Writes what is left and gives the file its name; with `overwrite` in place of the one that is there.
    Status finish();
    /// Open for reading and writing until finish(), for what writes by itself.
    int descriptor() const { return fd_; }
    /// Whether it has a name of its own until then.
    bool is_named() const { return !partial_.empty(); }

private:
    OutputFile(std::string path, std::string partial, bool overwrite, int fd);
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

/// A file that OutputFile::create() is asked for later, made now, because none can be opened for writing any more by
/// then (sandbox.hpp). What goes wrong is told by create(). `asides`: so many of Aside::create() with it.
struct PreparedOutput {
    std::string folder;  ///< in which the file is yet to get its name; empty: there is no such folder
    bool removes;        ///< and where it takes another name away
};
PreparedOutput prepare_output(const std::string& path, bool overwrite, std::size_t asides);
/// Makes a folder and those above it that are missing. Those that are empty when the run ends, however it does, are
/// taken away again by a process that reads nothing, as this one may have lost the right.
Status prepare_folder(const std::string& path);
/// Closes what was prepared and not asked for, and waits until empty folders are gone.
void forget_prepared_outputs();

/// Takes away what files are being written, for a handler of a signal that ends the program: it calls unlink() alone.
void remove_partial_files();

/// Makes a folder of its owner alone, with those above it, as far as they are missing. Errors: the system's reason.
Status make_folder(const std::string& path);

/// Makes a file of a text that is at hand.
Status write_file(const std::string& path, std::string_view text, bool overwrite);

}  // namespace beamheap::cli
