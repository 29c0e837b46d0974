#include "cli/process_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/heap_order.hpp"
#include "analyses/sizes.hpp"

namespace beamheap::cli {
namespace {

using present::Array;
using present::Object;
using present::Value;

// Sizes as erts_debug gives them, literals included.
class Sizes {
public:
    explicit Sizes(TermSource& terms) {
        order_.build(terms.graph());
        if (terms.literals() != nullptr) {
            literal_order_.build(*terms.literals());
            literal_flat_.build(*terms.literals(), literal_order_);
            literals_ = {terms.literals(), &literal_flat_};
        }
        flat_.build(terms.graph(), order_, terms.literals() == nullptr ? nullptr : &literals_);
        shared_.build(terms.graph(), terms.literals());
    }
    Value flat(const Element& element) const {
        if (element.kind == ElementKind::missing || element.kind == ElementKind::unknown) return {};
        if (element.kind != ElementKind::object) return std::uint64_t{0};
        switch (element.id.space) {
            case ObjectId::Space::heap: return flat_[element.id.number];
            case ObjectId::Space::literals: return literal_flat_[element.id.number];
            case ObjectId::Space::decoded: break;
        }
        return {};
    }
    Value shared(const Element& element) {
        if (element.kind == ElementKind::missing || element.kind == ElementKind::unknown) return {};
        if (element.kind != ElementKind::object) return std::uint64_t{0};
        switch (element.id.space) {
            case ObjectId::Space::heap: return shared_.words(element.id.number);
            case ObjectId::Space::literals: return shared_.literal_words(element.id.number);
            case ObjectId::Space::decoded: break;
        }
        return {};
    }

private:
    analyses::HeapOrder order_;
    analyses::HeapOrder literal_order_;
    analyses::FlatSizes flat_;
    analyses::FlatSizes literal_flat_;
    analyses::LiteralSizes literals_;
    analyses::SharedSizes shared_;
};

Object slot(std::string name, std::string term) { return {{"name", std::move(name)}, {"term", std::move(term)}}; }

}  // namespace

ProcessTerms process_terms(TermSource& terms, std::size_t frames, std::size_t most_messages,
                           const present::PrintOptions& print) {
    ProcessTerms out;
    out.slots.resize(frames);
    const auto roots = terms.graph().roots();
    if (roots.empty()) return out;
    out.present = true;
    Sizes sizes(terms);
    for (std::size_t i = 0; i < roots.size(); ++i) {
        const Root& root = roots[i];
        switch (root.kind) {
            case RootKind::stack:
                if (root.frame >= frames) break;
                out.slots[root.frame].emplace_back(
                    slot(fmt::format("y({})", root.index), present::term_text(terms, terms.root(i), print)));
                break;
            case RootKind::x_register:
                if (frames != 0)
                    out.slots[0].emplace_back(
                        slot(fmt::format("x({})", root.index), present::term_text(terms, terms.root(i), print)));
                break;
            case RootKind::dictionary: {
                const Element entry = terms.root(i);
                if (entry.kind != ElementKind::object) break;
                ElementCursor pair = terms.elements(entry.id);
                Element key, value;
                if (!terms.next(pair, key)) break;
                std::string key_text = present::term_text(terms, key, print);
                if (!terms.next(pair, value)) break;
                out.dictionary.push_back({{"key", std::move(key_text)},
                                          {"value", present::term_text(terms, value, print)},
                                          {"flat_words", sizes.flat(value)},
                                          {"shared_words", sizes.shared(value)}});
                break;
            }
            case RootKind::message: {
                ++out.message_count;
                if (most_messages != 0 && out.messages.size() >= most_messages) break;
                const Element message = terms.root(i);
                out.messages.push_back({{"pos", root.index},
                                        {"term", present::term_text(terms, message, print)},
                                        {"flat_words", sizes.flat(message)},
                                        {"sender", nullptr}});
                break;
            }
            default: break;
        }
    }
    return out;
}

}  // namespace beamheap::cli
