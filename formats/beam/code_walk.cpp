// SPDX-License-Identifier: Apache-2.0
#include "formats/beam/code_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "formats/beam/chunks.hpp"
#include "formats/beam/native_size.hpp"

namespace beamheap::beam {
namespace {

// How many operands each instruction has, by its number (genop.tab of OTP 29, which keeps those of older releases).
constexpr std::uint8_t operands_of[] = {
    0, 1, 3, 0, 2, 3, 2, 2, 3, 2, 4, 5, 2, 3, 2, 3, 2, 1, 1, 0, 0, 0, 0, 2, 1, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3,
    3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 1, 2, 1, 2, 3, 3, 3, 3, 3, 2, 1, 1, 0, 1, 1, 3, 2,
    2, 2, 5, 5, 5, 4, 2, 1, 1, 2, 2, 5, 5, 5, 2, 1, 0, 1, 2, 2, 4, 4, 4, 4, 3, 1, 2, 1, 1, 1, 2, 6, 3, 5, 1, 2, 2, 3, 5,
    7, 7, 7, 5, 3, 2, 2, 5, 6, 2, 2, 2, 2, 1, 3, 4, 0, 8, 6, 2, 6, 5, 4, 5, 4, 5, 4, 3, 3, 3, 3, 3, 0, 1, 1, 7, 1, 5, 5,
    2, 3, 3, 4, 0, 0, 2, 2, 2, 3, 4, 3, 2, 2, 4, 3, 1, 2, 1, 1, 1, 6, 3, 0, 1, 5, 3, 2, 4, 6, 2, 4, 3, 6, 3, 5,
};

enum Instruction : std::uint8_t {
    op_label = 1,
    op_func_info = 2,
    op_int_code_end = 3,
    op_call = 4,
    op_call_last = 5,
    op_call_only = 6,
    op_call_ext = 7,
    op_call_ext_last = 8,
    op_allocate = 12,
    op_allocate_heap = 13,
    op_allocate_zero = 14,
    op_allocate_heap_zero = 15,
    op_deallocate = 18,
    op_return = 19,
    op_loop_rec_end = 24,
    op_wait = 25,
    op_wait_timeout = 26,
    op_select_val = 59,
    op_select_tuple_arity = 60,
    op_move = 64,
    op_jump = 61,
    op_catch = 62,
    op_catch_end = 63,
    op_badmatch = 72,
    op_if_end = 73,
    op_case_end = 74,
    op_call_fun = 75,
    op_call_ext_only = 78,
    op_try = 104,
    op_try_end = 105,
    op_try_case = 106,
    op_try_case_end = 107,
    op_raise = 108,
    op_apply = 112,
    op_apply_last = 113,
    op_trim = 136,
    op_line = 153,
    op_raw_raise = 161,
    op_call_fun2 = 178,
    op_badrecord = 180,
};

constexpr std::size_t kept_operands = 8;
constexpr std::uint32_t most_registers = 1024;  // that an instruction can name
constexpr std::uint32_t most_arity = 255;
constexpr std::uint32_t most_of_call = 128;  // bytes of machine code from a line to where its call comes back
constexpr std::uint32_t unbounded = std::numeric_limits<std::uint32_t>::max();

// What a place in a function has of a frame.
struct FrameState {
    std::uint32_t registers = CodeSite::no_frame;
    std::uint64_t catches = 0;
};

class Walk {
public:
    Walk(std::string_view code, std::uint32_t labels, std::span<const CodeFunctionName> imports,
         std::span<const SourcePlace> places, CodeModule& module, std::vector<Stretch>* stretches)
        : code_(code), labels_(labels), imports_(imports), places_(places), module_(module), stretches_(stretches) {
        if (stretches_ == nullptr) return;
        size_.counted = [this](std::uint8_t op, SizePart part) {
            if (!stretches_->empty()) ++stretches_->back().parts[size_parts * op + static_cast<std::uint32_t>(part)];
        };
    }

    Status run() {
        module_.callees.assign(1, {});
        while (!code_.at_end()) {
            const std::uint8_t op = code_.byte();
            if (op == op_int_code_end) break;
            if (op != op_line) size_.instruction(op);
            if (op == 0 || op >= std::size(operands_of))
                return Error{ErrorCode::not_recognised,
                             fmt::format("has an instruction ({}) that OTP 29 does not know", op),
                             {}};
            BH_CHECK(read_operands(op));
            BH_CHECK(step(op));
            if (code_.failed()) return damaged("its code ends early");
        }
        end_function();
        resolve();
        return ok();
    }

private:
    enum class Callee : std::uint8_t { other, unknown, own };
    enum class Last : std::uint8_t { other, move, move_and_line };
    struct Label {
        FrameState state;
        bool known = false;
        std::uint32_t function = 0;  // that begins there, from 1
        SourcePlace place, other;    // of what stands there, and what else it may be
        std::uint32_t instruction = 0;
        CodeSite::Sizes sizes{};
    };

    Status read_operands(std::uint8_t op) {
        named_ = 0;
        for (std::size_t i = 0; i < operands_of[op]; ++i) {
            const ByteReader::Operand operand = code_.operand();
            if (i < kept_operands) operands_[i] = operand;
            if (op != op_line) size_.operand(operand);
            if (operand.tag == tag_label) jump_to(operand.value);
            if (operand.tag == tag_extended) BH_CHECK(read_extended(operand.value));
            if (code_.failed()) return damaged("its code ends early");
        }
        return ok();
    }

    // A float of old releases is eight bytes; a list has plain operands, and such extended ones as are no list.
    Status read_extended(std::uint64_t kind) {
        const bool old_float = kind == 0;
        if (old_float) {
            code_.take(8);
            return ok();
        }
        if (kind != 1) return read_simple_extended(kind);
        const std::uint64_t count = code_.operand().value;
        if (count > code_.left()) return damaged("a list in its code ends early");
        for (std::uint64_t i = 0; i < count && !code_.failed(); ++i) {
            const ByteReader::Operand element = code_.operand();
            size_.element(element);
            if (element.tag == tag_label) jump_to(element.value);
            if (element.tag != tag_extended) continue;
            if (element.value == 1) return damaged("a list in its code holds a list");
            BH_CHECK(read_simple_extended(element.value));
        }
        return ok();
    }
    Status read_simple_extended(std::uint64_t kind) {
        switch (kind) {
            case 0: code_.take(8); return ok();
            case 2:  // register of floats
            case 4:  // literal
                code_.operand();
                return ok();
            case 3: {  // words to allocate, by kind
                const std::uint64_t count = code_.operand().value;
                if (count > code_.left()) return damaged("a list in its code ends early");
                for (std::uint64_t i = 0; i < 2 * count && !code_.failed(); ++i) code_.operand();
                return ok();
            }
            case 5:  // register with its type
                code_.operand();
                code_.operand();
                return ok();
            default: return damaged("an operand in its code is of no known kind");
        }
    }

    std::uint64_t value(std::size_t i) const { return operands_[i].value; }

    // Labels are told before the instruction changes the frame: what it goes on with there is the frame before it.
    void jump_to(std::uint64_t label) {
        if (label == 0 || label >= labels_.size() || named_ == targets_.size()) {
            if (named_ == targets_.size() && label != 0 && label < labels_.size()) note(labels_[label]);
            return;
        }
        targets_[named_++] = static_cast<std::uint32_t>(label);
    }
    void note(Label& label) const {
        if (label.known || !live_) return;
        label.known = true;
        label.state = state_;
    }
    void note_targets() {
        for (std::size_t i = 0; i < named_; ++i) note(labels_[targets_[i]]);
    }

    void set_frame(std::uint64_t registers) {
        state_.registers =
            registers <= most_registers ? static_cast<std::uint32_t>(registers) : CodeSite::unknown_frame;
    }
    void mark(std::size_t operand, bool set) {
        if (operands_[operand].tag != tag_y || value(operand) >= 64) return;
        const std::uint64_t bit = std::uint64_t{1} << value(operand);
        state_.catches = set ? state_.catches | bit : state_.catches & ~bit;
    }

    Status step(std::uint8_t op) {
        ++instruction_;
        const bool is_label = op == op_label, is_line = op == op_line;
        if (!is_label && !is_line && op != op_func_info) fresh_labels_.clear();
        const Last last = last_;
        last_ = is_line ? (last == Last::move ? Last::move_and_line : Last::other)
                : op == op_move && operands_[1].tag == tag_x && value(1) == 0 ? Last::move
                                                                              : Last::other;
        const bool after_fun = std::exchange(fun_called_, false);
        const bool fun_gone = std::exchange(fun_gone_, false);
        switch (op) {
            case op_label: return at_label();
            case op_line: return at_line();
            case op_func_info: return begin_function();
            case op_call: note_call(local(value(1))); break;
            case op_call_only:
            case op_call_last: note_tail(local(value(1))); return leave();
            case op_call_ext: {
                BH_TRY(const std::uint32_t callee, imported(value(1)));
                note_call(callee);
                break;
            }
            case op_call_ext_only:
            case op_call_ext_last: {
                BH_TRY(const std::uint32_t callee, imported(value(1)));
                drop_line(last, kind_of(module_.callees[callee]));
                note_tail(callee);
                return leave();
            }
            case op_call_fun:
            case op_call_fun2:
                fun_called_ = live_;
                note_call(CodeModule::any_callee);
                break;
            case op_apply: note_call(CodeModule::any_callee); break;
            case op_apply_last: note_tail(CodeModule::any_callee); return leave();
            case op_return:
                if ((fun_gone || after_fun) && first_site_ < module_.sites.size()) {
                    module_.sites.pop_back();
                    open_sites_ = std::min(open_sites_, module_.sites.size());
                    note_tail(CodeModule::any_callee);
                }
                return leave();
            case op_wait:
            case op_wait_timeout: {
                CodeSite site;
                site.kind = CodeSite::Kind::wait;
                if (module_.functions.empty()) return damaged("its code begins in no function");
                site.callee = static_cast<std::uint32_t>(value(0));  // the label, until the function's end
                module_.sites.push_back(site);
                note_targets();
                if (op == op_wait) live_ = false;
                return ok();
            }
            case op_jump:
            case op_select_val:
            case op_select_tuple_arity:
            case op_loop_rec_end:
            case op_badmatch:
            case op_if_end:
            case op_case_end:
            case op_try_case_end:
            case op_raise:
            case op_raw_raise:
            case op_badrecord: note_targets(); return leave();
            default: step_frame(op, after_fun); break;
        }
        note_targets();
        return ok();
    }

    // What changes the frame and nothing else.
    void step_frame(std::uint8_t op, bool after_fun) {
        switch (op) {
            case op_allocate:
            case op_allocate_heap:
            case op_allocate_zero:
            case op_allocate_heap_zero:
                set_frame(value(0));
                state_.catches = 0;
                break;
            case op_trim:
                set_frame(value(1));
                state_.catches = value(0) < 64 ? state_.catches >> value(0) : 0;
                break;
            case op_deallocate:
                // The loader makes one instruction of a fun's call and what gives the frame up: a tail call.
                fun_gone_ = after_fun;
                state_ = {};
                break;
            case op_try:
            case op_catch:
                note_targets();
                if (named_ != 1) break;
                mark(0, true);
                // What is thrown finds the frame with the mark that is taken from there.
                labels_[targets_[0]].state.catches = state_.catches;
                named_ = 0;
                break;
            case op_try_end:
            case op_try_case:
            case op_catch_end: mark(0, false); break;
            default: break;
        }
    }

    // The loader drops the line between a `move` to the first register and a tail call of a function that is none of
    // its own ones (ops.tab): what stands behind has the line before then.
    void drop_line(Last last, Callee callee) {
        if (last != Last::move_and_line || callee == Callee::own) return;
        const bool may_be_own = callee == Callee::unknown;
        other_ = may_be_own ? before_ : module_.drops_lines ? SourcePlace{} : place_;
        if (!may_be_own) place_ = before_;
    }
    // Modules that have functions written in C; which of theirs are is another thing with each release.
    Callee kind_of(const CodeFunctionName& callee) const {
        static constexpr std::string_view modules[] = {"erlang",
                                                       "erts_internal",
                                                       "erts_debug",
                                                       "ets",
                                                       "lists",
                                                       "maps",
                                                       "os",
                                                       "binary",
                                                       "re",
                                                       "math",
                                                       "io",
                                                       "unicode",
                                                       "string",
                                                       "file",
                                                       "code",
                                                       "atomics",
                                                       "counters",
                                                       "error_logger",
                                                       "persistent_term",
                                                       "net_kernel",
                                                       "erl_ddll"};
        // These are, in all of them.
        static constexpr std::string_view own[] = {"error", "exit",    "throw",     "raise",    "put",
                                                   "erase", "send",    "link",      "self",     "halt",
                                                   "spawn", "monitor", "demonitor", "hibernate"};
        const std::string_view name = module_.atoms[callee.name];
        if (module_.atoms[callee.module] == "erlang" &&
            std::find(std::begin(own), std::end(own), name) != std::end(own))
            return Callee::own;
        return std::find(std::begin(modules), std::end(modules), module_.atoms[callee.module]) != std::end(modules)
                   ? Callee::unknown
                   : Callee::other;
    }

    Status leave() {
        note_targets();
        live_ = false;
        return ok();
    }

    Status at_label() {
        const std::uint64_t number = value(0);
        if (number == 0 || number >= labels_.size()) return damaged("a label of its code is out of bounds");
        Label& label = labels_[number];
        if (label.known) state_ = label.state;
        else if (!live_) state_ = {CodeSite::unknown_frame, 0};
        else label.state = state_;
        label.known = true;
        live_ = true;
        label.place = place_;
        label.other = other_;
        label.instruction = instruction_;
        label.sizes = behind_line();
        open_labels_.push_back(static_cast<std::uint32_t>(number));
        if (entry_next_) {
            label.function = entry_ = static_cast<std::uint32_t>(module_.functions.size());
            entry_label_ = static_cast<std::uint32_t>(number);
            state_ = label.state = {};
            entry_next_ = false;
        }
        fresh_labels_.push_back(static_cast<std::uint32_t>(number));
        return ok();
    }

    Status at_line() {
        const std::uint64_t number = value(0);
        if (number == 0) return ok();  // no place: the loader drops it
        size_.line();
        bound_places();
        line_instruction_ = instruction_;
        if (stretches_ != nullptr) stretches_->push_back({0, 0, places_of(number)});
        before_ = place_;
        place_ = places_of(number);
        other_ = {};
        for (const std::uint32_t label : fresh_labels_) {
            labels_[label].place = place_;
            labels_[label].other = {};
        }
        return ok();
    }

    SourcePlace places_of(std::uint64_t number) const {
        return number < places_.size() ? places_[number] : SourcePlace{};
    }

    // The line of a function stands right before its header.
    void begin_stretch(const CodeFunction& function) {
        if (stretches_ == nullptr) return;
        const bool own_line = !stretches_->empty() && stretches_->back().parts.size() == 1;
        if (!own_line) stretches_->push_back({});
        stretches_->back().name = function.name;
        stretches_->back().arity = function.arity;
    }

    Status begin_function() {
        end_function();
        if (value(0) == 0 || value(0) >= module_.atoms.size() || value(1) == 0 || value(1) >= module_.atoms.size())
            return damaged("a function has no name");
        CodeFunction function;
        function.name = static_cast<std::uint32_t>(value(1));
        function.arity = static_cast<std::uint32_t>(std::min<std::uint64_t>(value(2), most_arity));
        function.head = function.entry = place_;
        begin_stretch(function);
        size_.begin();
        line_instruction_ = unbounded - 1;
        before_ = other_ = {};
        function.first_site = static_cast<std::uint32_t>(module_.sites.size());
        function.first_tail = static_cast<std::uint32_t>(module_.tails.size());
        first_site_ = function.first_site;
        module_.functions.push_back(function);
        fresh_labels_.clear();
        instruction_ = 0;
        entry_next_ = live_ = true;
        state_ = {};
        return ok();
    }

    // Where a place stands is bounded by the lines around it. What is called right behind a line is near to that one.
    CodeSite::Sizes behind_line() const {
        CodeSite::Sizes sizes = size_.at_line();
        for (CodeSite::Size& size : sizes)
            size.most = line_instruction_ + 1 == instruction_ ? size.most + most_of_call : unbounded;
        return sizes;
    }
    void bound_places() {
        const CodeSite::Sizes& now = size_.now();
        const auto bound = [&now](CodeSite::Sizes& sizes) {
            for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i].most = std::min(sizes[i].most, now[i].most);
        };
        for (; open_sites_ < module_.sites.size(); ++open_sites_) bound(module_.sites[open_sites_].sizes);
        for (const std::uint32_t label : open_labels_) bound(labels_[label].sizes);
        open_labels_.clear();
    }

    void end_function() {
        bound_places();
        if (module_.functions.empty()) return;
        CodeFunction& function = module_.functions.back();
        if (entry_ == module_.functions.size()) function.entry = labels_[entry_label_].place;
        // What a process in `wait` goes on at is the label: line and frame are those there.
        for (std::size_t i = function.first_site; i < module_.sites.size(); ++i) {
            CodeSite& site = module_.sites[i];
            if (site.kind != CodeSite::Kind::wait) continue;
            const std::uint32_t number = std::exchange(site.callee, CodeModule::any_callee);
            if (number == 0 || number >= labels_.size()) continue;
            const Label& label = labels_[number];
            site.instruction = label.instruction;
            site.sizes = label.sizes;
            site.registers = label.state.registers;
            site.catches = label.state.catches;
            site.place = label.place;
            site.other = label.other;
        }
        function.sites = static_cast<std::uint32_t>(module_.sites.size()) - function.first_site;
        function.tails = static_cast<std::uint32_t>(module_.tails.size()) - function.first_tail;
    }

    void note_call(std::uint32_t callee) {
        if (module_.functions.empty() || !live_) return;
        CodeSite site{CodeSite::Kind::call, state_.registers, state_.catches, callee, instruction_, place_, {}, {}};
        site.sizes = behind_line();
        module_.sites.push_back(site);
    }
    void note_tail(std::uint32_t callee) {
        if (!module_.functions.empty()) module_.tails.push_back(callee);
    }

    // Functions of this module are called by their labels, which may stand further on: until all are known they are
    // told from others by this bit.
    static constexpr std::uint32_t by_label = 1u << 31;
    std::uint32_t local(std::uint64_t label) const {
        return label < labels_.size() ? static_cast<std::uint32_t>(label) | by_label : CodeModule::any_callee;
    }
    Result<std::uint32_t> imported(std::uint64_t number) {
        if (number >= imports_.size()) return damaged("an import of its code is out of bounds");
        return callee(imports_[number]);
    }
    std::uint32_t callee(const CodeFunctionName& name) {
        const auto [at, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(module_.callees.size()));
        if (added) module_.callees.push_back(name);
        return at->second;
    }
    void resolve() {
        const auto resolved = [this](std::uint32_t number) {
            if ((number & by_label) == 0) return number;
            const std::uint32_t function = labels_[number & ~by_label].function;
            if (function == 0) return CodeModule::any_callee;
            const CodeFunction& called = module_.functions[function - 1];
            return callee({1, called.name, called.arity});  // atom 1 is the module's name
        };
        for (CodeSite& site : module_.sites) site.callee = resolved(site.callee);
        for (std::uint32_t& tail : module_.tails) tail = resolved(tail);
        std::stable_sort(module_.functions.begin(), module_.functions.end(),
                         [this](const CodeFunction& a, const CodeFunction& b) {
                             const std::string &left = module_.atoms[a.name], &right = module_.atoms[b.name];
                             return left != right ? left < right : a.arity < b.arity;
                         });
    }

    ByteReader code_;
    std::vector<Label> labels_;
    std::span<const CodeFunctionName> imports_;
    std::span<const SourcePlace> places_;
    CodeModule& module_;
    std::vector<Stretch>* stretches_;
    std::map<CodeFunctionName, std::uint32_t> numbers_;  // in module_.callees
    std::array<ByteReader::Operand, kept_operands> operands_{};
    std::array<std::uint32_t, 64> targets_{};  // labels that the instruction names, the first ones
    std::size_t named_ = 0;
    std::vector<std::uint32_t> fresh_labels_;  // with nothing but lines behind them
    FrameState state_;
    SourcePlace place_, before_;  // of the last `line`, and of the one before it
    SourcePlace other_;           // what the VM may have in place of place_
    std::uint32_t instruction_ = 0;
    std::uint32_t line_instruction_ = 0;  // of the last line
    NativeSize size_;
    std::size_t open_sites_ = 0;              // in module_.sites: from there on no line has come
    std::vector<std::uint32_t> open_labels_;  // behind the last line
    std::uint32_t first_site_ = 0;
    std::uint32_t entry_ = 0, entry_label_ = 0;  // the function that was entered last, from 1, and by which label
    Last last_ = Last::other;
    bool live_ = false;        // what was before goes on here
    bool entry_next_ = false;  // the next label is where the function is entered
    bool fun_called_ = false;  // by the instruction before
    bool fun_gone_ = false;    // and its frame given up by the one before
};

}  // namespace

// A head of its own size, then the set of instructions (0), the highest one, labels, functions.
Status walk_code(std::string_view chunk, std::span<const CodeFunctionName> imports, std::span<const SourcePlace> places,
                 CodeModule& module, std::vector<Stretch>* stretches) {
    ByteReader head(chunk);
    const std::uint32_t size = head.four();
    ByteReader fields(head.take(size));
    const std::uint32_t set = fields.four();
    fields.four();
    const std::uint32_t labels = fields.four();
    if (head.failed() || fields.failed()) return damaged("its code ends early");
    if (set != 0) return Error{ErrorCode::not_recognised, "is of another set of instructions", {}};
    if (labels > head.left() + 1) return damaged("it has more labels than code");
    return Walk(chunk.substr(4 + std::size_t{size}), labels, imports, places, module, stretches).run();
}

}  // namespace beamheap::beam
