// SPDX-License-Identifier: Apache-2.0
#include "present/term_printer.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "erlang/elixir_names.hpp"
#include "erlang/term_walks.hpp"
#include "model/characters.hpp"
#include "present/open_objects.hpp"
#include "present/secrets/redact.hpp"
#include "present/term_words.hpp"

namespace beamheap::present {
namespace {

std::string name_of(const Element& atom) { return atom.latin1 ? from_latin1(atom.text) : std::string(atom.text); }

class Printer {
public:
    Printer(TermSource& source, const PrintOptions& options, std::string& out)
        : source_(source), options_(options), elixir_(options.syntax == Syntax::elixir), out_(out) {
        const std::size_t most =
            options.max_bytes == 0 ? PrintOptions::most_bytes : std::min(options.max_bytes, PrintOptions::most_bytes);
        begin_ = out.size();
        end_ = begin_ + most;
        // A term that would be longer than what is left of the answer is known to be when it is as long as that.
        if (options.budget != nullptr && options.budget->left() < most) {
            end_ = begin_ + static_cast<std::size_t>(options.budget->left()) + slack;
        }
    }

    Printed run(const Element& term) {
        emit(term);
        while (!frames_.empty()) {
            if (spent()) {
                cut_off();
                break;
            }
            step();
        }
        if (options_.budget != nullptr) options_.budget->spend(out_.size() - begin_);
        return printed_;
    }

private:
    enum class Kind : std::uint8_t { list, keywords, tuple, record, map };
    struct Frame {
        Kind kind;
        bool tail = false;        // list: its tail comes next
        bool value = false;       // map: a key was printed, its value comes next
        bool keys_first = false;  // map of atoms in Elixir
        Element hidden;           // what was just hidden, if it may name what comes next
        std::uint64_t done = 0;
        ElementCursor cursor;     // list: of the current cell; tuple
        Element held;             // map: the value to come
        std::size_t map = 0;      // index into maps_
        std::size_t outside = 0;  // objects that were open before it
        const RecordType* record = nullptr;
        std::string_view module;  // whose records are in it
    };
    struct Map {
        std::vector<Pair> pairs;  // small ones, in order
        std::size_t next = 0;
        std::vector<MapWalk> walk;  // large ones: one, or none
    };
    static constexpr std::size_t sorted_pairs = 64;
    static constexpr std::size_t slack = 8192;  // bytes that a text may be short of its end where it is cut
    /// Bytes that closing a frame may take: "|...]" and what stands before.
    static constexpr std::size_t closing = 5;

    std::size_t room() const {
        const std::size_t reserved = out_.size() + frames_.size() * closing;
        return reserved < end_ ? end_ - reserved : 0;
    }
    /// How far behind what is shown a text is read, for its secrets.
    std::size_t ahead() const { return options_.hide_secrets ? 4096 : 0; }
    bool spent() const { return room() == 0; }
    void comma() { out_ += elixir_ ? ", " : ","; }

    void step() {
        Frame& frame = frames_.back();
        switch (frame.kind) {
            case Kind::tuple: {
                Element element;
                if (!source_.next(frame.cursor, element)) return close("}");
                if (frame.done++ != 0) comma();
                const bool field = frame.record != nullptr && frame.done >= 2;
                if (field && hides_field(frame.record->fields[static_cast<std::size_t>(frame.done) - 2], element))
                    return emit_hidden();
                return emit(element);
            }
            case Kind::record: return step_record(frame);
            case Kind::list: return step_list(frame);
            case Kind::keywords: return step_keywords(frame);
            case Kind::map: return step_map(frame);
        }
    }

    // #state{socket = Socket,...}; state(socket: socket, ...).
    void step_record(Frame& frame) {
        Element element;
        if (!source_.next(frame.cursor, element)) return close(elixir_ ? ")" : "}");
        const std::string& field = frame.record->fields[static_cast<std::size_t>(frame.done)];
        if (frame.done++ != 0) comma();
        if (elixir_) append_elixir_key(out_, field);
        else (out_ += atom_text(field, Syntax::erlang)) += " = ";
        if (hides_field(field, element)) emit_hidden();
        else emit(element);
    }
    bool hides_field(const std::string& field, const Element& value) const {
        return options_.hide_secrets && is_secret_field(source_, field, value);
    }
    void emit_hidden() { out_ += elixir_ ? ":\"***\"" : "'***'"; }

    void step_list(Frame& frame) {
        Element element;
        if (!frame.tail) {
            frame.tail = true;
            if (frame.done++ != 0) comma();
            source_.next(frame.cursor, element);
            return emit(element);
        }
        if (!source_.next(frame.cursor, element)) return close("]");  // behind an improper tail
        if (element.kind == ElementKind::nil) return close("]");
        if (is_cell(element)) {
            if (!open_.enter(element.id)) {
                out_ += elixir_ ? " | " : "|";
                return emit_cycle(element);
            }
            frame.cursor = source_.elements(element.id);
            frame.tail = false;
            return;
        }
        out_ += elixir_ ? " | " : "|";
        emit(element);
    }

    // [a: 1, b: 2]: cells of {atom, Value}.
    void step_keywords(Frame& frame) {
        Element head;
        Element tail;
        if (frame.value) {
            frame.value = false;
            return emit(frame.held);
        }
        if (!source_.next(frame.cursor, head)) return close("]");
        source_.next(frame.cursor, tail);
        if (frame.done++ != 0) comma();
        ElementCursor pair = source_.elements(head.id);
        Element key;
        source_.next(pair, key);
        source_.next(pair, frame.held);
        append_elixir_key(out_, name_of(key));
        frame.value = true;
        const bool more = tail.kind == ElementKind::object && open_.enter(tail.id);
        frame.cursor = more ? source_.elements(tail.id) : ElementCursor{};
    }

    void step_map(Frame& frame) {
        if (frame.value) {
            frame.value = false;
            const Element value = frame.held;
            if (!frame.keys_first) out_ += " => ";
            return emit(value);
        }
        Map& map = maps_[frame.map];
        Pair pair;
        if (map.walk.empty()) {
            if (map.next == map.pairs.size()) return close("}");
            pair = map.pairs[map.next++];
        } else if (!map.walk.front().next(pair)) {
            return close("}");
        }
        if (frame.done++ != 0) comma();
        frame.value = true;
        frame.held = pair.value;
        frame.hidden.kind = ElementKind::unknown;  // a value names no key
        if (frame.keys_first) append_elixir_key(out_, name_of(pair.key));
        else emit(pair.key);
    }

    void close(const char* text) {
        out_ += text;
        if (frames_.back().kind == Kind::map) maps_.pop_back();
        open_.leave(frames_.back().outside);
        frames_.pop_back();
    }

    /// Says that more would follow, in every frame that is open, and closes them.
    void cut_off() {
        while (!frames_.empty()) {
            Frame& frame = frames_.back();
            const bool braces = frame.kind == Kind::tuple || frame.kind == Kind::map || frame.kind == Kind::record;
            const char* closed = frame.kind == Kind::record && elixir_ ? ")" : braces ? "}" : "]";
            if (frame.kind == Kind::map && frame.value) {
                out_ += frame.keys_first ? "..." : "=>...";
                printed_.cut = true;
            } else if (more_follows(frame)) {
                printed_.cut = true;
                out_ += frame.done == 0 ? "..." : frame.kind == Kind::list ? "|..." : ",...";
            }
            close(closed);
        }
    }
    bool more_follows(Frame& frame) {
        switch (frame.kind) {
            case Kind::tuple:
            case Kind::record: return frame.cursor.left != 0;
            case Kind::list: {
                if (!frame.tail) return true;
                Element element;
                return source_.next(frame.cursor, element) && element.kind != ElementKind::nil;
            }
            case Kind::keywords: return frame.cursor.left != 0 || frame.value;
            case Kind::map: {
                Map& map = maps_[frame.map];
                return map.walk.empty() ? map.next != map.pairs.size() : map.walk.front().more();
            }
        }
        return true;
    }

    bool is_cell(const Element& e) {
        return e.kind == ElementKind::object && source_.head(e.id).kind == TermKind::cons;
    }

    void emit(const Element& e) {
        // A key that is a secret elsewhere (a literal that both share) is not printed, and names what follows all the
        // same: of objects the secrets know that, of other values nobody could tell by the text.
        if (!frames_.empty() && frames_.back().hidden.kind == ElementKind::object) {
            const Element before = std::exchange(frames_.back().hidden, Element());
            if (e.kind != ElementKind::object && options_.secrets->names_secret(before, e)) return emit_hidden();
        }
        switch (e.kind) {
            case ElementKind::nil: out_ += "[]"; break;
            case ElementKind::small: append_decimal(out_, e.number); break;
            case ElementKind::atom: append_bounded_atom(name_of(e)); break;
            case ElementKind::pid: append_pid(e.pid); break;
            case ElementKind::port: append_port(e.port); break;
            case ElementKind::object: emit_object(e); break;
            case ElementKind::missing:
                out_ += "<term ";
                append_hexadecimal(out_, e.address);
                out_ += ", not in the dump>";
                printed_.missing = true;
                break;
            case ElementKind::unknown:
                out_ += options_.unknown;
                printed_.missing = true;
                break;
            case ElementKind::catching:
                out_ += "<catch ";
                append_catch_place(out_, e.text, options_.syntax);
                out_ += '>';
                break;
        }
    }

    void emit_object(const Element& e) {
        if (options_.secrets != nullptr && options_.secrets->hides(e.id)) {
            if (!frames_.empty()) frames_.back().hidden = e;
            return emit_hidden();
        }
        const ObjectHead head = source_.head(e.id);
        switch (head.kind) {
            case TermKind::cons: return emit_list(e);
            case TermKind::tuple: return open_tuple(e.id, head);
            case TermKind::flat_map:
            case TermKind::hash_map: return open_map(e.id, head);
            case TermKind::float_number: append_float(out_, head.number); break;
            case TermKind::bignum: append_bignum(head.digits); break;
            case TermKind::heap_binary:
            case TermKind::refc_binary:
            case TermKind::sub_binary: emit_binary(e.id, head); break;
            case TermKind::fun: emit_fun(head); break;
            case TermKind::external_fun: emit_external_fun(head); break;
            case TermKind::reference:
            case TermKind::external_reference: emit_reference(head); break;
            case TermKind::external_pid: append_pid(away(head.pid, head.node), head.node); break;
            case TermKind::external_port: append_port(away(head.port, head.node), head.node); break;
            case TermKind::match_context: out_ += "<match context>"; break;
            case TermKind::fun_reference: out_ += "<fun entry>"; break;
            case TermKind::binary_reference: out_ += "<binary reference>"; break;
            case TermKind::lost_map:
                out_ += elixir_ ? "%{<not in the dump>}" : "#{<not in the dump>}";
                printed_.missing = true;
                break;
            case TermKind::hash_node:
            case TermKind::unknown:
            case TermKind::count_:
                out_ += "<term ";
                append_hexadecimal(out_, head.address);
                out_ += " of unknown form>";
                printed_.missing = true;
                break;
        }
    }

    bool may_open() {
        if (frames_.size() < options_.max_depth && room() > 2 * closing) return true;
        out_ += "...";
        printed_.cut = true;
        return false;
    }

    void open_tuple(ObjectId id, const ObjectHead& head) {
        if (head.elements == 0) {
            out_ += "{}";
            return;
        }
        if (!may_open()) return;
        Frame frame{Kind::tuple};
        frame.outside = open_.size();
        if (!open_.enter(id)) return emit_cycle(head.address);
        frame.cursor = source_.elements(id);
        frame.module = module_within(id);
        if (options_.records != nullptr) frame.record = options_.records->known_tuple(source_, id, head, frame.module);
        if (frame.record != nullptr && options_.as_records) {
            frame.kind = Kind::record;
            Element tag;
            source_.next(frame.cursor, tag);
            out_ += elixir_ ? "" : "#";
            out_ +=
                elixir_ ? bare_text(frame.record->name, Syntax::elixir) : atom_text(frame.record->name, Syntax::erlang);
            out_ += elixir_ ? '(' : '{';
        } else {
            out_ += '{';
        }
        frames_.push_back(frame);
    }

    /// Whose records are within an object that is met where the printer stands.
    std::string_view module_within(ObjectId id) const {
        if (options_.records == nullptr) return {};
        return options_.records->within(id, frames_.empty() ? options_.module : frames_.back().module);
    }

    void emit_cycle(const Element& e) { emit_cycle(source_.head(e.id).address); }
    void emit_cycle(std::uint64_t address) {
        out_ += "<cyclic term ";
        append_hexadecimal(out_, address);
        out_ += '>';
        printed_.cyclic = true;
    }

    /// The characters of a list that ~p prints as a string: all of it, or as much as there is room for.
    bool read_string(const Element& list, std::string& text, bool& cut) {
        const std::size_t most = room() + 1 + ahead();
        ListWalk cells(source_, list);
        Element character;
        int most_seen = options_.visible_strings ? 0 : 2;  // of a text; 1: a character that separates no text
        for (std::size_t i = 0; cells.next(character); ++i) {
            if (i == most) return cut = true;
            const std::int64_t code = character.kind == ElementKind::small ? character.number : -1;
            if (code < 0 || !is_printable_latin1(static_cast<std::uint64_t>(code))) return false;
            most_seen = std::max(most_seen, code >= ' ' ? 2 : code == '\t' || code == '\n' || code == '\r' ? 0 : 1);
            append_utf8(text, static_cast<std::uint32_t>(code));
        }
        return cells.rest().kind == ElementKind::nil && most_seen != 1;
    }

    void emit_list(const Element& e) {
        std::string text;
        bool cut = false;
        if (read_string(e, text, cut)) {
            out_ += elixir_ ? "~c\"" : "\"";
            append_string(text, cut);
            return;
        }
        if (!may_open()) return;
        Frame frame{elixir_ && is_keywords(e) ? Kind::keywords : Kind::list};
        frame.outside = open_.size();
        if (!open_.enter(e.id)) return emit_cycle(e);
        frame.module = module_within(e.id);
        out_ += '[';
        frame.cursor = source_.elements(e.id);
        frames_.push_back(frame);
    }

    bool is_keywords(const Element& list) {
        Element cell = list;
        for (std::size_t i = 0; i < 256; ++i) {
            if (cell.kind == ElementKind::nil) return i != 0;
            if (!is_cell(cell)) return false;
            ElementCursor cursor = source_.elements(cell.id);
            Element head;
            source_.next(cursor, head);
            source_.next(cursor, cell);
            if (head.kind != ElementKind::object) return false;
            const ObjectHead pair = source_.head(head.id);
            if (pair.kind != TermKind::tuple || pair.elements != 2) return false;
            ElementCursor elements = source_.elements(head.id);
            Element key;
            source_.next(elements, key);
            if (key.kind != ElementKind::atom || erlang::is_elixir(key.text)) return false;
        }
        return false;
    }

    void open_map(ObjectId id, const ObjectHead& head) {
        MapWalk walk(source_, id, head);
        Map map;
        bool atoms = elixir_ && head.size != 0;
        std::string structure;
        if (head.size <= sorted_pairs) {
            Pair pair;
            bool immediates = true;
            while (walk.next(pair)) {
                map.pairs.push_back(pair);
                atoms &= pair.key.kind == ElementKind::atom && !erlang::is_elixir(pair.key.text);
                immediates &= pair.key.kind == ElementKind::atom || pair.key.kind == ElementKind::small;
            }
            if (immediates) sort_pairs(map.pairs);
            if (elixir_ && atoms) structure = take_structure(map.pairs);
        } else {
            atoms = false;
            map.walk.push_back(std::move(walk));
        }
        if (map.walk.empty() && map.pairs.empty()) {
            out_ += elixir_ ? "%" + structure + "{}" : std::string("#{}");
            return;
        }
        if (!may_open()) return;
        Frame frame{Kind::map};
        frame.outside = open_.size();
        frame.module = module_within(id);
        if (!open_.enter(id)) return emit_cycle(head.address);
        out_ += elixir_ ? "%" + structure + "{" : std::string("#{");
        frame.keys_first = atoms;
        frame.map = maps_.size();
        maps_.push_back(std::move(map));
        frames_.push_back(frame);
    }

    /// %MyApp.User{...}: a map of atoms with the module under __struct__.
    static std::string take_structure(std::vector<Pair>& pairs) {
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (pairs[i].key.text != "__struct__" || pairs[i].value.kind != ElementKind::atom) continue;
            std::string name;
            name = atom_text(name_of(pairs[i].value), Syntax::elixir);
            pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(i));
            return name;
        }
        return {};
    }

    void append_string(const std::string& text, bool cut) {
        std::string escaped;
        append_escaped(escaped, text, '"', options_.syntax);
        if (escaped.size() + 2 > room()) {
            if (options_.hide_secrets) escaped = mask_literal(escaped);
            cut = true;
            shorten(escaped, room() > 5 ? room() - 5 : 0);
        }
        out_ += escaped;
        out_ += cut ? "\"..." : "\"";
        printed_.cut |= cut;
    }
    /// Not within a character, nor within an escape.
    static void shorten(std::string& text, std::size_t size) {
        if (text.size() <= size) return;
        std::size_t at = 0;
        while (at < size) {
            std::size_t next = at + 1;
            if (text[at] == '\\') {
                ++next;  // the character that the backslash stands before
                const char escape = next - 1 < text.size() ? text[next - 1] : '\0';
                const bool braces = next < text.size() && text[next] == '{';
                if ((escape == 'x' || escape == 'u') && braces)
                    next = std::min(text.find('}', next), text.size() - 1) + 1;
                else if (escape == 'x') next += 2;
            }
            next = std::min(next, text.size());
            while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
            if (next > size) break;
            at = next;
        }
        text.resize(at);
    }

    void emit_binary(ObjectId id, const ObjectHead& head) {
        printed_.bits_lost |= head.bits_lost;
        const std::uint64_t size = head.size + (head.extra_bits != 0 ? 1 : 0);
        if (size == 0) {
            out_ += "<<>>";
            return;
        }
        const std::uint64_t wanted = std::min<std::uint64_t>(size, room() + 8 + ahead());
        std::string data;
        const Bytes got = source_.bytes(id, 0, wanted, data);
        if (got == Bytes::absent || data.empty()) {
            out_ += "<<";
            append_decimal(out_, head.size);
            out_ += head.size == 1 ? " byte, not in the dump>>" : " bytes, not in the dump>>";
            printed_.missing = true;
            return;
        }
        bool within = false, ahead_within = false;
        const std::string_view shown =
            std::string_view(data).substr(0, room() + 8);  // what is read ahead is not judged
        const bool cut = wanted < size && got == Bytes::whole;
        const bool goes_on = shown.size() < size;
        const std::size_t text = head.extra_bits == 0 ? printable_utf8(shown, within) : 0;
        const bool is_text = text != 0 && (text == shown.size() || (within && goes_on));
        const std::uint64_t lost = got == Bytes::part ? size - data.size() : 0;
        if (is_text) {
            data.resize(std::max(text, printable_utf8(data, ahead_within)));
            emit_text_binary(data, cut, lost);
        } else {
            emit_byte_binary(data, head, cut, lost);
        }
    }
    void emit_text_binary(const std::string& text, bool cut, std::uint64_t lost) {
        const bool utf8 = std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
        out_ += elixir_ && lost == 0 ? "\"" : "<<\"";
        std::string escaped;
        append_escaped(escaped, text, '"', options_.syntax);
        const std::size_t ends = elixir_ ? 4 : utf8 ? 11 : 6;
        if (escaped.size() + ends > room()) {
            if (options_.hide_secrets) escaped = mask_literal(escaped);
            cut = true;
            shorten(escaped, room() > ends ? room() - ends : 0);
        }
        out_ += escaped;
        out_ += '"';
        if (utf8 && !elixir_) out_ += "/utf8";
        if (cut) out_ += "...";
        printed_.cut |= cut;
        append_lost(lost);
        if (!elixir_ || lost != 0) out_ += ">>";
    }
    void append_lost(std::uint64_t lost) {
        if (lost == 0) return;
        out_ += ", ";
        append_decimal(out_, lost);
        out_ += lost == 1 ? " byte not in the dump" : " bytes not in the dump";
        printed_.missing = true;
    }
    /// Bytes as numbers, of which only the first have room: whether all of them hold a secret.
    bool holds_secret(const std::string& data) const {
        constexpr std::size_t longest_number = 4;
        if (!options_.hide_secrets || data.size() * longest_number < room()) return false;
        std::string all = "<<";
        for (const char byte : data)
            all += std::to_string(static_cast<unsigned>(static_cast<unsigned char>(byte))) + ',';
        all.back() = '>';
        all += '>';
        return mask_all_secrets(all) != all;
    }
    void emit_byte_binary(const std::string& data, const ObjectHead& head, bool cut, std::uint64_t lost) {
        if (holds_secret(data)) {
            out_ += "<<\"***\">>";
            return;
        }
        out_ += "<<";
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (room() <= 8) {
                cut = true;
                break;
            }
            if (i != 0) comma();
            const auto byte = static_cast<unsigned char>(data[i]);
            if (head.extra_bits != 0 && i == head.size) {
                append_decimal(out_, static_cast<unsigned>(byte) >> (8 - head.extra_bits));
                out_ += elixir_ ? "::size(" : ":";
                append_decimal(out_, head.extra_bits);
                if (elixir_) out_ += ')';
            } else {
                append_decimal(out_, byte);
            }
        }
        if (cut) out_ += "...";
        printed_.cut |= cut;
        if (!cut) append_lost(lost);
        out_ += ">>";
    }

    void emit_fun(const ObjectHead& head) {
        out_ += elixir_ ? "#Function<" : "#Fun<";
        if (elixir_) {
            append_decimal(out_, head.index);
            out_ += '.';
            append_decimal(out_, head.uniq);
            out_ += '/';
            append_decimal(out_, head.arity);
            out_ += " in ";
            out_ += atom_text(head.module, Syntax::elixir);
        } else {
            out_ += atom_text(head.module, Syntax::erlang);
            out_ += '.';
            append_decimal(out_, head.index);
            out_ += '.';
            append_decimal(out_, head.uniq);
        }
        out_ += '>';
    }
    void emit_external_fun(const ObjectHead& head) {
        out_ += elixir_ ? "&" : "fun ";
        out_ += atom_text(head.module, options_.syntax);
        out_ += elixir_ ? '.' : ':';
        if (elixir_) {
            std::string name;
            append_elixir_key(name, head.function);
            out_ += name.substr(0, name.size() - 2);
        } else {
            out_ += atom_text(head.function, Syntax::erlang);
        }
        out_ += '/';
        append_decimal(out_, head.arity);
    }
    void emit_reference(const ObjectHead& head) {
        out_ += elixir_ ? "#Reference<" : "#Ref<";
        if (head.kind == TermKind::reference) out_ += '0';
        else append_node(0, head.node);
        for (unsigned i = head.numbers; i-- > 0;) {
            out_ += '.';
            append_decimal(out_, head.words[i]);
        }
        out_ += '>';
    }

    Pid away(Pid pid, std::string_view node) const {
        const Count channel = node.empty() ? Count() : source_.channel_of(node);
        if (channel.has()) pid.node = static_cast<std::uint32_t>(*channel);
        return pid;
    }
    PortName away(PortName port, std::string_view node) const {
        const Count channel = node.empty() ? Count() : source_.channel_of(node);
        if (channel.has()) port.node = static_cast<std::uint32_t>(*channel);
        return port;
    }
    /// The number of a node, or its name where no number is known.
    void append_node(std::uint32_t number, std::string_view node) {
        const Count channel = number != 0 || node.empty() ? Count(number) : source_.channel_of(node);
        if (channel.has()) append_decimal(out_, *channel);
        else append_escaped(out_, node, '>', Syntax::erlang);
    }
    void append_pid(const Pid& pid, std::string_view node = {}) {
        out_ += elixir_ ? "#PID<" : "<";
        append_node(pid.node, node);
        out_ += '.';
        append_decimal(out_, pid.number);
        out_ += '.';
        append_decimal(out_, pid.serial);
        out_ += '>';
    }
    void append_port(const PortName& port, std::string_view node = {}) {
        out_ += "#Port<";
        append_node(port.node, node);
        out_ += '.';
        append_decimal(out_, port.number);
        out_ += '>';
    }
    void append_bounded_atom(const std::string& name) {
        out_ += atom_text(name, options_.syntax);  // at most 255 characters: the bound may be passed by that much
    }
    void append_bignum(std::string_view digits) {
        if (digits.size() + 3 > room() && room() > 6) {
            out_ += digits.substr(0, room() - 3);
            out_ += "...";
            printed_.cut = true;
            return;
        }
        out_ += digits;
    }
    TermSource& source_;
    const PrintOptions& options_;
    bool elixir_;
    std::string& out_;
    std::size_t begin_ = 0, end_ = 0;
    Printed printed_;
    std::vector<Frame> frames_;
    std::vector<Map> maps_;
    OpenObjects open_;
};

}  // namespace

void AnswerBudget::allow(const HeapGraph& graph) {
    constexpr std::uint64_t bytes_per_word = 64;  // a small integer takes up to 21, bytes of a binary 5 times 8
    constexpr std::uint64_t bytes_per_byte = 8;
    std::uint64_t allowed = graph.total_words() * bytes_per_word;
    for (const BinaryUse& use : graph.binaries())
        allowed += std::min<std::uint64_t>(use.size, 1ull << 32) * bytes_per_byte;
    left_ += allowed;
}

Printed print_term(TermSource& source, const Element& term, const PrintOptions& options, std::string& out) {
    return Printer(source, options, out).run(term);
}

std::string term_text(TermSource& source, const Element& term, const PrintOptions& options) {
    std::string out;
    print_term(source, term, options, out);
    return out;
}

}  // namespace beamheap::present
