// SPDX-License-Identifier: Apache-2.0
// A compiled module as a file holds it, in no release's terms: its functions, where in them other functions are called,
// and the lines of those places. What reads it stands in formats/beam, what finds files in src/cli; analyses are given
// a CodeSource and open nothing.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap {

/// A place in a source text; `line` 0: the compiler noted none.
struct SourcePlace {
    std::uint32_t line = 0;
    std::uint32_t file = 0;  ///< index into CodeModule::files
    friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};

/// A function by its names' indexes in CodeModule::atoms.
struct CodeFunctionName {
    std::uint32_t module = 0, name = 0, arity = 0;
    friend auto operator<=>(const CodeFunctionName&, const CodeFunctionName&) = default;
};

/// A place at which a process may be found waiting: for a function that was called, or for a message.
struct CodeSite {
    enum class Kind : std::uint8_t { call, wait } kind = Kind::call;
    /// Registers of the frame there: none where the function has no frame, unknown where that can't be followed.
    static constexpr std::uint32_t no_frame = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t unknown_frame = no_frame - 1;
    std::uint32_t registers = no_frame;
    std::uint64_t catches = 0;      ///< which of the first 64 registers hold a mark of `catch` or `try`
    std::uint32_t callee = 0;       ///< index into CodeModule::callees
    std::uint32_t instruction = 0;  ///< its number in the function: what is later in the code has a larger one
    SourcePlace place;
    SourcePlace other;  ///< what it may be as well, where releases differ; line 0: nothing

    /// By what runs the code: the interpreter of OTP 23 and later, the JIT of OTP 25 and later on x86-64.
    enum class Machine : std::uint8_t { interpreter, jit };
    static constexpr std::size_t machines = 2;
    /// Bytes of machine code from where the function begins, at least and at most.
    struct Size {
        std::uint32_t least = 0, most = 0;
    };
    using Sizes = std::array<Size, machines>;
    Sizes sizes{};  ///< of what stands before it
};

struct CodeFunction {
    std::uint32_t name = 0, arity = 0;        ///< index into CodeModule::atoms
    SourcePlace head;                         ///< where it stands in its source
    SourcePlace entry;                        ///< of the instruction that it begins with
    std::uint32_t first_site = 0, sites = 0;  ///< in CodeModule::sites, in the order of code
    std::uint32_t first_tail = 0, tails = 0;  ///< in CodeModule::tails: what it goes on in without coming back
};

/// A fun's place in its module, and the number that the VM notes with it.
struct CodeFun {
    std::uint32_t index = 0, uniq = 0;
    friend auto operator<=>(const CodeFun&, const CodeFun&) = default;
};

struct CodeModule {
    /// In `callees`: whatever function (a fun, apply), and so one that is in no table.
    static constexpr std::uint32_t any_callee = 0;

    std::vector<std::string> atoms;         ///< UTF-8; 0 is none
    std::vector<std::string> files;         ///< source files; 0 is that of the module's name
    std::vector<CodeFunctionName> callees;  ///< 0 is any
    std::vector<CodeFunction> functions;    ///< by name's bytes and arity
    std::vector<CodeSite> sites;
    std::vector<std::uint32_t> tails;  ///< indexes into callees
    std::vector<CodeFun> funs;         ///< by index
    std::string name;
    CodeVersion version;  ///< of its chunks "Attr" and "CInf"
    bool has_lines = false;
    bool drops_lines = false;  ///< the compiler is that of OTP 23 or later, whose loader drops lines of tail calls
    bool own_version = true;   ///< `vsn` is the compiler's checksum of the code, not a text that an author chose

    /// The function of this name; null where there is none.
    const CodeFunction* find(std::string_view function, std::uint32_t arity) const;
};

/// Whether a file's module is the one that the node had loaded.
enum class CodeMatch : std::uint8_t {
    same,      ///< its version and how it was compiled are those that the input holds
    differs,   ///< one of these is another
    unproved,  ///< the version is a text that an author chose, and nothing else tells
    newer,  ///< all is the same, and the file was written after the input: lines may have moved, which no version tells
    not_there,   ///< no file of this name was found
    unreadable,  ///< a file of this name is no module, or damaged
};
std::string_view name_of(CodeMatch match);  ///< "same", "differs", "unproved", "newer", "not there", "unreadable"

/// Where modules come from. Analyses ask for those that they need, by name, one after the other.
class CodeSource {
public:
    virtual ~CodeSource() = default;
    struct Found {
        CodeMatch match = CodeMatch::not_there;
        const CodeModule* module = nullptr;  ///< only where it is `same`; lives as long as the source
        std::string path;                    ///< of the file, where there is one
        std::string problem;                 ///< unreadable: why, a clause
    };
    /// The modules of these names will be asked for, and few others.
    virtual void expect(std::vector<std::string_view> /*modules*/) {}
    /// The module of this name that `snapshot` had loaded. The same answer each time.
    virtual const Found& find(const Snapshot& snapshot, std::string_view module) = 0;
};

}  // namespace beamheap
