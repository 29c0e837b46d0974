// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/tables/ets_objects.hpp"

#include <algorithm>

#include "formats/otp/tables/ets_status.hpp"
#include "formats/otp/vm/cycle.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

// erl_db_hash.c: the first segment has 256 buckets, each further one 2048; indexes are shifted so that one formula
// does.
constexpr std::uint64_t segment_shift = 11, segment_mask = (1u << segment_shift) - 1, first_missing = 2048 - 256;
constexpr std::uint64_t most_buckets = 1ull << 32;
constexpr std::size_t deepest_tree = 128;  // an AVL tree or a CA tree of this height holds more than any memory
constexpr std::uint64_t largest_object = 1ull << 32;  // words

class Walk {
public:
    Walk(Decoder& reader, std::uint64_t table, std::uint64_t limit, Count counted)
        : reader_(reader),
          at_(reader.at),
          table_(table),
          limit_(limit),
          counted_(counted),
          most_nodes_(most_of(reader, table, counted)) {}

    EtsObjects run() {
        const auto status = reader_.memory.word32(table_ + at_.ets_status);
        const auto key = reader_.memory.word32(table_ + at_.ets_key_position);
        if (!status || !key || *key == 0 || *key > 255) {
            found_.damaged = true;
            return std::move(found_);
        }
        found_.key = *key;
        found_.compressed = reader_.memory.value<std::uint8_t>(table_ + at_.ets_compressed).value_or(0) != 0;
        if ((*status & (ets_status::set | ets_status::bag | ets_status::duplicate_bag)) != 0) hash();
        else if ((*status & ets_status::ca_ordered_set) != 0) concurrent();
        else if ((*status & ets_status::ordered_set) != 0) tree(reader_.memory.word(table_ + at_.ets_tree_root));
        else found_.damaged = true;
        // All that the table counts are there, unless somebody takes out one at this very moment.
        if (!found_.more && counted_.has() && found_.objects.size() < *counted_) found_.damaged = true;
        return std::move(found_);
    }

    Count deleted() {
        only_deleted_ = true;
        hash();
        return found_.damaged ? Count() : Count(deleted_);
    }

private:
    // Takes the object whose DbTerm is at this address; false where the walk shall end.
    bool take(std::uint64_t term) {
        if (found_.objects.size() >= limit_) {
            found_.more = true;
            return false;
        }
        const std::uint64_t tuple = term + at_.ets_term_tuple;
        const auto header = reader_.memory.word(tuple);
        const auto words = reader_.memory.word(term + at_.ets_term_size);
        if (!header || !words || !is_header(*header) || header_subtag(*header) != 0 || *words > largest_object)
            return damage();
        const std::uint64_t arity = header_arity(*header);
        EtsObject object{tuple, *words};
        // The size that is noted is the term's own; a compressed one tells its bytes behind its elements.
        if (found_.compressed) {
            const auto bytes = reader_.memory.word(tuple + 8 * (arity + 1));
            object.words = bytes && *bytes > at_.ets_term_tuple && *bytes / 8 < largest_object
                               ? (*bytes - at_.ets_term_tuple) / 8
                               : 0;
        }
        if (arity < found_.key || arity >= object.words) return damage();
        found_.objects.push_back(object);
        return true;
    }
    bool damage() {
        found_.damaged = true;
        return false;
    }

    void hash() {
        const auto count = reader_.memory.word(table_ + at_.ets_hash_buckets);
        const auto segments = reader_.memory.word(table_ + at_.ets_hash_segments);
        if (!count || !segments || *count > most_buckets) {
            found_.damaged = true;
            return;
        }
        for (std::uint64_t i = 0; i < *count; ++i) {
            const auto segment = reader_.memory.word(*segments + 8 * ((i + first_missing) >> segment_shift));
            const auto bucket = segment ? reader_.memory.word(*segment + 8 * (i & segment_mask)) : std::nullopt;
            if (!bucket) {
                found_.damaged = true;
                return;
            }
            if (!chain(*bucket)) return;
        }
    }

    bool chain(std::uint64_t first) {
        Cycle cycle;
        for (std::uint64_t node = first; node != 0;) {
            const std::byte* p = reader_.memory.at(node, at_.ets_hash_term);
            if (p == nullptr || cycle.closed_by(node) || ++seen_ > most_nodes_) return damage();
            // Deleted while somebody goes through the table.
            if ((std::to_integer<unsigned>(p[at_.ets_hash_hidden]) & hidden_mask()) != 0) ++deleted_;
            else if (!only_deleted_ && !take(node + at_.ets_hash_term)) return false;
            node = load<Word>(p);
        }
        return true;
    }

    // A word of its own until OTP 27; the highest bit of the hash value since, of which the layout knows the byte.
    unsigned hidden_mask() const { return at_.ets_hash_hidden % 8 == 7 ? 0x80 : 0xff; }

    // TreeDbTerm: left, right, balance, dbterm. In order of keys.
    bool tree(std::optional<std::uint64_t> root) {
        if (!root) return damage();
        std::vector<std::uint64_t> above;
        for (std::uint64_t node = *root; node != 0 || !above.empty();) {
            while (node != 0) {
                const auto left = reader_.memory.word(node);
                if (!left || above.size() >= deepest_tree) return damage();
                above.push_back(node);
                node = *left;
            }
            node = above.back();
            above.pop_back();
            if (!take(node + at_.ets_tree_term)) return false;
            const auto right = reader_.memory.word(node + 8);
            // Each node is above what comes after it, or taken: a circle would give more objects than were asked for,
            // or than any table has.
            if (!right || ++seen_ > most_nodes_) return damage();
            node = *right;
        }
        return true;
    }

    // DbTableCATreeNode: base nodes hold a tree each, route nodes two further ones.
    void concurrent() {
        const auto root = reader_.memory.word(table_ + at_.ets_catree_root);
        std::vector<std::uint64_t> pending;
        if (root && *root != 0) pending.push_back(*root);
        while (!pending.empty()) {
            const std::uint64_t node = pending.back();
            pending.pop_back();
            const auto is_base = reader_.memory.value<std::uint8_t>(node);
            if (!is_base || ++seen_ > most_nodes_) {
                found_.damaged = true;
                return;
            }
            if (*is_base != 0) {
                if (!tree(reader_.memory.word(node + at_.ets_catree_base_root))) return;
                continue;
            }
            const auto left = reader_.memory.word(node + at_.ets_catree_left),
                       right = reader_.memory.word(node + at_.ets_catree_right);
            if (!left || !right || pending.size() >= deepest_tree) {
                found_.damaged = true;
                return;
            }
            pending.push_back(*right);
            pending.push_back(*left);
        }
    }

    // No more than the image could hold, of which a node has at least six words; and no more than the table says, with
    // room for objects on their way out, for the nodes between trees, and for counts that lag behind. Deleted objects
    // that a fixed table keeps are in no count.
    static std::uint64_t most_of(Decoder& reader, std::uint64_t table, Count counted) {
        const std::uint64_t held = reader.memory.space().bytes() / 48 + 1;
        if (reader.memory.word(table + reader.at.ets_fixed).value_or(0) != 0) return held;
        return counted.has() && *counted < held ? std::min(held, 4 * *counted + 4096) : held;
    }

    Decoder& reader_;
    const Offsets& at_;
    std::uint64_t table_, limit_;
    Count counted_;
    std::uint64_t most_nodes_;
    std::uint64_t seen_ = 0, deleted_ = 0;
    bool only_deleted_ = false;
    EtsObjects found_;
};

}  // namespace

EtsObjects read_ets_objects(Decoder& reader, std::uint64_t table, std::uint64_t limit, Count counted) {
    return Walk(reader, table, limit, counted).run();
}

Count read_ets_deleted(Decoder& reader, std::uint64_t table) { return Walk(reader, table, 0, {}).deleted(); }

}  // namespace beamheap::otp
