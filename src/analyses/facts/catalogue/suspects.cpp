// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/suspects.hpp"

#include <algorithm>
#include <map>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/heaps/accumulation.hpp"
#include "analyses/heaps/copies.hpp"
#include "analyses/heaps/messages.hpp"
#include "analyses/heaps/term_digest.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "analyses/memory/idle_heaps.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t least_binary_bytes = 8u << 20;  // of the node, and of a process to be looked at
constexpr std::size_t most_holders = 64, most_of_kind = 16;
constexpr std::uint64_t least_messages = 1'000;
constexpr std::uint64_t few_messages = 100;  // where binaries are much of the node, which messages may keep
constexpr std::uint64_t heavy_bytes = 8u << 20;
constexpr double heavy_percent = 30;
constexpr std::uint64_t little_words = 600'000;  // of all heaps, also with --full: of a stream their text is kept
constexpr std::size_t most_objects = 200;        // of a message, when its binaries are looked for
constexpr std::uint64_t least_heap_bytes = 8u << 20;
// Where no heap is that large: the largest stands for many like it, if they are much together (big-heap).
constexpr std::uint64_t least_of_many_bytes = 256u << 10, many_heaps_bytes = 8u << 20;
constexpr std::uint64_t holds_much = 4;  // a quarter of what all processes hold
constexpr std::size_t most_term_suspects = 3;
constexpr std::uint64_t least_alike = 10, least_of_alike = 1u << 20, part_of_alike = 5;
constexpr std::uint64_t most_compared = 200'000;  // objects of a term that may be the same in several processes
constexpr std::uint64_t most_compared_of_key = 100;
constexpr std::uint64_t least_living = 10'000;  // elements
constexpr double most_percent = 50;
constexpr std::size_t most_messages = 2'000;
constexpr std::size_t most_shares = 3;
constexpr std::uint64_t least_copies = 100;  // elements of a collection

// What --full may look into.
constexpr SuspectBudget everything{.sample_words = 64'000'000,
                                   .term_words = 32'000'000,
                                   .heap_words = 32'000'000,
                                   .messages = 200'000,
                                   .giant_words = 256'000'000,
                                   .giant_messages = 16'000'000};

bool has(const std::vector<ProcId>& sorted, ProcId id) {
    return std::binary_search(sorted.begin(), sorted.end(), id,
                              [](ProcId a, ProcId b) { return index_of(a) < index_of(b); });
}

void sort_unique(std::vector<ProcId>& ids) {
    std::ranges::sort(ids, {}, [](ProcId id) { return index_of(id); });
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

std::uint64_t virtual_bytes(const Snapshot& s, const Process& p) {
    const std::uint64_t words = virtual_heap_words(p).value_or(0);
    return saturating_multiply(words, s.source.word_size);
}

// Of many of one kind that hold much together, and none of them much: some, from the one that holds most to the one
// that holds least.
std::vector<ProcId> holders_of_kinds(const Snapshot& s) {
    std::map<FunctionId, std::vector<ProcId>> kinds;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (const FunctionId kind = first_call(s.processes[i]);
            kind != FunctionId::none && virtual_bytes(s, s.processes[i]) != 0)
            kinds[kind].push_back(ProcId{i});
    std::vector<ProcId> found;
    for (auto& [kind, members] : kinds) {
        std::uint64_t bytes = 0;
        for (const ProcId id : members) bytes = saturating_add(bytes, virtual_bytes(s, s[id]));
        if (members.size() < least_alike || bytes < least_binary_bytes) continue;
        std::ranges::stable_sort(members, std::ranges::greater(), [&](ProcId id) { return virtual_bytes(s, s[id]); });
        const std::size_t taken = std::min(members.size(), most_of_kind);
        for (std::size_t i = 0; i < taken; ++i) found.push_back(members[i * members.size() / taken]);
    }
    return found;
}

// Those that hold many bytes of binaries, most first.
std::vector<ProcId> binary_holders_of(const Snapshot& s, std::uint64_t most_words) {
    std::vector<ProcId> found;
    if (s.memory_bytes("binary").value_or(0) < least_binary_bytes) return found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (virtual_bytes(s, s.processes[i]) >= least_binary_bytes) found.push_back(ProcId{i});
    std::ranges::stable_sort(found,
                             [&](ProcId a, ProcId b) { return virtual_bytes(s, s[a]) > virtual_bytes(s, s[b]); });
    if (found.size() > most_holders) found.resize(most_holders);
    for (const ProcId id : holders_of_kinds(s))
        if (std::ranges::find(found, id) == found.end()) found.push_back(id);
    std::uint64_t words = 0;
    std::erase_if(found, [&](ProcId id) {
        const std::uint64_t more = used_words(s[id]).value_or(0);
        if (more > most_words - words) return true;
        words += more;
        return false;
    });
    return found;
}

// Whether binaries are much of the node, while all heaps together are little: then whose they are costs nothing to
// know.
bool small_beside_binaries(const Snapshot& s) {
    const Count binaries = s.memory_bytes("binary");
    if (binaries.value_or(0) < heavy_bytes || percent_of(binaries, s.memory_bytes("total")).value_or(0) < heavy_percent)
        return false;
    std::uint64_t words = 0;
    for (const Process& process : s.processes)
        words =
            saturating_add(words, used_words(process).value_or(process.memory_bytes.value_or(0) / s.source.word_size));
    return words <= little_words;
}

// The most frequent of what was counted, as shares of all; equally frequent ones by their order.
template <class Share, class What>
std::vector<Share> shares(const std::map<What, std::uint64_t>& counts, std::uint64_t all) {
    std::vector<std::pair<std::uint64_t, What>> sorted;
    for (const auto& [what, count] : counts) sorted.emplace_back(count, what);
    std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& each) { return each.first; });
    std::vector<Share> out;
    for (auto& [count, what] : sorted) {
        if (out.size() == most_shares) break;
        out.push_back({std::move(what), 100.0 * static_cast<double>(count) / static_cast<double>(all)});
    }
    return out;
}

/// Whether an object may show bytes of a binary outside: those that can't, by their kind, need not be read for that.
bool may_show_binary(const TermSource& terms, ObjectId id) {
    if (id.space == ObjectId::Space::decoded) return true;
    const HeapGraph& graph = id.space == ObjectId::Space::literals ? *terms.literals() : terms.graph();
    switch (graph.kind(id.number)) {
        case TermKind::cons:
        case TermKind::tuple:
        case TermKind::float_number:
        case TermKind::bignum:
        case TermKind::heap_binary:
        case TermKind::flat_map:
        case TermKind::hash_map:
        case TermKind::hash_node: return false;
        default: return true;
    }
}

// What the values of a collection have each a copy of; what they share is none.
Sentence copies_within(const Snapshot& s, TermSource& terms, TermMeasures& measures, const CollectionShape& shape) {
    constexpr std::uint64_t much = 3;  // of what a value has: a third of it
    const std::vector<Element>& values = shape.values.empty() ? shape.keys : shape.values;
    if (shape.count < least_copies) return {};
    CommonParts parts;
    std::uint64_t words = 0;
    for (const Element& value : values) {
        parts.add(terms, measures, std::span(&value, 1));
        words = saturating_add(words, measures.flat_words(value).value_or(0));
    }
    const auto common = parts.best(values.size());
    if (!common || common->words < words / values.size() / much) return {};
    return sentence("a copy of one term, {} ({})", common->what,
                    Amount{saturating_multiply(common->words, s.source.word_size), AmountUnit::bytes});
}

// Adds the binaries that a message refers to.
void add_binaries(TermSource& terms, const Element& message, std::map<std::uint64_t, std::uint64_t>& binaries) {
    std::vector<Element> left{message};
    for (std::size_t i = 0; i < left.size() && i < most_objects; ++i) {
        if (left[i].kind != ElementKind::object) continue;
        if (may_show_binary(terms, left[i].id)) {
            const ObjectHead head = terms.head(left[i].id);
            if (head.binary != 0) binaries.emplace(head.binary, terms.binary_size(head.binary).value_or(head.size));
        }
        ElementCursor cursor = terms.elements(left[i].id);
        for (Element element; left.size() < most_objects && terms.next(cursor, element);) left.push_back(element);
    }
}

// The group that holds most, where its members are many and hold much; nullptr: there is none.
const ProcessGroup* largest_kind(const ProcessGroups& groups, std::uint64_t of_all) {
    const auto most = std::ranges::max_element(
        groups.groups, {}, [](const ProcessGroup& group) { return group.size_bytes.value().value_or(0); });
    if (most == groups.groups.end() || most->count < least_alike) return nullptr;
    const std::uint64_t held = most->size_bytes.value().value_or(0);
    return held < least_of_alike || held < of_all / part_of_alike ? nullptr : &*most;
}

// Whether one of a group has a fifth of what all of it have: those with names of their own are of many sorts then.
bool stands_out(const Snapshot& s, const ProcessGroup& group) {
    return process_bytes(s[group.example], s.source.word_size).value_or(0) >= group.size_bytes.value().value_or(0) / 5;
}

// Whose the middle one of the bytes of processes is that are alike, and those of the quarters: typical ones, whatever
// smaller ones are counted with them, as the table of processes tells of many servers that they are servers.
std::vector<ProcId> typical(const Snapshot& s, const std::vector<ProcId>& all, std::uint64_t of_all) {
    ProcessGroups groups = group_alike(s, all);
    const ProcessGroup* most = largest_kind(groups, of_all);
    if (most == nullptr) {  // those with a name of their own each: shards, carts, partitions
        groups = group_by_initial_call(s, all);
        most = largest_kind(groups, of_all);
        if (most != nullptr && stands_out(s, *most)) return {};
    }
    if (most == nullptr) return {};
    const std::uint64_t held = most->size_bytes.value().value_or(0);
    const std::span<const ProcId> members = groups.members_of(*most);
    const auto size = [&](ProcId id) { return process_bytes(s[id], s.source.word_size).value_or(0); };
    std::vector<std::uint64_t> sorted;
    sorted.reserve(members.size());
    for (const ProcId id : members) sorted.push_back(size(id));
    std::ranges::sort(sorted);
    std::vector<ProcId> found;
    for (const std::uint64_t quarter : {std::uint64_t{2}, std::uint64_t{1}, std::uint64_t{3}}) {
        std::uint64_t sum = 0;
        const auto at = std::ranges::find_if(
            sorted, [&](std::uint64_t bytes) { return (sum = saturating_add(sum, bytes)) >= held / 4 * quarter; });
        if (at == sorted.end()) continue;
        // Those of one size are in the order of the table.
        auto before = at - std::ranges::lower_bound(sorted, *at);
        const auto member = std::ranges::find_if(members, [&](ProcId id) { return size(id) == *at && before-- == 0; });
        if (std::ranges::find(found, *member) == found.end()) found.push_back(*member);
    }
    return found;
}

}  // namespace

bool Suspects::decode(ProcId id) const { return has(heaps, id); }
bool Suspects::look_into(ProcId id) const { return has(terms, id) || is_alike(id); }
bool Suspects::is_alike(ProcId id) const { return std::ranges::find(alike, id) != alike.end(); }

Suspects suspects(const Snapshot& s, const SuspectBudget& budget) {
    Suspects found;
    found.heaps = idle_samples(s, idle_groups(s), budget.sample_words);
    const std::vector<ProcId> all = all_processes(s);
    found.all_binaries = small_beside_binaries(s);
    found.binaries = found.all_binaries ? all : binary_holders_of(s, budget.sample_words);
    found.heaps.insert(found.heaps.end(), found.binaries.begin(), found.binaries.end());
    std::uint64_t of_all = 0;
    for (const Process& process : s.processes)
        of_all = saturating_add(of_all, process_bytes(process, s.source.word_size).value_or(0));
    // messages may lie outside of the heap
    const auto within = [&](ProcId id, std::uint64_t words) {
        const std::uint64_t with_messages =
            s[id].msgq_len.value_or(0) == 0 ? 0 : s[id].memory_bytes.value_or(0) / s.source.word_size;
        const bool most = process_bytes(s[id], s.source.word_size).value_or(0) >= of_all / holds_much;
        return std::max(used_words(s[id]).value_or(0), with_messages) <= (most ? budget.giant_words : words) &&
               s[id].msgq_len.value_or(0) <= (most ? budget.giant_messages : budget.messages);
    };
    const Count binaries = s.memory_bytes("binary");
    const bool much = binaries.value_or(0) >= heavy_bytes &&
                      percent_of(binaries, s.memory_bytes("total")).value_or(0) >= heavy_percent;
    for (const ProcId id : largest(s, all, &Process::msgq_len, most_term_suspects))
        if (s[id].msgq_len.value_or(0) >= (much ? few_messages : least_messages) && within(id, budget.term_words))
            found.terms.push_back(id);
    for (const ProcId id : largest(s, all, 1)) {
        const std::uint64_t words = allocated_words(s[id]);
        const std::uint64_t bytes = saturating_multiply(words, s.source.word_size);
        // (What the VM says of processes has their table in it, of 12 MiB since 27.)
        const bool of_many = bytes >= least_of_many_bytes && of_all >= many_heaps_bytes &&
                             s.memory_bytes("processes").value_or(0) >= many_heaps_bytes;
        if ((bytes >= least_heap_bytes || of_many) && within(id, budget.heap_words)) found.terms.push_back(id);
    }
    found.alike = typical(s, all, of_all);
    bool first = true;  // it tells what all of them hold
    std::erase_if(found.alike, [&](ProcId id) {
        const std::uint64_t words = first ? budget.heap_words : budget.term_words;
        first = false;
        return !within(id, words);
    });
    sort_unique(found.heaps);
    sort_unique(found.binaries);
    sort_unique(found.terms);
    return found;
}

// Which of `all` messages is the one of number `i` among the `read`: one from each equal part of the queue, at a place
// in it that differs, since messages of two kinds may come in turns.
static std::size_t sampled(std::size_t i, std::size_t read, std::size_t all) {
    const std::size_t first = i * all / read, next = (i + 1) * all / read;
    return first + (i * 2'654'435'761u >> 8) % (next - first);
}

TermFacts look_into(const Snapshot& s, ProcId process, TermSource& terms, bool alike) {
    constexpr std::uint64_t cell_words = 2;  // of a list
    TermFacts facts;
    facts.process = process;
    const RootList& roots = terms.graph().roots();
    const auto is_message = [](const Root& root) { return root.kind == RootKind::message; };
    const auto messages = static_cast<std::size_t>(std::ranges::count_if(roots, is_message));
    facts.messages_listed = messages;
    TermMeasures measures(terms);
    if (messages >= few_messages) {
        std::map<std::uint64_t, std::uint64_t> binaries;
        std::map<std::string, std::uint64_t> shapes;
        std::map<Sender, std::uint64_t> senders;
        facts.messages_read = std::min(messages, most_messages);
        std::size_t root = 0, message = 0;
        std::uint64_t copied = 0;
        for (std::size_t i = 0; i < facts.messages_read; ++i, ++root, ++message) {
            const std::size_t wanted = sampled(i, facts.messages_read, messages);
            for (;; ++root) {
                if (!is_message(roots[root])) continue;
                if (message == wanted) break;
                ++message;
            }
            const Element content = terms.root(root);
            copied = saturating_add(copied, cell_words + measures.flat_words(content).value_or(0));
            add_binaries(terms, content, binaries);
            if (std::string shape = shape_of(terms, content); !shape.empty()) ++shapes[std::move(shape)];
            if (const Sender sender = sender_of_root(terms, root); sender.has()) ++senders[sender];
        }
        facts.queue_copy_words = saturating_multiply(copied, messages) / facts.messages_read;
        facts.shapes = shares<TermFacts::Share>(shapes, facts.messages_read);
        facts.senders = shares<TermFacts::FromSender>(senders, facts.messages_read);
        std::uint64_t bytes = 0;
        for (const auto& [address, size] : binaries) bytes = saturating_add(bytes, size);
        // Where messages have binaries of their own, those that were not read have as many.
        if (binaries.size() * 2 > facts.messages_read)
            bytes = saturating_multiply(bytes / facts.messages_read, messages);
        facts.message_binary_bytes = bytes;
    }
    for (NodeId node = 0; alike && node < terms.graph().size(); ++node)
        facts.references += terms.graph().kind(node) == TermKind::reference;
    if (!terms.in_part() && s[process].has_heap && !s[process].registers_lost && !s[process].sensitive.value_or(false))
        facts.live_words = measures.live_words();
    // (Asked of heaps that seem to be garbage: the others are explained by what is seen.)
    const bool little = facts.live_words.has() && *facts.live_words < used_words(s[process]).value_or(0) / 4;
    const std::uint32_t plain = little ? terms.graph().plain_fun_words() : 0;
    for (NodeId node = 0; plain != 0 && !facts.hides_captures && node < terms.graph().size(); ++node)
        facts.hides_captures = terms.graph().kind(node) == TermKind::fun && terms.graph().words(node) > plain;
    const Accumulation point = accumulation(s, process, terms, measures);
    if (point.state) facts.server = loop_in_words(*point.state);
    // A heap that is mostly garbage, or was caught while it was moved, is not explained by what is live in it.
    const bool explains = saturating_multiply(point.words, 4) >= used_words(s[process]).value_or(0);
    if (!point.what.empty() && !explains && point.percent >= most_percent && point.term.kind == ElementKind::object)
        if (const auto shape = collection_shape(terms, point.term); shape && shape->count >= least_living)
            facts.living.say("{}, {}", point.where, point.what);
    if (!point.what.empty() && explains) {
        facts.accumulation.say("{}, {}, keeps {} of what is live ({})", point.where, point.what, Percent{point.percent},
                               Amount{saturating_multiply(point.words, s.source.word_size), AmountUnit::bytes});
        facts.accumulated.say("{}, {}", point.where, point.what);
        facts.accumulated_fresh_keys = point.fresh_keys;
        facts.accumulated_bytes = saturating_multiply(point.words, s.source.word_size);
        if (const auto shape =
                point.term.kind == ElementKind::object ? collection_shape(terms, point.term) : std::nullopt) {
            facts.accumulated_count = shape->count;
            facts.accumulated_processes = named_processes(s, terms, *shape);
            facts.accumulated_copies = copies_within(s, terms, measures, *shape);
            if (alike && !shape->values.empty())
                facts.accumulated_keys = terms_digest(terms, shape->keys, most_compared_of_key);
        }
        if (alike && point.term.kind == ElementKind::object)
            facts.accumulated_digest = term_digest(terms, point.term, most_compared);
        if (!s.source.kind.whole_heaps) facts.accumulation_confidence = Confidence::lower_bound;
    }
    return facts;
}

Result<Suspects> find_fact(FactOf<Suspects>, const Facts& facts) {
    return suspects(facts.snapshot(), facts.options().full ? everything : SuspectBudget{});
}

Result<SuspectTerms> find_fact(FactOf<SuspectTerms>, const Facts& facts, Artifact& artifact) {
    SuspectTerms found;
    const Suspects& suspects = facts.get<Suspects>();
    std::vector<ProcId> all = suspects.terms;
    all.insert(all.end(), suspects.alike.begin(), suspects.alike.end());
    sort_unique(all);
    for (const ProcId id : all)
        if (const auto terms = artifact.terms(id))
            found.processes.push_back(look_into(facts.snapshot(), id, **terms, suspects.is_alike(id)));
    return found;
}

namespace fact {
void suspects(FactNeeds& needs) {
    needs.plan.tables = needs.plan.labels = true;
    needs.whose_terms.emplace_back(
        [&facts = needs.facts](const Snapshot&, ProcId process) { return facts.get<Suspects>().look_into(process); });
}
}  // namespace fact

}  // namespace beamheap::analyses
