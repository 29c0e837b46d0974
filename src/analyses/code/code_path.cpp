// SPDX-License-Identifier: Apache-2.0
#include "analyses/code/code_path.hpp"

#include "erlang/term_reader.hpp"
#include "erlang/vm_calls.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_folders = 4000, longest_folder = 4096;

// A text whose end is a literal, which loading for stacks alone does not read: code_server makes the name of a folder
// out of its parent's and of the literal "/ebin".
std::optional<std::string> begun_text(const TermReader& terms, Element element) {
    std::string text;
    while (terms.is_kind(element, TermKind::cons) && text.size() < longest_folder) {
        ElementCursor cursor = terms.source().elements(element.id);
        Element first, rest;
        if (!terms.source().next(cursor, first) || !terms.source().next(cursor, rest)) return std::nullopt;
        if (first.kind != ElementKind::small || first.number <= 0 || first.number > 0x7f) return std::nullopt;
        text += static_cast<char>(first.number);
        element = rest;
    }
    if (text.empty() || element.kind == ElementKind::nil) return std::nullopt;
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text + "/ebin";
}

// A folder is a text; from OTP 26 on {Folder, Cache}.
std::optional<std::string> folder(const TermReader& terms, const Element& element) {
    if (auto text = terms.text(element, longest_folder)) return text;
    if (auto text = begun_text(terms, element)) return text;
    const std::vector<Element> pair = terms.tuple(element, 2);
    if (pair.empty()) return std::nullopt;
    auto text = terms.text(pair[0], longest_folder);
    return text ? text : begun_text(terms, pair[0]);
}

// {state, Supervisor, Root, Path, ...}
std::optional<CodePath> of_state(const TermReader& terms, const Element& state) {
    const auto begin = terms.begin_of(state);
    if (!begin || !TermReader::is(begin->first, "state") || begin->arity < 5 || begin->arity > 16) return std::nullopt;
    const std::vector<Element> members = terms.tuple(state);
    if (members.size() < 5 || !terms.is_list(members[3])) return std::nullopt;
    CodePath path;
    path.root = terms.text(members[2], longest_folder).value_or("");
    for (const Element& each : terms.list(members[3], most_folders))
        if (auto name = folder(terms, each); name && !name->empty()) path.folders.push_back(std::move(*name));
    if (path.folders.empty()) return std::nullopt;
    return path;
}

}  // namespace

std::optional<CodePath> code_path(Artifact& artifact) {
    const ProcId server = artifact.snapshot().find_registered(vm_calls::keeper_of_code_path);
    if (server == ProcId::none) return std::nullopt;
    const auto source = artifact.terms(server);
    if (!source) return std::nullopt;
    const TermReader terms(**source);
    for (std::uint32_t i = 0; i < (*source)->graph().roots().size(); ++i)
        if (auto path = of_state(terms, (*source)->root(i))) return path;
    return std::nullopt;
}

}  // namespace beamheap::analyses
