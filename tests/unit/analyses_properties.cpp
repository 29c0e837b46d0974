// SPDX-License-Identifier: Apache-2.0
// Properties of the analyses over random snapshots, held against slow and obvious code.
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/supervision.hpp"
#include "analyses/selectors/selectors.hpp"
#include "erlang/erlang_syntax.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;

namespace {

// Bytes as inputs have them: mostly those that mean something to the code under test.
rc::Gen<std::string> bytes_of(const std::string& alphabet) {
    return rc::gen::container<std::string>(rc::gen::elementOf(alphabet));
}
rc::Gen<std::string> any_bytes() { return rc::gen::container<std::string>(rc::gen::arbitrary<char>()); }

struct Row {
    std::uint64_t msgq = 0;
    bool running = false, sensitive = false, registered = false;
};

MadeSnapshot snapshot_of(const std::vector<Row>& rows) {
    MadeSnapshot m;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        Process& p = m.process(i, rows[i].registered ? "name_" + std::to_string(i) : std::string());
        p.msgq_len = rows[i].msgq;
        p.sensitive = rows[i].sensitive;
        if (rows[i].running) p.state = ProcessState::running;
    }
    m.seal();
    return m;
}

rc::Gen<std::vector<Row>> some_rows() {
    return rc::gen::container<std::vector<Row>>(
        rc::gen::construct<Row>(rc::gen::inRange<std::uint64_t>(0, 6), rc::gen::arbitrary<bool>(),
                                rc::gen::arbitrary<bool>(), rc::gen::arbitrary<bool>()));
}

// A selector with what it means, built side by side: text, how tightly it binds, and which rows it takes.
struct Meant {
    std::string text;
    int binds = 4;  // 1: or, 2: and, 3: not, 4: a term
    std::vector<bool> takes;
};

Meant term(const std::vector<Row>& rows) {
    const int kind = *rc::gen::inRange(0, 6);
    const auto limit = *rc::gen::inRange<std::uint64_t>(0, 6);
    Meant meant;
    meant.takes.resize(rows.size());
    const std::vector<std::string> texts{
        "running", "sensitive", "registered", "msgq > " + std::to_string(limit), "msgq_len<=" + std::to_string(limit),
        "all"};
    meant.text = texts[static_cast<std::size_t>(kind)];
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::vector<bool> holds{rows[i].running,      rows[i].sensitive,     rows[i].registered,
                                      rows[i].msgq > limit, rows[i].msgq <= limit, true};
        meant.takes[i] = holds[static_cast<std::size_t>(kind)];
    }
    return meant;
}

std::string within(const Meant& meant, int binds) {
    const bool needed = meant.binds < binds;
    return needed || *rc::gen::inRange(0, 4) == 0 ? "(" + meant.text + " )" : meant.text;
}

Meant expression(const std::vector<Row>& rows, int steps) {
    std::vector<Meant> stack{term(rows)};
    for (int step = 0; step < steps; ++step) {
        const int kind = *rc::gen::inRange(0, 4);
        if (kind == 0 || stack.size() < 2) {
            stack.push_back(term(rows));
        } else if (kind == 1) {
            Meant& top = stack.back();
            top.text = "!" + within(top, 3);
            top.binds = 3;
            top.takes.flip();
        } else {
            const Meant right = stack.back();
            stack.pop_back();
            Meant& left = stack.back();
            const int binds = kind == 2 ? 1 : 2;
            left.text = within(left, binds) + (kind == 2 ? " , " : "&") + within(right, binds + 1);
            left.binds = binds;
            for (std::size_t i = 0; i < rows.size(); ++i)
                left.takes[i] = kind == 2 ? left.takes[i] || right.takes[i] : left.takes[i] && right.takes[i];
        }
    }
    return stack.back();
}

bool glob_slowly(std::string_view text, std::string_view glob) {
    // fits[i][j]: the first i bytes of text fit the first j of glob.
    std::vector<std::vector<bool>> fits(text.size() + 1, std::vector<bool>(glob.size() + 1));
    fits[0][0] = true;
    for (std::size_t i = 0; i <= text.size(); ++i)
        for (std::size_t j = 1; j <= glob.size(); ++j)
            fits[i][j] = glob[j - 1] == '*' ? fits[i][j - 1] || (i > 0 && fits[i - 1][j])
                                            : i > 0 && glob[j - 1] == text[i - 1] && fits[i - 1][j - 1];
    return fits[text.size()][glob.size()];
}

Snapshot atoms_of(const std::vector<std::string>& names) {
    Snapshot s;
    for (const std::string& name : names) s.atoms.push_back(s.texts.intern(name));
    return s;
}
std::map<std::string, std::uint64_t> by_pattern(const AtomFamilies& found) {
    std::map<std::string, std::uint64_t> counts;
    for (const AtomFamily& family : found.families) counts[family.pattern] += family.count;
    return counts;
}

}  // namespace

TEST_CASE("any selector takes what its parts say", "[selectors][slow]") {
    rc::prop("combinations follow precedence", [] {
        const std::vector<Row> rows = *some_rows();
        const Meant meant = expression(rows, *rc::gen::inRange(0, 12));
        const MadeSnapshot m = snapshot_of(rows);
        RC_LOG() << meant.text << "\n";
        const auto found = select_processes(m.s, meant.text);
        RC_ASSERT(static_cast<bool>(found));
        std::vector<ProcId> expected;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (meant.takes[i]) expected.push_back(static_cast<ProcId>(i));
        RC_ASSERT(*found == expected);
    });
    rc::prop("any bytes are a selector or an error with a place", [] {
        const MadeSnapshot m = snapshot_of({{1, true, false, true}, {2, false, true, false}});
        const std::string text =
            *rc::gen::oneOf(any_bytes(), bytes_of("msgq>1,&!()'\"<0.1>:* 2%=/_"), bytes_of("children(0.1.0),!&name_0"));
        const auto found = select_processes(m.s, text);
        if (!found) {
            RC_ASSERT(found.error().code == ErrorCode::usage);
            RC_ASSERT(!found.error().message.empty());
        } else {
            RC_ASSERT(found->size() <= 2u);
        }
    });
}

TEST_CASE("what is written is read back", "[selectors][slow]") {
    rc::prop("pids", [](std::uint32_t node, std::uint32_t number, std::uint32_t serial) {
        RC_PRE(node != ~0u && number != ~0u && serial != ~0u);
        const std::string n = std::to_string(node), m = std::to_string(number), s = std::to_string(serial);
        for (const std::string& text :
             {"<" + n + "." + m + "." + s + ">", n + "." + m + "." + s, "#PID<" + n + "." + m + "." + s + ">",
              "pid(" + n + "," + m + "," + s + ")", n + "," + m + "," + s}) {
            const auto read = parse_pid_or_name(text);
            RC_ASSERT(static_cast<bool>(read));
            RC_ASSERT(read->pid == (Pid{node, number, serial}));
        }
    });
    rc::prop("names, as one process and within a selector", [] {
        std::string name = *rc::gen::oneOf(any_bytes(), bytes_of("ab'\\\"\n(),&!<>.@_ *1\xC3\xA5"));
        RC_PRE(!name.empty());
        MadeSnapshot m;
        m.process(1);
        m.process(2, name);
        m.seal();
        const auto found = resolve(m.s, atom_text(name));
        RC_ASSERT(static_cast<bool>(found));
        RC_ASSERT(m.s[*found].pid.number == 2u);
        const std::string shown = atom_text(name);
        if (shown.front() != '\'') return;  // a bare name may be a word of selectors
        const auto picked = select_processes(m.s, "0.1.0," + shown + " ");
        RC_ASSERT(static_cast<bool>(picked));
        RC_ASSERT(picked->size() == 2u);
    });
    rc::prop("globs", [] {
        const std::string text = *bytes_of("ab");
        const std::string glob = *bytes_of("ab*");
        RC_ASSERT(fits_glob(text, glob) == glob_slowly(text, glob));
    });
}

TEST_CASE("atom families over random atoms", "[atoms][slow]") {
    rc::prop("short numbers: the same as counting patterns", [] {
        // Pieces are too short to be hexadecimal or random, numbers too short to be ambiguous.
        const auto piece =
            rc::gen::elementOf(std::vector<std::string>{"user", "x", "_", "-", "1", "22", "333", "@", "é"});
        std::vector<std::string> names;
        for (const auto& pieces : *rc::gen::container<std::vector<std::vector<std::string>>>(
                 rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(piece)))) {
            std::string name;
            for (const std::string& p : pieces) name += p;
            names.push_back(name);
        }
        std::map<std::string, std::uint64_t> expected;
        for (const std::string& name : names)
            if (const std::string pattern = atom_pattern(name); pattern != name) ++expected[pattern];
        std::erase_if(expected, [](const auto& entry) { return entry.second < 2; });
        RC_ASSERT(by_pattern(atom_families(atoms_of(names))) == expected);
    });
    rc::prop("any atoms: counts do not depend on the order, examples belong to their family", [] {
        std::vector<std::string> names = *rc::gen::container<std::vector<std::string>>(
            rc::gen::oneOf(any_bytes(), bytes_of("0123456789abcdef-"), bytes_of("aB3_-"), bytes_of("12345678ab")));
        const Snapshot forward = atoms_of(names);
        const AtomFamilies found = atom_families(forward);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < found.families.size(); ++i) {
            const AtomFamily& family = found.families[i];
            RC_ASSERT(family.count >= 2u);
            RC_ASSERT(family.newest < family.oldest);
            RC_ASSERT((i == 0 || found.families[i - 1].count >= family.count));
            RC_ASSERT(family.examples.size() == std::min<std::size_t>(family.count, 3));
            RC_ASSERT(forward.atoms[family.newest] == family.examples[0]);
            sum += family.count;
        }
        RC_ASSERT(sum == found.in_families);
        RC_ASSERT(sum <= names.size());
        std::reverse(names.begin(), names.end());
        RC_ASSERT(by_pattern(atom_families(atoms_of(names))) == by_pattern(found));
    });
}

TEST_CASE("any parents make a forest that holds everyone once", "[supervision][slow]") {
    rc::prop("forged spawners, links and supervisors", [] {
        const auto number = rc::gen::inRange<std::uint32_t>(0, 12);
        MadeSnapshot m;
        const std::size_t count = *rc::gen::inRange<std::size_t>(0, 12);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::string name = i == *number ? "init" : i == *number ? "application_controller" : "";
            Process& p = m.process(i, name, *number);
            p.memory_bytes = 1;
            if (*rc::gen::arbitrary<bool>()) p.real_initial_call = m.function("supervisor", "x", 1);
            if (*rc::gen::arbitrary<bool>()) p.application = m.text("init");
            m.links(*rc::gen::resize(4, rc::gen::container<std::vector<std::uint32_t>>(number)));
        }
        m.seal();
        const SupervisionTree tree = supervision(m.s);
        std::set<ProcId> seen;
        for (const TreeRow& row : tree_rows(tree, ProcId::none, 0)) {
            RC_ASSERT(seen.insert(row.process).second);
            RC_ASSERT(tree[row.process].depth == row.depth);
        }
        RC_ASSERT(seen.size() == count);
        std::uint64_t processes = 0;
        for (const ProcId id : tree.roots) processes += tree[id].processes;
        for (const ProcId id : tree.orphans) processes += tree[id].processes;
        RC_ASSERT(processes == count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto id = static_cast<ProcId>(i);
            std::uint64_t below = 1;
            for (const ProcId child : tree.children_of(id)) {
                RC_ASSERT(tree[child].parent == id);
                below += tree[child].processes;
            }
            RC_ASSERT(tree[id].processes == below);
            RC_ASSERT(tree[id].memory_bytes.value() == Count(below));
            RC_ASSERT(descendants(tree, id).size() + 1 == below);
        }
    });
    rc::prop("groups share out the processes", [] {
        MadeSnapshot m;
        for (const std::uint32_t kind : *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0u, 5u))) {
            Process& p = m.process(static_cast<std::uint32_t>(m.s.processes.size()));
            if (kind != 0) p.application = m.text("app" + std::to_string(kind));
        }
        const ProcessGroups groups = group_by_key(m.s, all_processes(m.s));
        std::set<ProcId> seen;
        for (std::size_t i = 0; i < groups.groups.size(); ++i) {
            RC_ASSERT((i == 0 || groups.groups[i - 1].count >= groups.groups[i].count));
            for (const ProcId id : groups.members_of(groups.groups[i])) {
                RC_ASSERT(seen.insert(id).second);
                RC_ASSERT(group_key(m.s[id]) == groups.groups[i].key);
            }
        }
        RC_ASSERT(seen.size() == m.s.processes.size());
    });
}
