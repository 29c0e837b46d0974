// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/state_flag.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/record_fields.hpp"
#include "erlang/state_words.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_flag_records = 32;
constexpr std::uint64_t largest_flag_record = 64;
constexpr unsigned deepest_flag = 2;
constexpr std::size_t longest_reason = 200;

class FlagFinder {
public:
    FlagFinder(const Snapshot& snapshot, ProcId process, TermSource& terms)
        : terms_(terms), reader_(terms), state_(loop_state(snapshot, process, terms)) {
        scope_ = RecordScope(snapshot, process, terms, state_);
    }

    std::optional<StateFlag> find() {
        if (!state_ || state_->several() || state_->term.kind != ElementKind::object) return std::nullopt;
        records_.push_back({state_->term, Ours("its State"), 0});
        for (std::size_t i = 0; i < records_.size() && !found_; ++i) look_at(Record(records_[i]));
        return std::move(found_);
    }

private:
    struct Record {
        Element term;
        Sentence where;
        unsigned depth = 0;
    };

    // {true, <<"low on memory">>}, {blocked, "by the broker"}
    bool is_reason(const Element& term) const {
        const std::vector<Element> parts = reader_.tuple(term);
        if (parts.size() != 2 || !TermReader::is_atom(parts[0])) return false;
        if (parts[0].text != "true" && !erlang::says_held_up(parts[0].text)) return false;
        if (reader_.is_list(parts[1]) && !reader_.is_kind(parts[1], TermKind::cons)) return false;
        const auto text = reader_.text(parts[1], longest_reason);
        return text && text->find(' ') != std::string::npos;
    }

    bool tells(std::string_view name, const Element& value) const {
        if (TermReader::is_atom(value))
            return erlang::says_held_up(value.text) || (value.text == "true" && erlang::says_held_up(name)) ||
                   (value.text == "false" && erlang::says_that_it_goes_on(name));
        return is_reason(value);
    }

    void field(const Record& record, std::string_view name, const Element& value, const Sentence& step) {
        if (found_) return;
        const Sentence where = step_into(record.where, step);
        if (tells(name, value)) {
            found_ = StateFlag{where, copy_term(terms_, value)};
            return;
        }
        if (value.kind != ElementKind::object || record.depth == deepest_flag || records_.size() == most_flag_records)
            return;
        const TermKind kind = terms_.head(value.id).kind;
        if (kind == TermKind::tuple || kind == TermKind::flat_map) records_.push_back({value, where, record.depth + 1});
    }

    void look_at(const Record& record) {
        each_field(terms_, scope_, record.term.id, scope_.module(), largest_flag_record, [&](const RecordField& each) {
            // What a record begins with is its name.
            if (each.place == 1 && TermReader::is_atom(each.value)) return;
            if (each.key == nullptr || TermReader::is_atom(*each.key)) field(record, each.name, each.value, each.step);
        });
    }

    TermSource& terms_;
    TermReader reader_;
    std::optional<LoopState> state_;
    RecordScope scope_;
    std::vector<Record> records_;
    std::optional<StateFlag> found_;
};

}  // namespace

std::optional<StateFlag> state_flag(const Snapshot& snapshot, ProcId process, TermSource& terms) {
    if (terms.in_part()) return std::nullopt;
    return FlagFinder(snapshot, process, terms).find();
}

}  // namespace beamheap::analyses
