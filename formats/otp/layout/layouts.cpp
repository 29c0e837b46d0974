// SPDX-License-Identifier: Apache-2.0
// The table of all rows, and how one is found in it. A new release, or a flavour of one, is its .inc and a row here;
// where it encodes something in a new way, its forms are those of the release before with that change.
#include "formats/otp/layout/layout.hpp"

namespace beamheap::otp {
namespace {

using enum Tag;

// erl_term.h, *_SUBTAG.
constexpr std::array<Tag, 16> tags_until_26{
    tuple,       match_state, positive_big, negative_big, reference,    fun,           floating,           export_fun,
    refc_binary, heap_binary, sub_binary,   unknown,      external_pid, external_port, external_reference, map};
constexpr std::array<Tag, 16> tags_since_27{
    tuple,     fun_reference, positive_big,     negative_big, reference,    fun,           floating,           unknown,
    heap_bits, sub_bits,      binary_reference, map,          external_pid, external_port, external_reference, unknown};
constexpr std::array<Tag, 16> tags_in_28{
    tuple,     unknown,  positive_big,     negative_big, reference,    fun,           floating,           unknown,
    heap_bits, sub_bits, binary_reference, map,          external_pid, external_port, external_reference, unknown};
constexpr std::array<Tag, 16> tags_since_29{
    tuple,     unknown,  positive_big,     negative_big, reference,    fun,           floating,           record,
    heap_bits, sub_bits, binary_reference, map,          external_pid, external_port, external_reference, unknown};

constexpr Forms forms_23 = [] {
    Forms forms;
    forms.tags = tags_until_26;
    forms.nil = 0xFFFFFFFFFFFFFFFBull;
    forms.pid_form = PidForm::data28;
    forms.external_pid_two_words = false;
    forms.empty_tuple_is_literal = false;
    forms.link_types = LinkTypes::until_23;
    forms.state_names = StateNames::until_23;
    forms.fixed_types = FixedTypes::until_23;
    forms.trap_exit_bit = 23;
    return forms;
}();
constexpr Forms forms_24 = [] {
    Forms forms = forms_23;
    forms.nil = 0x3b;
    forms.external_pid_two_words = true;
    forms.link_types = LinkTypes::in_24;
    forms.state_names = StateNames::since_24;
    forms.fixed_types = FixedTypes::since_24;
    forms.trap_exit_bit = 22;
    return forms;
}();
constexpr Forms forms_25 = [] {
    Forms forms = forms_24;
    forms.empty_tuple_is_literal = true;
    forms.link_types = LinkTypes::since_25;
    return forms;
}();
constexpr Forms forms_26 = [] {
    Forms forms = forms_25;
    forms.pid_form = PidForm::shuffled60;
    forms.state_names = StateNames::since_26;
    return forms;
}();
constexpr Forms forms_27 = [] {
    Forms forms = forms_26;
    forms.tags = tags_since_27;
    forms.fun_in_header = true;
    forms.fun_carries_reference = true;
    forms.trace_hashes = TraceHashes::in_row;
    return forms;
}();
constexpr Forms forms_28 = [] {
    Forms forms = forms_27;
    forms.tags = tags_in_28;
    forms.atom_name_is_term = true;
    forms.fun_carries_reference = false;
    forms.link_types = LinkTypes::since_28;
    forms.trace_hashes = TraceHashes::unknown;
    return forms;
}();
constexpr Forms forms_29 = [] {
    Forms forms = forms_28;
    forms.tags = tags_since_29;
    forms.trace_hashes = TraceHashes::blocks;
    return forms;
}();

constexpr Layout row(std::uint32_t release, Flavour flavour, Proof proof, std::string_view source, const Forms& forms,
                     const Offsets& at) {
    Layout layout;
    static_cast<Forms&>(layout) = forms;
    // The JIT's return addresses stand right behind a call, the interpreter's behind the call's word.
    layout.return_address_back = flavour == Flavour::jit ? 1 : 8;
    layout.release = release;
    layout.flavour = flavour;
    layout.proof = proof;
    layout.source = source;
    layout.at = at;
    return layout;
}

constexpr Layout layouts[] = {
    row(23, Flavour::interpreter, Proof::by_vm, "table of OTP 23", forms_23,
        {
#include "formats/otp/layout/otp23.inc"
        }),
    row(23, Flavour::hipe, Proof::from_source, "table of OTP 23 with HiPE", forms_23,
        {
#include "formats/otp/layout/otp23_hipe.inc"
        }),
    row(24, Flavour::interpreter, Proof::from_source, "table of OTP 24 without the JIT", forms_24,
        {
#include "formats/otp/layout/otp24_interpreter.inc"
        }),
    row(24, Flavour::jit, Proof::by_vm, "table of OTP 24", forms_24,
        {
#include "formats/otp/layout/otp24.inc"
        }),
    row(25, Flavour::interpreter, Proof::by_vm, "table of OTP 25 without the JIT", forms_25,
        {
#include "formats/otp/layout/otp25_interpreter.inc"
        }),
    row(25, Flavour::jit, Proof::by_vm, "table of OTP 25", forms_25,
        {
#include "formats/otp/layout/otp25.inc"
        }),
    row(26, Flavour::interpreter, Proof::from_source, "table of OTP 26 without the JIT", forms_26,
        {
#include "formats/otp/layout/otp26_interpreter.inc"
        }),
    row(26, Flavour::jit, Proof::by_vm, "table of OTP 26", forms_26,
        {
#include "formats/otp/layout/otp26.inc"
        }),
    row(27, Flavour::interpreter, Proof::by_vm, "table of OTP 27 without the JIT", forms_27,
        {
#include "formats/otp/layout/otp27_interpreter.inc"
        }),
    row(27, Flavour::jit, Proof::by_vm, "table of OTP 27", forms_27,
        {
#include "formats/otp/layout/otp27.inc"
        }),
    row(28, Flavour::interpreter, Proof::from_source, "table of OTP 28 without the JIT", forms_28,
        {
#include "formats/otp/layout/otp28_interpreter.inc"
        }),
    row(28, Flavour::jit, Proof::from_source, "table of OTP 28", forms_28,
        {
#include "formats/otp/layout/otp28.inc"
        }),
    row(29, Flavour::interpreter, Proof::from_source, "table of OTP 29 without the JIT", forms_29,
        {
#include "formats/otp/layout/otp29_interpreter.inc"
        }),
    row(29, Flavour::jit, Proof::by_vm, "table of OTP 29", forms_29,
        {
#include "formats/otp/layout/otp29.inc"
        }),
};

constexpr bool ascending() {
    for (std::size_t i = 1; i < std::size(layouts); ++i)
        if (layouts[i - 1].release > layouts[i].release ||
            (layouts[i - 1].release == layouts[i].release && layouts[i - 1].flavour >= layouts[i].flavour))
            return false;
    return true;
}
static_assert(ascending(), "known_layouts() is in the order of releases, each flavour once");

constexpr FieldName names[] = {
#define X(member, structure, path) {#member, structure, path, &Offsets::member},
#include "formats/otp/layout/layout_fields.inc"
#undef X
};

}  // namespace

std::span<const Layout> known_layouts() { return layouts; }

const Layout* find_layout(std::uint32_t release, Flavour flavour) {
    for (const Layout& layout : layouts)
        if (layout.release == release && layout.flavour == flavour) return &layout;
    return nullptr;
}

std::vector<const Layout*> nearest_layouts(std::uint32_t release, Flavour flavour) {
    const Layout *older = nullptr, *newer = nullptr;
    for (const Layout& layout : layouts) {
        if (layout.flavour != flavour) continue;
        if (layout.release < release) older = &layout;
        if (layout.release > release && newer == nullptr) newer = &layout;
    }
    std::vector<const Layout*> nearest;
    for (const Layout* each : {older, newer})
        if (each != nullptr) nearest.push_back(each);
    return nearest;
}

std::span<const FieldName> field_names() { return names; }

}  // namespace beamheap::otp
