// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/heaps/heap_objects.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::uint64_t largest_object = 0xFFFFFFF0ull;  // words; what HeapGraph can tell

ObjectShape leaf(TermKind kind, std::uint64_t words) { return {kind, words, 0, 0}; }

ObjectShape map_shape(const std::byte* p, std::uint64_t available, Word header) {
    const auto filled = static_cast<std::uint64_t>(__builtin_popcount(static_cast<unsigned>(header >> 16) & 0xffff));
    switch (header >> 6 & 3) {
        case 0: {
            const std::uint64_t pairs = available < 3 ? ~0ull : load<Word>(p + 8);
            if (pairs > largest_object - 3) return {};
            return {TermKind::flat_map, 3 + pairs, 2, 1 + pairs};
        }
        case 1: return {TermKind::hash_node, 1 + filled, 1, filled};
        case 2: return {TermKind::hash_map, 2 + 16, 2, 16};
        default: return {TermKind::hash_map, 2 + filled, 2, filled};
    }
}

ObjectShape fun_shape(const Layout& layout, const std::byte* p, std::uint64_t available, Word header) {
    if (layout.fun_in_header) {
        if (layout.fun_carries_reference) {
            const std::uint64_t environment = header >> 16;
            if (environment > 256) return {};
            return {environment == 0 ? TermKind::external_fun : TermKind::fun, 2 + environment, 2, environment};
        }
        // OTP 29: arity, environment, and a bit for external ones, in a byte each.
        const std::uint64_t environment = header >> 16 & 0xff;
        return {(header >> 24 & 1) != 0 ? TermKind::external_fun : TermKind::fun, 2 + environment, 2, environment};
    }
    const std::uint64_t head = layout.at.fun_environment / 8;
    if (available < head) return {};
    // A byte since OTP 25, a word before; funs have at most 255 free variables.
    const std::uint64_t free = layout.at.fun_free_count % 8 != 0
                                   ? std::to_integer<std::uint64_t>(p[layout.at.fun_free_count])
                                   : load<Word>(p + layout.at.fun_free_count);
    if (free > 255) return {};
    const auto creator = load<Word>(p + layout.at.fun_environment - 8);
    const bool external = is_atom(creator);  // am_external since OTP 25; a pid else
    return {external ? TermKind::external_fun : TermKind::fun, head + free, head - 1, 1 + free};
}

}  // namespace

ObjectShape shape_of(const Layout& layout, const std::byte* p, std::uint64_t available) {
    if (available == 0) return {};
    const auto header = load<Word>(p);
    if (!is_header(header)) return {};
    const std::uint64_t arity = header_arity(header);
    ObjectShape shape;
    switch (layout.tags[header_subtag(header)]) {
        case Tag::tuple:
        case Tag::record: shape = {TermKind::tuple, 1 + arity, 1, arity}; break;
        case Tag::positive_big:
        case Tag::negative_big: shape = leaf(TermKind::bignum, 1 + arity); break;
        case Tag::floating: shape = leaf(TermKind::float_number, 1 + arity); break;
        case Tag::reference: shape = leaf(TermKind::reference, 1 + arity); break;
        case Tag::export_fun: shape = leaf(TermKind::external_fun, 1 + arity); break;
        case Tag::refc_binary: shape = leaf(TermKind::refc_binary, 1 + arity); break;
        case Tag::heap_binary:
        case Tag::heap_bits: shape = leaf(TermKind::heap_binary, 1 + arity); break;
        case Tag::binary_reference: shape = leaf(TermKind::binary_reference, 1 + arity); break;
        case Tag::fun_reference: shape = leaf(TermKind::fun_reference, 1 + arity); break;
        case Tag::external_pid: shape = leaf(TermKind::external_pid, 1 + arity); break;
        case Tag::external_port: shape = leaf(TermKind::external_port, 1 + arity); break;
        case Tag::external_reference: shape = leaf(TermKind::external_reference, 1 + arity); break;
        case Tag::sub_binary: shape = {TermKind::sub_binary, 5, 4, 1}; break;  // its arity leaves the base out
        case Tag::match_state: shape = {TermKind::match_context, 1 + arity, 1, 1}; break;
        case Tag::sub_bits:
            // A match context is one that may move and is not writable.
            if (available < 5) return {};
            shape = {(load<Word>(p + 8) & 3) == 1 ? TermKind::match_context : TermKind::refc_binary, 5, 4, 1};
            break;
        case Tag::map: shape = map_shape(p, available, header); break;
        case Tag::fun: shape = fun_shape(layout, p, available, header); break;
        case Tag::unknown: return {};
    }
    if (shape.words == 0 || shape.words > available || shape.words > largest_object ||
        shape.first_term + shape.terms > shape.words)
        return {};
    return shape;
}

}  // namespace beamheap::otp
