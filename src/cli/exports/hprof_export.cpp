// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/base/sum.hpp"
#include "cli/console/output_file.hpp"
#include "cli/console/terminal.hpp"
#include "cli/exports/heap_export.hpp"
#include "present/hprof.hpp"

namespace beamheap::cli {
namespace {

using present::Content;
using present::Hprof;
using Id = Hprof::Id;

constexpr std::uint64_t most_fields = 256;                           // of a class; larger terms are arrays
constexpr std::uint64_t array_head = 4;                              // words, and more, before the elements of an array
constexpr std::uint64_t most_classes = 30'000;                       // of tuples by their tags
constexpr std::uint64_t most_binary_bytes = std::uint64_t{4} << 30;  // that are written, all together
constexpr std::uint64_t largest_array = (std::uint64_t{1} << 31) - 64;  // elements, as Java has it
// A term of few characters in a forged input may claim to be large. Words beyond these for each object and reference
// are taken from what is left of `loose_words` for the whole file.
constexpr std::uint64_t usual_words = 64, loose_words = std::uint64_t{1} << 27;

/// What all processes of the file share.
class Names {
public:
    Names(NodeModel& model, Hprof& out) : model_(model), out_(out) {}

    std::string redacted(std::string_view text, Content content) const {
        return model_.redactor()->apply(text, content);
    }
    /// An atom as terms refer to it: a string that nobody keeps alive.
    Id atom(std::string_view raw) {
        Atom& entry = atom_of(raw);
        if (entry.object == 0) {
            entry.object = out_.text(entry.shown);
            out_.root(entry.object);
        }
        return entry.object;
    }
    /// The class of terms of a kind, with so many references and words; tuples by their tags, too.
    const Hprof::Class& of_term(TermKind kind, std::uint64_t references, std::uint64_t words, const Element* tag) {
        if (kind != TermKind::tuple || tag == nullptr || tag->kind != ElementKind::atom)
            return plain(kind, references, words);
        Atom& entry = atom_of(tag->text);
        const auto [found, added] = tagged_.try_emplace({&entry, references, words});
        if (added) {
            if (tagged_.size() > most_classes) {
                tagged_.erase(found);
                return plain(kind, references, words);
            }
            found->second = made(kind, fmt::format("tuple {} {{{}}}", references, entry.shown), references, words);
        }
        return found->second;
    }
    const Hprof::Class& array_of(TermKind kind) {
        const auto [found, added] = arrays_.try_emplace(kind);
        if (added) found->second = out_.add_array_class(name_of(kind));
        return found->second;
    }
    Id frame(const Frame& frame) {
        const auto [found, added] = frames_.try_emplace(std::tuple(frame.function, frame.file, frame.line));
        if (!added) return found->second;
        const Snapshot& s = model_.snapshot();
        const bool known = frame.function != FunctionId::none;
        const Function function = known ? s.functions[frame.function] : Function{};
        const auto [module, fresh] = modules_.try_emplace(function.module);
        if (fresh)
            module->second =
                out_.add_class(known ? redacted(model_.names().bare(function.module), Content::name) : "?", {});
        const std::string called =
            known ? fmt::format("{}/{}", redacted(model_.names().bare(function.name), Content::name), function.arity)
                  : "?";
        const std::string file =
            frame.file == TextId::none ? std::string() : redacted(s.text(frame.file), Content::name);
        return found->second = out_.frame(called, file, module->second, frame.line);
    }

private:
    struct Atom {
        std::string shown;
        Id object = 0;
    };
    Atom& atom_of(std::string_view raw) {
        const auto [found, added] = atoms_.try_emplace(std::string(raw));
        if (added) found->second.shown = redacted(present::atom_text(raw, model_.names().syntax()), Content::term);
        return found->second;
    }
    const Hprof::Class& plain(TermKind kind, std::uint64_t references, std::uint64_t words) {
        const auto [found, added] = plain_.try_emplace({kind, references, words});
        if (added) {
            const bool one_size = kind == TermKind::cons || kind == TermKind::float_number;
            const std::string name = kind == TermKind::tuple ? fmt::format("tuple {}", references)
                                     : one_size              ? std::string(name_of(kind))
                                                             : fmt::format("{} of {} words", name_of(kind), words);
            found->second = made(kind, name, references, words);
        }
        return found->second;
    }
    // References first, then words that have no name.
    Hprof::Class made(TermKind kind, const std::string& name, std::uint64_t references, std::uint64_t words) {
        std::vector<Hprof::Field> fields;
        for (std::uint64_t i = 0; i < references; ++i)
            fields.push_back(
                {kind == TermKind::cons ? i == 0 ? "head" : "tail" : fmt::format("e{}", i + 1), Hprof::Type::object});
        const bool half = model_.snapshot().source.word_size == 4;
        for (std::uint64_t i = references; i < words; ++i)
            fields.push_back({fmt::format("w{}", i + 1), half ? Hprof::Type::integer : Hprof::Type::number});
        return out_.add_class(name, fields);
    }

    NodeModel& model_;
    Hprof& out_;
    std::unordered_map<std::string, Atom> atoms_;
    std::map<std::tuple<const Atom*, std::uint64_t, std::uint64_t>, Hprof::Class> tagged_;
    std::map<std::tuple<TermKind, std::uint64_t, std::uint64_t>, Hprof::Class> plain_;
    std::map<TermKind, Hprof::Class> arrays_;
    std::map<std::tuple<FunctionId, TextId, std::uint32_t>, Id> frames_;
    std::map<TextId, Hprof::Class> modules_;
};

/// The file while it is being made.
class HprofWriter {
public:
    HprofWriter(NodeModel& model, const Hprof::Take& records, const Hprof::Take& segments)
        : model_(model),
          out_(model.snapshot().source.word_size == 4 ? 4 : 8, records, segments),
          names_(model, out_),
          process_(out_.add_class("process", process_fields, &out_.thread_class())),
          table_(out_.add_class("ETS table", table_fields)),
          threads_(out_.new_ids(model.snapshot().processes.size())) {}

    void write_tables() {
        const Snapshot& s = model_.snapshot();
        for (const EtsTable& table : s.ets) {
            const Id name = out_.text(names_.redacted(model_.names().bare(table.name), Content::name));
            const Id words = out_.boxed(number(table.words)), object = out_.new_ids(1);
            out_.begin_instance(object, table_);
            out_.reference(name);
            out_.reference(words);
            out_.reference(thread_of(table.owner));
            out_.end();
            out_.root(object);
            ++objects_;
        }
    }
    /// Whether the terms fit into the file.
    bool fits(const HeapGraph& graph, std::uint64_t most_objects) {
        if (objects_ + graph.size() + graph.binaries().size() > most_objects) return false;
        const std::uint64_t usual = usual_words * (graph.size() + graph.edges().size()), words = graph.total_words();
        const std::uint64_t more = words > usual ? words - usual : 0;
        if (more > loose_) return false;
        loose_ -= more;
        return true;
    }
    /// A process, with its terms unless `source` is null: then it says how many are folded.
    void write_process(ProcId id, TermSource* source, std::uint64_t folded) {
        const Process& process = model_.snapshot()[id];
        const auto serial = static_cast<std::uint32_t>(index_of(id) + 1);
        std::vector<Id> frames;
        for (const Frame& frame : model_.snapshot().stacks[process.stack]) frames.push_back(names_.frame(frame));
        out_.stack(serial, frames);
        Held held;
        if (source != nullptr) held = write_terms(*source, serial, frames.size());
        std::string name = name_in_heap_file(model_, process);
        if (source == nullptr) name += fmt::format(" (its {} terms are folded)", folded);
        const Id called = out_.text(name), memory = out_.boxed(number(process.memory_bytes)),
                 length = out_.boxed(number(process.msgq_len)), reductions = out_.boxed(number(process.reductions));
        const Id thread = threads_ + index_of(id) * Hprof::step;
        const std::array arrays{array(held.stack), array(held.dictionary), array(held.messages), array(held.others)};
        out_.begin_instance(thread, process_);
        for (const Id each : arrays) out_.reference(each);
        for (const Id each : {memory, length, reductions, called}) out_.reference(each);
        out_.end();
        out_.root_of_thread(thread, serial);
        ++objects_;
    }
    Status finish(HeapFile& made, const std::function<Status()>& copy_segments) {
        made.nodes = objects_;
        made.cut = cut_;
        return out_.finish(copy_segments);
    }

private:
    inline static const std::array<Hprof::Field, 7> process_fields{
        {{"stack"}, {"dictionary"}, {"messages"}, {"others"}, {"memory_bytes"}, {"msgq_len"}, {"reductions"}}};
    inline static const std::array<Hprof::Field, 3> table_fields{{{"name"}, {"words"}, {"owner"}}};
    /// What roots hold, by where they are.
    struct Held {
        std::vector<Id> stack, dictionary, messages, others;
    };

    static std::optional<std::uint64_t> number(const Count& count) {
        return count.has() ? std::optional(*count) : std::nullopt;
    }
    Id thread_of(const Pid& pid) const {
        const ProcId id = model_.snapshot().find(pid);
        return id == ProcId::none ? 0 : threads_ + index_of(id) * Hprof::step;
    }
    Id array(const std::vector<Id>& held) {
        if (held.empty()) return 0;
        const Id object = out_.new_ids(held.size() + array_head);
        out_.array(object, held);
        return object;
    }

    Held write_terms(TermSource& source, std::uint32_t serial, std::size_t frames) {
        const HeapGraph& graph = source.graph();
        first_ = out_.new_ids(graph.size());
        large_.clear();
        for (NodeId node = 0; node < graph.size(); ++node)
            if (graph.words(node) > most_fields) large_.emplace(node, out_.new_ids(graph.words(node) + array_head));
        next_edge_ = graph.edges().begin();
        for (NodeId node = 0; node < graph.size(); ++node) write_object(source, node);
        for (const auto& [id, bytes] : fresh_) write_binary(id, bytes);
        fresh_.clear();
        objects_ += graph.size();
        Held held;
        held.messages.reserve(static_cast<std::size_t>(
            std::ranges::count(graph.roots(), RootKind::message, &Root::kind)));  // once, not by doubling
        for (const Root root : graph.roots()) {
            if (root.target == no_node) continue;
            const Id target = object_of(root.target);
            switch (root.kind) {
                case RootKind::stack:
                    held.stack.push_back(target);
                    if (root.frame < frames) out_.root_of_frame(target, serial, root.frame);
                    break;
                case RootKind::dictionary: held.dictionary.push_back(target); break;
                case RootKind::message: held.messages.push_back(target); break;
                default: held.others.push_back(target); break;
            }
        }
        return held;
    }

    // A term's elements as references, where the source tells them as the graph does; else the graph's references
    // alone.
    void find_elements(TermSource& source, NodeId node, std::span<const NodeId> targets, Element& tag) {
        const HeapGraph& graph = source.graph();
        references_.clear();
        const TermKind kind = graph.kind(node);
        const bool made_of_terms = kind == TermKind::cons || kind == TermKind::tuple || kind == TermKind::flat_map ||
                                   kind == TermKind::hash_map || kind == TermKind::hash_node || kind == TermKind::fun;
        ElementCursor cursor;
        if (made_of_terms) cursor = source.elements({ObjectId::Space::heap, node});
        if (cursor.id.space == ObjectId::Space::heap && cursor.left <= graph.words(node)) {
            std::size_t objects = 0;
            Element element;
            for (bool first = true; source.next(cursor, element); first = false) {
                if (first) tag = element;
                references_.push_back(id_of(element));
                objects += element.kind == ElementKind::object && element.id.space == ObjectId::Space::heap;
            }
            if (objects == targets.size()) return;
            references_.clear();
        }
        for (const NodeId to : targets) references_.push_back(object_of(to));
    }
    Id id_of(const Element& element) {
        switch (element.kind) {
            case ElementKind::object:
                return element.id.space == ObjectId::Space::heap ? object_of(element.id.number) : 0;
            case ElementKind::atom: return names_.atom(element.text);
            case ElementKind::pid: return thread_of(element.pid);
            default: return 0;
        }
    }
    void write_object(TermSource& source, NodeId node) {
        const HeapGraph& graph = source.graph();
        const std::size_t from = next_edge_.at();
        while (next_edge_ != graph.edges().end() && next_edge_.from() == node) ++next_edge_;
        Element tag;
        find_elements(source, node, graph.edges().targets().subspan(from, next_edge_.at() - from), tag);
        if (const BinaryUse* use = graph.binary_of(node); use != nullptr && use->base == BinaryUse::Base::binary)
            references_.push_back(binary(source, use->address));
        const TermKind kind = graph.kind(node);
        const std::uint64_t words = graph.words(node);
        const Id object = object_of(node);
        if (words > most_fields) {
            write_large(object, kind, words);
        } else {
            out_.begin_instance(object, names_.of_term(kind, references_.size(), words, &tag));
            for (const Id each : references_) out_.reference(each);
            out_.end();
        }
    }
    // An array as large as the words but for the one that Java has its length in; what it refers to stands in its first
    // elements.
    void write_large(Id object, TermKind kind, std::uint64_t words) {
        if (references_.empty())
            return out_.empty_numbers(object, static_cast<std::uint32_t>((words - 1) * word_bytes() / 8));
        references_.resize(std::max<std::size_t>(references_.size(), static_cast<std::size_t>(words - 1)), 0);
        out_.array(object, references_, &names_.array_of(kind));
    }
    Id object_of(NodeId node) const {
        if (!large_.empty())
            if (const auto found = large_.find(node); found != large_.end()) return found->second;
        return first_ + node * Hprof::step;
    }
    std::uint64_t word_bytes() const { return model_.snapshot().source.word_size; }

    Id binary(TermSource& source, std::uint64_t address) {
        const auto [found, added] = binaries_.try_emplace(address);
        if (added) {
            found->second = out_.new_ids(1);
            fresh_.emplace_back(found->second, source.binary_size(address).value_or(0));
            ++objects_;
        }
        return found->second;
    }
    void write_binary(Id id, std::uint64_t bytes) {
        if (bytes > largest_array || bytes > most_binary_bytes - binary_bytes_) {
            bytes = 0;
            ++cut_;
        }
        binary_bytes_ += bytes;
        out_.empty_bytes(id, static_cast<std::uint32_t>(bytes));
    }

    NodeModel& model_;
    Hprof out_;
    Names names_;
    Hprof::Class process_, table_;
    Id threads_;
    std::unordered_map<std::uint64_t, Id> binaries_;   // outside the heaps, by address
    std::vector<std::pair<Id, std::uint64_t>> fresh_;  // those that are still to be written
    std::vector<Id> references_;                       // of the term that is being written
    std::unordered_map<NodeId, Id> large_;             // of the process's terms those that are arrays
    Id first_ = 0;                                     // of the process's terms
    EdgeList::Iterator next_edge_;
    std::uint64_t objects_ = 0, binary_bytes_ = 0, cut_ = 0, loose_ = loose_words;
};

}  // namespace

Result<HeapFile> write_hprof(NodeModel& model, const std::string& path, bool overwrite, std::uint64_t most_objects,
                             When progress) {
    BH_TRY(OutputFile file, OutputFile::create(path, overwrite));
    BH_TRY(const Aside segments, Aside::create(path));
    HprofWriter writer(
        model, [&](std::string_view bytes) { return file.write(bytes); },
        [&](std::string_view bytes) { return segments.write(bytes); });
    std::uint64_t all_bytes = 0, done_bytes = 0;
    const std::vector<ProcId> order = largest_first(model.snapshot(), all_bytes);
    HeapFile made;
    ProgressLine line(progress);
    const Progress show = line.callback();
    writer.write_tables();
    for (const ProcId id : order) {
        BH_TRY(const std::unique_ptr<TermSource> source, model.artifact().terms(id));
        const bool whole = writer.fits(source->graph(), most_objects);
        writer.write_process(id, whole ? source.get() : nullptr, source->graph().size());
        ++(whole ? made.processes : made.folded);
        done_bytes = analyses::saturating_add(done_bytes, model.snapshot()[id].memory_bytes.value_or(0));
        if (show) show(done_bytes, all_bytes);
    }
    BH_CHECK(writer.finish(made, [&] { return segments.copy_to(file); }));
    BH_CHECK(file.finish());
    return made;
}

}  // namespace beamheap::cli
