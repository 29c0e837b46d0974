#include <array>

#include "formats/otp/layout/layout.hpp"

namespace beamheap::otp {
namespace {

constexpr Offsets otp23{
#include "formats/otp/layout/otp23.inc"
};
constexpr Offsets otp23_hipe{
#include "formats/otp/layout/otp23_hipe.inc"
};
constexpr Offsets otp24{
#include "formats/otp/layout/otp24.inc"
};
constexpr Offsets otp25{
#include "formats/otp/layout/otp25.inc"
};
constexpr Offsets otp26{
#include "formats/otp/layout/otp26.inc"
};
constexpr Offsets otp27{
#include "formats/otp/layout/otp27.inc"
};
constexpr Offsets otp29{
#include "formats/otp/layout/otp29.inc"
};

using enum Tag;

// erl_term.h, *_SUBTAG.
constexpr std::array<Tag, 16> tags_until_26{
    tuple,       match_state, positive_big, negative_big, reference,    fun,           floating,           export_fun,
    refc_binary, heap_binary, sub_binary,   unknown,      external_pid, external_port, external_reference, map};
constexpr std::array<Tag, 16> tags_since_27{
    tuple,     fun_reference, positive_big,     negative_big, reference,    fun,           floating,           unknown,
    heap_bits, sub_bits,      binary_reference, map,          external_pid, external_port, external_reference, unknown};
constexpr std::array<Tag, 16> tags_since_29{
    tuple,     unknown,  positive_big,     negative_big, reference,    fun,           floating,           record,
    heap_bits, sub_bits, binary_reference, map,          external_pid, external_port, external_reference, unknown};

constexpr Layout release_23(const Offsets& at, std::string_view source) {
    Layout layout;
    layout.release = 23;
    layout.source = source;
    layout.at = at;
    layout.tags = tags_until_26;
    layout.nil = 0xFFFFFFFFFFFFFFFBull;
    layout.pid_form = PidForm::data28;
    layout.external_pid_two_words = false;
    layout.empty_tuple_is_literal = false;
    layout.return_address_back = 8;
    layout.link_types = LinkTypes::until_23;
    layout.trap_exit_bit = 23;
    return layout;
}

constexpr Layout release_24(std::uint32_t release, const Offsets& at, std::string_view source) {
    Layout layout = release_23(at, source);
    layout.release = release;
    layout.nil = 0x3b;
    layout.external_pid_two_words = true;
    layout.empty_tuple_is_literal = release >= 25;
    layout.return_address_back = 1;
    layout.link_types = LinkTypes::since_24;
    layout.trap_exit_bit = 22;
    if (release >= 26) layout.pid_form = PidForm::shuffled60;
    return layout;
}

constexpr Layout release_27(std::uint32_t release, const Offsets& at, std::string_view source) {
    Layout layout = release_24(release, at, source);
    layout.tags = tags_since_27;
    layout.fun_in_header = true;
    layout.fun_carries_reference = true;
    layout.trace_hashes = TraceHashes::in_row;
    if (release >= 29) {
        layout.tags = tags_since_29;
        layout.atom_name_is_term = true;
        layout.fun_carries_reference = false;
        layout.link_types = LinkTypes::since_29;
        layout.trace_hashes = TraceHashes::blocks;
    }
    return layout;
}

constexpr std::array layouts{
    release_23(otp23, "table of OTP 23"),     release_24(24, otp24, "table of OTP 24"),
    release_24(25, otp25, "table of OTP 25"), release_24(26, otp26, "table of OTP 26"),
    release_27(27, otp27, "table of OTP 27"), release_27(29, otp29, "table of OTP 29"),
};
constexpr Layout hipe_23 = release_23(otp23_hipe, "table of OTP 23 with HiPE");

constexpr bool ascending() {
    for (std::size_t i = 1; i < layouts.size(); ++i)
        if (layouts[i - 1].release >= layouts[i].release) return false;
    return true;
}
static_assert(ascending(), "known_layouts() is in the order of releases");

constexpr FieldName names[] = {
#define X(member, structure, path) {#member, structure, path, &Offsets::member},
#include "formats/otp/layout/layout_fields.inc"
#undef X
};

}  // namespace

std::span<const Layout> known_layouts() { return layouts; }

const Layout& layout_of_hipe() { return hipe_23; }

const Layout& layout_for(std::uint32_t release) {
    const Layout* best = &layouts.front();
    for (const Layout& layout : layouts)
        if (layout.release <= release) best = &layout;
    return *best;
}

std::span<const FieldName> field_names() { return names; }

}  // namespace beamheap::otp
