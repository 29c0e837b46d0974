// SPDX-License-Identifier: Apache-2.0
#include "formats/beam/module.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "formats/beam/chunks.hpp"
#include "formats/beam/code_walk.hpp"
#include "formats/beam/line_table.hpp"

namespace beamheap::beam {
namespace {

// "vsn" with a list of one integer of more than eight bytes: the checksum, of 16. An author's is a text or a small
// number. As bytes of the external term: the atom's name, LIST_EXT, one element, SMALL_BIG_EXT, its size.
bool has_own_version(std::string_view attributes) {
    constexpr std::string_view key("\x03vsn\x6C\x00\x00\x00\x01\x6E", 10);
    const std::size_t at = attributes.find(key);
    return at != attributes.npos && at + key.size() < attributes.size() &&
           static_cast<unsigned char>(attributes[at + key.size()]) > 8;
}

// {version, "8.2.3"} of CInf, as bytes of the external term: the atom's name, STRING_EXT. 7.6 is OTP 23's.
bool is_since_23(std::string_view compilation) {
    constexpr std::string_view key("\x07version\x6B\x00", 10);
    const std::size_t at = compilation.find(key);
    if (at == compilation.npos || at + key.size() + 4 > compilation.size()) return false;
    const std::string_view version = compilation.substr(at + key.size() + 1);
    const std::size_t dot = version.find('.');
    if (dot == version.npos || dot == 0 || dot + 1 == version.size()) return false;
    if (dot > 1 || version[0] > '7') return true;
    return version[0] == '7' && version[dot + 1] >= '6';
}

Result<std::vector<CodeFunctionName>> read_imports(const Chunks& chunks, std::size_t atoms) {
    std::vector<CodeFunctionName> imports;
    const auto chunk = chunks.find("ImpT");
    if (!chunk) return imports;
    ByteReader reader(*chunk);
    const std::uint32_t count = reader.four();
    if (count > reader.left() / 12) return damaged("its imports end early");
    imports.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const CodeFunctionName name{reader.four(), reader.four(), reader.four()};
        if (name.module == 0 || name.module >= atoms || name.name == 0 || name.name >= atoms)
            return damaged("an import has no name");
        imports.push_back(name);
    }
    return imports;
}

// Six numbers each: function, arity, label, index, free variables, uniq.
std::vector<CodeFun> read_funs(const Chunks& chunks) {
    std::vector<CodeFun> funs;
    const auto chunk = chunks.find("FunT");
    if (!chunk) return funs;
    ByteReader reader(*chunk);
    const std::uint32_t count = reader.four();
    if (count > reader.left() / 24) return funs;
    for (std::uint32_t i = 0; i < count; ++i) {
        reader.take(12);
        CodeFun fun;
        fun.index = reader.four();
        reader.four();
        fun.uniq = reader.four();
        funs.push_back(fun);
    }
    std::sort(funs.begin(), funs.end());
    return funs;
}

}  // namespace

Result<CodeModule> read_module(std::string_view bytes, std::vector<Stretch>* stretches) {
    if (bytes.size() > most_module_bytes) return Error{ErrorCode::resource_limit, "is too large for a module", {}};
    BH_TRY(const Chunks chunks, Chunks::read(bytes));
    CodeModule module;
    BH_TRY(module.atoms, read_atoms(chunks));
    if (module.atoms.size() < 2) return damaged("has no name");
    module.name = module.atoms[1];
    const std::string_view attributes = chunks.find("Attr").value_or("");
    const std::string_view compilation = chunks.find("CInf").value_or("");
    module.version = code_version(attributes, compilation);
    module.own_version = has_own_version(attributes);
    module.drops_lines = is_since_23(compilation);
    module.funs = read_funs(chunks);
    LineTable lines;
    if (const auto chunk = chunks.find("Line")) {
        BH_TRY(lines, read_lines(*chunk));
    }
    module.has_lines = lines.places.size() > 1;
    module.files = std::move(lines.files);
    if (module.files.empty()) module.files.resize(1);
    module.files[0] = module.name + ".erl";
    BH_TRY(const std::vector<CodeFunctionName> imports, read_imports(chunks, module.atoms.size()));
    const auto code = chunks.find("Code");
    if (!code) return damaged("has no code");
    BH_CHECK(walk_code(*code, imports, lines.places, module, stretches));
    return module;
}

}  // namespace beamheap::beam
