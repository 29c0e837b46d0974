// SPDX-License-Identifier: Apache-2.0
#include "erlang/owned_term.hpp"

#include <algorithm>

namespace beamheap {

OwnedTerm::OwnedTerm() {
    graph_.begin(HeapGraph::Mode::values, 8);
    graph_.finish();
}

std::string_view OwnedTerm::keep(std::string_view text) { return texts_.emplace_back(text); }

Element OwnedTerm::add(ObjectHead head) {
    Element element;
    element.kind = ElementKind::object;
    element.id = {ObjectId::Space::decoded, static_cast<std::uint32_t>(objects_.size())};
    head.address = 0;
    objects_.push_back({head, {}, {}, false});
    return element;
}

ObjectHead OwnedTerm::head(ObjectId id) {
    return id.number < objects_.size() ? objects_[id.number].head : ObjectHead{};
}

ElementCursor OwnedTerm::elements(ObjectId id) {
    return {id, id.number < objects_.size() ? objects_[id.number].elements.size() : 0, 0};
}

bool OwnedTerm::next(ElementCursor& cursor, Element& element) {
    if (cursor.left == 0) return false;
    --cursor.left;
    element = objects_[cursor.id.number].elements[static_cast<std::size_t>(cursor.place++)];
    return true;
}

Bytes OwnedTerm::bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) {
    if (id.number >= objects_.size()) return Bytes::absent;
    const Object& object = objects_[id.number];
    const std::uint64_t wanted = std::min(limit, object.head.size - std::min(from, object.head.size));
    if (from >= object.bytes.size()) return wanted == 0 ? Bytes::whole : Bytes::absent;
    const std::string_view part = object.bytes.substr(
        static_cast<std::size_t>(from), static_cast<std::size_t>(std::min<std::uint64_t>(wanted, object.bytes.size())));
    out += part;
    return part.size() == wanted ? Bytes::whole : Bytes::part;
}

class TermCopier {
public:
    TermCopier(TermSource& source, const CopyBudget& budget) : source_(source), budget_(budget) {}

    std::unique_ptr<OwnedTerm> run(const Element& term) {
        copy_->root_ = take(term);
        for (std::size_t i = 0; i < origins_.size(); ++i) fill(i);
        return std::move(copy_);
    }

private:
    // An element of the copy; an object's place in line is its number.
    Element take(const Element& from) {
        Element element = from;
        element.address = 0;
        if (!from.text.empty()) element.text = copy_->keep(from.text);
        if (from.kind != ElementKind::object) return element;
        if (origins_.size() >= budget_.objects) {
            copy_->cut_ = true;
            return {};
        }
        ObjectHead head = source_.head(from.id);
        head.digits = copy_->keep(head.digits);
        head.module = copy_->keep(head.module);
        head.function = copy_->keep(head.function);
        head.node = copy_->keep(head.node);
        origins_.push_back(from.id);
        return copy_->add(head);
    }

    void fill(std::size_t i) {
        const ObjectId from = origins_[i];
        OwnedTerm::Object& object = copy_->objects_[i];
        switch (object.head.kind) {
            case TermKind::heap_binary:
            case TermKind::refc_binary:
            case TermKind::sub_binary: return fill_bytes(from, object);
            default: break;
        }
        ElementCursor cursor = source_.elements(from);
        Element element;
        for (; elements_ < most_elements && source_.next(cursor, element); ++elements_)
            object.elements.push_back(take(element));
        copy_->cut_ |= cursor.left != 0;
    }

    void fill_bytes(ObjectId from, OwnedTerm::Object& object) {
        std::string text;
        const std::uint64_t wanted = std::min<std::uint64_t>(object.head.size, budget_.bytes - bytes_);
        if (source_.bytes(from, 0, wanted, text) == Bytes::whole) copy_->cut_ |= wanted != object.head.size;
        bytes_ += text.size();
        object.bytes = copy_->keep(text);
        object.head.kind = TermKind::heap_binary;
        object.head.binary = object.head.offset = 0;
    }

    TermSource& source_;
    CopyBudget budget_;
    static constexpr std::size_t most_elements = std::size_t{1} << 17;
    std::size_t bytes_ = 0;
    std::size_t elements_ = 0;
    std::vector<ObjectId> origins_;
    std::unique_ptr<OwnedTerm> copy_ = std::make_unique<OwnedTerm>();
};

std::unique_ptr<OwnedTerm> copy_term(TermSource& source, const Element& term, const CopyBudget& budget) {
    return TermCopier(source, budget).run(term);
}

}  // namespace beamheap
