// SPDX-License-Identifier: Apache-2.0
// =loaded_modules, =mod:NAME (beam_bif_load.c, loaded() in break.c) and =fun (dump_fun_entries() in erl_fun.c).
#include <algorithm>

#include "formats/compiler_info.hpp"
#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {
namespace {

constexpr Field<Node> code_fields[] = {
    {"Current code: ", &Node::current_code_bytes},
    {"Old code: ", &Node::old_code_bytes},
};

// A module while its section is read.
struct ReadModule : Module {
    std::string attributes, compilation;
};

void ignore(Loader&, ReadModule&, std::string_view, std::uint64_t) {}

// Generated modules (parsers) have attributes of 64 KiB and more.
constexpr std::size_t most_term_bytes = 16u << 20;

// What is larger is cut, and tells nothing.
bool is_cut(const std::string& term) { return term.size() >= most_term_bytes; }

std::string external_term(const Loader& loader, std::string_view value) {
    TermStyle style;
    style.base64 = loader.dialect.version >= 5;
    std::string term;
    append_data(style, value, term, most_term_bytes);
    return term;
}

// Attributes and compilation info are external terms in hexadecimal or base64.
void read_compilation(Loader& loader, ReadModule& module, std::string_view value, std::uint64_t) {
    module.compilation = external_term(loader, value);
    if (const std::string_view source = source_of(module.compilation); !source.empty())
        module.source = loader.snapshot.texts.intern(source);
}

// Of the attributes {behaviour, [Name]} is asked for, in either spelling: its name and the list of atoms behind it, as
// bytes, too.
void read_attributes(Loader& loader, ReadModule& module, std::string_view value, std::uint64_t) {
    constexpr std::size_t most_names = 8;
    constexpr char atom_ext = 'd', small_atom_ext = 's', atom_utf8_ext = 'v', small_atom_utf8_ext = 'w';
    module.attributes = external_term(loader, value);
    const std::string& info = module.attributes;
    const auto byte = [&info](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(info[i])); };
    std::string names;
    for (std::size_t at = 0; (at = info.find("behavio", at)) != info.npos;) {
        at += info.compare(at, 9, "behaviour") == 0 ? 9 : 8;
        constexpr std::size_t head = 5;  // LIST_EXT and a length of four bytes
        if (at + head > info.size() || info[at] != 'l') continue;
        const std::size_t count = byte(at + 4);
        at += head;
        for (std::size_t i = 0; i < std::min(count, most_names) && at + 3 <= info.size(); ++i) {
            const char tag = info[at];
            const bool small = tag == small_atom_ext || tag == small_atom_utf8_ext;
            if (!small && tag != atom_ext && tag != atom_utf8_ext) break;
            const std::size_t length = small ? byte(at + 1) : byte(at + 1) << 8 | byte(at + 2);
            at += small ? 2 : 3;
            if (length > info.size() - at) break;
            names += (names.empty() ? "" : " ") + info.substr(at, length);
            at += length;
        }
    }
    if (!names.empty()) module.behaviours = loader.snapshot.texts.intern(names);
}

constexpr Field<ReadModule> module_fields[] = {
    {"Current size: ", &ReadModule::current_bytes},
    {"Current attributes: ", {}, {}, read_attributes},
    {"Current compilation info: ", {}, {}, read_compilation},
    {"Old size: ", &ReadModule::old_bytes},
    {"Old attributes: ", {}, {}, ignore},
    {"Old compilation info: ", {}, {}, ignore},
};

void read_fun_module(Loader& loader, FunEntry& fun, std::string_view value, std::uint64_t) {
    fun.module = loader.atom(value);
}
void read_address(Loader&, FunEntry& fun, std::string_view value, std::uint64_t) {
    if (const auto address = parse_hex(value)) fun.address = *address;
}
void read_refc(Loader&, FunEntry& fun, std::string_view value, std::uint64_t) { fun.refc = parse_decimal(value); }
void ignore_fun(Loader&, FunEntry&, std::string_view, std::uint64_t) {}

constexpr Field<FunEntry> fun_fields[] = {
    {"Module: ", {}, {}, read_fun_module}, {"Uniq: ", {}, &FunEntry::uniq},          {"Index: ", &FunEntry::index},
    {"Address: ", {}, {}, read_address},   {"Native_address: ", {}, {}, ignore_fun}, {"Refc: ", {}, {}, read_refc},
};

constexpr Always code_always[] = {{"Current code: "}, {"Old code: "}};
constexpr Always module_always[] = {{"Current size: "}};
constexpr Always fun_always[] = {{"Module: "}, {"Uniq: "}, {"Index: "}, {"Address: "}, {"Refc: "}};

}  // namespace

void read_loaded_modules(Loader& loader, const Section& section, std::string_view body) {
    read_fields(loader, std::span<const Field<Node>>(code_fields), loader.snapshot.node, section, body, code_always);
}

void read_module(Loader& loader, const Section& section, std::string_view body) {
    ReadModule module;
    std::string_view name = section.id;
    std::string storage;
    if (!take_atom(name, storage) || !name.empty())
        loader.anomalies().add(Anomaly::bad_line, section.offset, section.id);
    module.name = loader.atom(section.id);
    read_fields(loader, std::span<const Field<ReadModule>>(module_fields), module, section, body, module_always);
    if (!is_cut(module.attributes) && !is_cut(module.compilation))
        module.version = code_version(module.attributes, module.compilation);
    loader.snapshot.modules.push_back(module);
}

void read_fun(Loader& loader, const Section& section, std::string_view body) {
    FunEntry fun;
    read_fields(loader, std::span<const Field<FunEntry>>(fun_fields), fun, section, body, fun_always);
    loader.snapshot.funs.push_back(fun);
}

}  // namespace beamheap::crashdump
