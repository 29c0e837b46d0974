// SPDX-License-Identifier: Apache-2.0
// Holds the source tree against the rules that a compiler does not know: which layer may include which, how long
// a file may be, that nothing of the machine it was written on is in it, and that the licence is there.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.hpp"

namespace {

namespace fs = std::filesystem;

struct Layer {
    std::string_view folder;                    ///< where its files are, from the root
    std::vector<std::string_view> may_include;  ///< beginnings of the quoted includes that it may have
    std::vector<std::string_view> never;        ///< system headers that contradict what the layer is
};

/// The arrows of the design. Every layer may have its own headers and those of the layers before it.
const std::vector<Layer>& layers() {
    static const std::vector<Layer> table{
        {"include/beamheap", {"beamheap/"}, {"cstdio", "iostream", "fstream"}},
        // error.hpp is how every layer says "cannot"; it knows nothing of Erlang.
        {"src/bytes", {"bytes/", "beamheap/error.hpp"}, {"iostream", "regex"}},
        {"src/model", {"beamheap/", "model/"}, {"cstdio", "iostream", "fstream", "regex"}},
        {"formats", {"beamheap/", "model/", "bytes/", "formats/"}, {"iostream", "regex"}},
        {"src/erlang",
         {"beamheap/", "model/", "erlang/"},
         {"cstdio", "iostream", "fstream", "regex", "unistd.h", "stdio.h"}},
        {"src/analyses",
         {"beamheap/", "model/", "erlang/", "analyses/", "rule_list.inc", "fact_list.inc", "explain_pages.inc"},
         {"cstdio", "iostream", "fstream", "regex", "unistd.h", "stdio.h"}},
        {"src/present",
         // Formats that are compressed need what compresses.
         {"beamheap/", "bytes/compress.hpp", "model/", "erlang/", "analyses/", "present/", "beamheap_version.hpp",
          "report_assets.inc"},
         {"iostream", "regex", "unistd.h"}},
        {"src/sql", {"beamheap/", "present/", "sql/"}, {"cstdio", "iostream", "fstream", "regex"}},
        {"src/cli",
         {"beamheap/", "model/", "bytes/", "formats/", "erlang/", "analyses/", "present/", "sql/", "cli/",
          "beamheap_version.hpp"},
         {"iostream", "regex"}},
    };
    return table;
}

/// A room of a layer, and the rooms of the same layer that its files may include besides their own. What stands in no
/// room (formats/otp/core_artifact.cpp) may include all of them and is included by none.
struct Room {
    std::string_view name;
    std::vector<std::string_view> may_include;
};
struct House {
    std::string_view folder;   ///< of the layer or of a part of it, from the root
    std::string_view include;  ///< how quoted includes of its files begin
    std::vector<Room> rooms;
};

/// The arrows inside of analyses, of the readers of core images and of the command.
const std::vector<House>& houses() {
    static const std::vector<House> table{
        {"src/analyses",
         "analyses/",
         {{"base", {}},
          {"processes", {"base"}},
          {"heaps", {"base", "processes"}},
          {"memory", {"base", "processes"}},
          {"selectors", {"base", "processes"}},
          {"slogan", {"base"}},
          {"logs", {"base"}},
          {"causes", {"base", "logs"}},
          {"code", {"base", "processes"}},
          {"facts", {"base", "processes", "heaps", "memory", "slogan", "logs", "causes"}},
          {"rules", {"base", "processes", "heaps", "memory", "selectors", "slogan", "logs", "causes", "facts"}},
          {"diagnosis",
           {"base", "processes", "heaps", "memory", "selectors", "slogan", "logs", "causes", "facts", "rules"}}}},
        {"formats/otp",
         "formats/otp/",
         {{"layout", {}},
          {"vm", {"layout"}},
          {"processes", {"layout", "vm"}},
          {"tables", {"layout", "vm", "processes"}},
          {"heaps", {"layout", "vm", "processes", "tables"}},
          {"sampling", {"layout", "vm", "processes"}}}},
        {"src/cli",
         "cli/",
         {{"options", {}},
          {"console", {"options"}},
          {"code", {"options", "console"}},
          {"frame", {"options", "console", "code"}},
          {"live", {"options", "console", "frame"}},
          {"tables", {"options", "console", "code", "frame"}},
          {"exports", {"options", "console", "frame", "tables"}},
          {"checks", {"options", "console", "code", "frame", "tables"}},
          {"verbs", {"options", "console", "code", "frame", "live"}},
          {"shell", {"options", "console", "frame"}},
          {"ui", {"options", "console", "frame", "live", "shell"}},
          {"mcp", {"options", "console", "frame", "live"}},
          {"library", {"options", "console", "frame"}},
          {"catch", {"options", "console", "frame", "live"}},
          {"watch", {"options", "console", "frame", "live", "catch"}}}},
    };
    return table;
}

/// The first folder of a path, or nothing where it is a file.
std::string_view first_folder(std::string_view path) {
    const std::size_t slash = path.find('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

/// What is wrong with the includes of one file of a house: a sentence for each. `name` is its path from the root.
std::vector<std::string> wrong_rooms(const House& house, std::string_view name, std::string_view text) {
    const auto find = [&](std::string_view room) {
        return std::find_if(house.rooms.begin(), house.rooms.end(), [&](const Room& r) { return r.name == room; });
    };
    const std::string place = std::string(name) + ": ";
    const std::string_view own = first_folder(name.substr(house.folder.size() + 1));
    const auto room = find(own);
    if (room == house.rooms.end() && !own.empty()) return {place + "no arrows are known of this room"};
    std::vector<std::string> found;
    const std::string begin = "#include \"" + std::string(house.include);
    for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1)) {
        const std::string_view target =
            text.substr(at + begin.size(), text.find('"', at + begin.size()) - at - begin.size());
        const std::string_view other = first_folder(target);
        if (own.empty()) continue;
        const std::vector<std::string_view>& allowed = room->may_include;
        if (other != own && std::find(allowed.begin(), allowed.end(), other) == allowed.end())
            found.push_back(place + "must not include " + std::string(target));
    }
    return found;
}

/// What is wrong with the includes of one file of a layer: a sentence for each.
std::vector<std::string> wrong_includes(const Layer& layer, std::string_view name, std::string_view text) {
    std::vector<std::string> found;
    std::istringstream lines{std::string(text)};
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::size_t hash = line.find_first_not_of(" \t");
        if (hash == std::string::npos || line[hash] != '#') continue;
        const std::size_t word = line.find_first_not_of(" \t", hash + 1);
        if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
        const std::size_t open = line.find_first_of("\"<", word);
        const std::size_t close = open == std::string::npos ? open : line.find_first_of("\">", open + 1);
        if (close == std::string::npos) continue;
        const std::string target = line.substr(open + 1, close - open - 1);
        const auto begins = [&](std::string_view prefix) { return target.compare(0, prefix.size(), prefix) == 0; };
        const auto is = [&](std::string_view header) { return target == header; };
        const std::string place = std::string(name) + ":" + std::to_string(number) + ": " + std::string(layer.folder);
        if (line[open] == '"' && std::none_of(layer.may_include.begin(), layer.may_include.end(), begins)) {
            found.push_back(place + " must not include \"" + target + "\"");
        }
        if (line[open] == '<' && (begins("beamheap/") || std::any_of(layer.never.begin(), layer.never.end(), is))) {
            found.push_back(place + " must not include <" + target + ">");
        }
    }
    return found;
}

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Files below a folder of the source tree with one of the endings, sorted.
std::vector<fs::path> files(const fs::path& folder, const std::vector<std::string_view>& endings) {
    std::vector<fs::path> found;
    if (!fs::exists(folder)) return found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        const std::string ending = entry.path().extension().string();
        if (std::find(endings.begin(), endings.end(), ending) != endings.end()) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

const fs::path& root() {
    static const fs::path path = beamheap::test::source_dir();
    return path;
}

/// Everything that people read and write, except the folders of builds and of other tools.
std::vector<fs::path> written_files() {
    std::vector<fs::path> found;
    const std::vector<std::string_view> endings{".cpp", ".hpp", ".inc", ".cmake", ".txt", ".in",      ".sh",
                                                ".py",  ".erl", ".md",  ".json",  ".yml", ".escript", ""};
    for (const char* folder : {"src", "include", "formats", "tests", "cmake", ".ci"}) {
        const std::vector<fs::path> below = files(root() / folder, endings);
        found.insert(found.end(), below.begin(), below.end());
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(root())) {
        if (entry.is_regular_file() && entry.path().filename() != ".git") found.push_back(entry.path());
    }
    return found;
}

}  // namespace

TEST_CASE("includes point one way through the layers", "[layers]") {
    const std::vector<std::string_view> sources{".cpp", ".hpp", ".inc"};
    std::size_t seen = 0;
    for (const Layer& layer : layers()) {
        for (const fs::path& path : files(root() / layer.folder, sources)) {
            ++seen;
            for (const std::string& sentence : wrong_includes(layer, fs::relative(path, root()).string(), read(path))) {
                FAIL_CHECK(sentence);
            }
        }
    }
    CHECK(seen > 5);
}

TEST_CASE("includes point one way through the rooms of a layer", "[layers]") {
    for (const House& house : houses()) {
        std::size_t seen = 0;
        for (const fs::path& path : files(root() / house.folder, {".cpp", ".hpp"})) {
            ++seen;
            for (const std::string& sentence : wrong_rooms(house, fs::relative(path, root()).string(), read(path)))
                FAIL_CHECK(sentence);
        }
        CHECK(seen > 20);
        for (const Room& room : house.rooms) CHECK(fs::exists(root() / house.folder / room.name));
    }
}

TEST_CASE("an include against the arrows of rooms is found", "[layers]") {
    const House& analyses = houses()[0];
    const House& otp = houses()[1];
    CHECK(wrong_rooms(analyses, "src/analyses/processes/a.hpp", "#include \"analyses/rules/finding.hpp\"\n").size() ==
          1);
    CHECK(wrong_rooms(analyses, "src/analyses/rules/a.hpp", "#include \"analyses/processes/waits.hpp\"\n").empty());
    CHECK(wrong_rooms(analyses, "src/analyses/base/a.hpp", "#include \"analyses/base/sum.hpp\"\n").empty());
    CHECK(wrong_rooms(analyses, "src/analyses/heaps/a.hpp",
                      "\n#include \"analyses/memory/a.hpp\"\n#include \"analyses/base/b.hpp\"")
              .size() == 1);
    CHECK(wrong_rooms(analyses, "src/analyses/attic/a.hpp", "").size() == 1);
    CHECK(wrong_rooms(otp, "formats/otp/vm/a.cpp", "#include \"formats/otp/core_artifact.hpp\"\n").size() == 1);
    CHECK(wrong_rooms(otp, "formats/otp/core_artifact.cpp", "#include \"formats/otp/heaps/core_terms.hpp\"\n").empty());
    CHECK(wrong_rooms(otp, "formats/otp/layout/a.cpp", "#include \"formats/otp/vm/vm.hpp\"\n").size() == 1);
}

TEST_CASE("every source file belongs to a layer", "[layers]") {
    for (const char* top : {"src", "include", "formats"}) {
        for (const fs::path& path : files(root() / top, {".cpp", ".hpp", ".inc"})) {
            const std::string name = fs::relative(path, root()).string();
            const bool known = std::any_of(layers().begin(), layers().end(), [&](const Layer& layer) {
                return name.compare(0, layer.folder.size(), layer.folder) == 0;
            });
            CHECK((known || name.empty()));
            if (!known) FAIL_CHECK(name + " is in no layer's folder");
        }
    }
}

TEST_CASE("an include against the arrows is found", "[layers]") {
    const auto layer = [](std::string_view folder) {
        return *std::find_if(layers().begin(), layers().end(), [&](const Layer& l) { return l.folder == folder; });
    };
    CHECK(wrong_includes(layer("src/bytes"), "a.cpp", "#include \"beamheap/snapshot.hpp\"\n").size() == 1);
    CHECK(wrong_includes(layer("src/bytes"), "a.cpp", "#include \"bytes/b.hpp\"\n#include <vector>\n").empty());
    CHECK(wrong_includes(layer("include/beamheap"), "a.hpp", "#  include \"formats/x.hpp\"").size() == 1);
    CHECK(wrong_includes(layer("src/analyses"), "a.cpp", "\t#include \"present/document.hpp\"\n").size() == 1);
    CHECK(wrong_includes(layer("src/analyses"), "a.cpp", "\n#include <cstdio>\n").size() == 1);
    CHECK(wrong_includes(layer("src/present"), "a.cpp", "#include \"document.hpp\"\n").size() == 1);
    CHECK(wrong_includes(layer("src/present"), "a.cpp", "#include <beamheap/ids.hpp>\n").size() == 1);
    CHECK(wrong_includes(layer("formats"), "a.cpp", "#include \"analyses/x.hpp\"\n").size() == 1);
    CHECK(wrong_includes(layer("src/cli"), "a.cpp", "#include \"formats/x.hpp\"\n#include \"cli/y.hpp\"\n").empty());
}

namespace {

/// Names of modules, of which two kinds are told apart: those with an underscore or of Elixir's are found wherever they
/// stand; `timer` and `file` are ordinary words, and are found where a module or a registered name is asked for.
struct ModuleNames {
    std::set<std::string> names;

    /// Takes the first literal of every row of a table: BH_MODULE("lists", ...), "lists", "maps", ...
    void add_literals(std::string_view text) {
        for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
            const std::size_t end = text.find('"', at + 1);
            if (end == text.npos) break;
            const std::string name(text.substr(at + 1, end - at - 1));
            if (name.find('_') != name.npos && name != "_" && name.find('*') == name.npos) names.insert(name);
            at = end;
        }
    }
};

/// Modules that OTP ships with, those that have a role, and their functions' rows.
ModuleNames module_names() {
    ModuleNames found{{"gen", "supervisor", "mnesia", "erlang", "dets", "rpc", "erpc"}};
    const std::string shipped = read(root() / "src/present/otp_names.inc");
    found.add_literals(std::string_view(shipped).substr(0, shipped.find("};")));
    found.add_literals(read(root() / "src/erlang/modules.inc"));
    found.add_literals(read(root() / "src/erlang/registered.inc"));
    return found;
}

/// Whether what stands before a literal asks for a module or for a process by its name: `module ==`,
/// `.module.starts_with(`, `find_registered(`.
bool asks_for_name(std::string_view before) {
    while (before.ends_with(' ') || before.ends_with('(')) before.remove_suffix(1);
    if (before.ends_with("find_registered") || before.ends_with("is_in_module")) return true;
    for (const std::string_view compares : {"==", "!=", ".starts_with", ".ends_with", ".find"})
        if (before.ends_with(compares)) {
            before.remove_suffix(compares.size());
            const std::size_t other = before.find_last_of("&|?;{!");
            const std::string_view compared = other == before.npos ? before : before.substr(other + 1);
            return compared.find("odule") != compared.npos;
        }
    return false;
}

/// The literals of a line of code that name a module, or a function of one ("init:get_boot"). What is said to people
/// about a column (.doc, .examples) may.
std::vector<std::string> modules_named(std::string_view line, const ModuleNames& modules) {
    std::vector<std::string> found;
    if (line.find("#include") != line.npos || line.find(".doc = ") != line.npos) return found;
    const std::size_t code = line.find_first_not_of(' ');
    for (std::size_t at = line.find('"'); at != line.npos; at = line.find('"', at + 1)) {
        if (const std::size_t comment = line.find("//", code); comment < at) break;
        const std::size_t end = line.find('"', at + 1);
        if (end == line.npos) break;
        const std::string literal(line.substr(at + 1, end - at - 1));
        const std::size_t colon = literal.find(' ') == literal.npos ? literal.find(':') : literal.npos;
        if (literal.starts_with("Elixir.") || modules.names.contains(literal.substr(0, colon)) ||
            (asks_for_name(line.substr(0, at)) && !literal.starts_with('.')))  // ".erl"
            found.push_back(literal);
        at = end;
    }
    return found;
}

/// A literal outside of src/erlang that looks like a module, and is none.
struct NoModule {
    std::string_view file, literal, because;
};
constexpr std::array no_modules{
    NoModule{"src/analyses/slogan/slogan.cpp", "code_server", "a kind of slogan, as JSON has it"},
    NoModule{"src/present/report_tables.cpp", "supervisor", "a column"},
    NoModule{"src/present/tables_process.cpp", "supervisor", "a column"},
    NoModule{"src/present/secrets/secret_keys.cpp", "supervisor", "the end of a name that is no secret"},
    NoModule{"src/present/secrets/secret_neighbours.cpp", "Elixir.", "how structs are told, for their secrets"},
    NoModule{"src/present/secrets/secret_files.cpp", "public_key", "whose arguments redaction hides, in texts"},
    NoModule{"src/present/secrets/secret_terms.cpp", "public_key", "the same, in terms"},
    NoModule{"src/present/secrets/redact_names.cpp", "Elixir.", "how aliases are told, for their names"},
    NoModule{"src/present/tables_heaps.cpp", "persistent_term", "what binaries are held by, in JSON"},
    NoModule{"src/cli/live/cmd_profile.cpp", "gen_server:loop", "an example of the help"},
};

}  // namespace

TEST_CASE("what OTP and libraries are is told in src/erlang alone", "[layers]") {
    const ModuleNames modules = module_names();
    CHECK(modules.names.size() > 300);
    std::size_t allowed = 0;
    for (const char* folder : {"src/analyses", "src/present", "src/sql", "src/cli", "src/model", "include"})
        for (const fs::path& path : files(root() / folder, {".cpp", ".hpp", ".inc"})) {
            const std::string name = fs::relative(path, root()).string();
            if (name == "src/present/otp_names.inc") continue;  // names that redaction lets stand, whatever they are
            std::istringstream lines(read(path));
            for (std::string line; std::getline(lines, line);)
                for (const std::string& literal : modules_named(line, modules)) {
                    const auto known = [&](const NoModule& row) { return row.file == name && row.literal == literal; };
                    if (std::ranges::any_of(no_modules, known)) ++allowed;
                    else FAIL_CHECK(name << " names " << literal << ": give it a role in src/erlang, and ask for that");
                }
        }
    CHECK(allowed >= no_modules.size());  // each of them is still there
}

TEST_CASE("a module that is named is found", "[layers]") {
    const ModuleNames modules = module_names();
    const auto found = [&](std::string_view line) { return modules_named(line, modules).size(); };
    CHECK(found("    f(\"gen_server\");") == 1);
    CHECK(found("f(\"net_kernel:_\");") == 1);
    CHECK(found("f(\"Elixir.Logger\");") == 1);
    CHECK(found("if (module == \"lists\" || frame.module != \"io\")") == 2);
    CHECK(found("if (module_of(s, function) == \"timer\")") == 1);
    CHECK(found("if (s.text(f.module).starts_with(\"rabbit\"))") == 1);
    CHECK(found("s.find_registered(\"init\")") == 1);
    CHECK(found("if (name == \"lists\") return \"timer\";") == 0);
    CHECK(found("// \"gen_server\"") == 0);
    CHECK(found("std::string name;  ///< \"application_controller\"") == 0);
    CHECK(found("f(\"a call of gen_server: x\");") == 0);
}

namespace {

/// Lines of code that touch a flag of a plan of loading: `plan.tables = true`, `demand.parts.atoms`.
std::size_t flags_touched(const std::string& text) {
    std::size_t count = 0;
    for (const std::string_view plan : {"plan.", "plan_.", "plan().", "parts.", "parts_."})
        for (const std::string_view flag : {"tables", "links", "stacks", "slots_of", "labels", "atoms", "modules",
                                            "code_path", "module_versions", "to_the_end", "terms", "binaries"}) {
            const std::string wanted = std::string(plan).append(flag);
            for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
                const auto word = [&](std::size_t i) {
                    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
                };
                if (!word(at + wanted.size()) && (at == 0 || !word(at - 1))) ++count;
            }
        }
    return count;
}

}  // namespace

TEST_CASE("what an answer takes of the input is named in the room of facts", "[layers]") {
    std::size_t seen = 0;
    for (const char* folder : {"src/cli", "src/present", "src/sql", "src/analyses"})
        for (const fs::path& path : files(root() / folder, {".cpp", ".hpp", ".inc"})) {
            const std::string name = fs::relative(path, root()).string();
            if (name.starts_with("src/analyses/facts/")) continue;
            ++seen;
            if (const std::size_t count = flags_touched(read(path)); count != 0)
                FAIL_CHECK(name << " touches " << count << " flags of a plan: ask for a need (facts/needs.hpp)");
        }
    CHECK(seen > 200);
    CHECK(flags_touched("plan.tables = plan.links = true;") == 2);
    CHECK(flags_touched("d.plan.atoms") == 1);
    CHECK(flags_touched("model.plan().labels") == 1);
    CHECK(flags_touched("plan.terms_of = f; explan.links; parts.size()") == 0);
}

TEST_CASE("no file is longer than a reader takes in", "[layers]") {
    constexpr std::ptrdiff_t hard_cap = 700;
    for (const char* folder : {"src", "include", "formats", "tests", "cmake"}) {
        for (const fs::path& path :
             files(root() / folder, {".cpp", ".hpp", ".py", ".sh", ".erl", ".cmake", ".escript", ""})) {
            const std::string text = read(path);
            const auto lines = std::count(text.begin(), text.end(), '\n');
            if (lines > hard_cap) FAIL_CHECK(fs::relative(path, root()).string() << " has " << lines << " lines");
        }
    }
    SUCCEED();
}

TEST_CASE("nothing of the machine it was written on is in the project", "[layers]") {
    // Put together here, so that this file does not hold them.
    const std::array<std::string, 7> words{std::string("/wo") + "rk/",           std::string("/ho") + "me/",
                                           std::string("/ro") + "ot/",           std::string("/tmp/") + "lab",
                                           std::string("shared/") + "reference", std::string("shared/") + "design",
                                           std::string("shared/") + "interface"};
    std::size_t seen = 0;
    for (const fs::path& path : written_files()) {
        ++seen;
        const std::string text = read(path);
        for (const std::string& word : words) {
            const std::size_t at = text.find(word);
            if (at == std::string::npos) continue;
            const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            FAIL_CHECK(fs::relative(path, root()).string() << ":" << line << ": " << word);
        }
    }
    CHECK(seen > 20);
}

TEST_CASE("the licence is there", "[layers]") {
    const std::string text = read(root() / "LICENSE");
    CHECK(text.find("Apache License") != std::string::npos);
    CHECK(text.find("Version 2.0, January 2004") != std::string::npos);
}

namespace {

/// The functions of a file, as clang-format writes them: a statement at most four columns from the left that is no
/// block within a function and ends with "{", up to the first line behind it that is as far to the left. With its
/// lines.
std::vector<std::pair<std::string, std::ptrdiff_t>> functions_of(const std::string& text) {
    std::vector<std::pair<std::string, std::ptrdiff_t>> found;
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    const auto margin = [](const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); };
    std::size_t start = 0;  // of the statement
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        if (margin(lines[i]) <= 4) start = i;
        const std::string code = lines[start].substr(margin(lines[start]));
        const auto begins = [&code](std::string_view word) { return code.compare(0, word.size(), word) == 0; };
        if (!lines[i].ends_with(" {") || code.find('(') == std::string::npos) continue;
        if (begins("if (") || begins("for (") || begins("while (") || begins("switch (") || begins("}") ||
            begins("//") || begins("#") || begins("case ") || begins("do {"))
            continue;
        std::size_t end = i + 1;
        while (end < lines.size() && (lines[end].empty() || margin(lines[end]) > margin(lines[start]))) ++end;
        if (start == i || found.empty() || found.back().first != code)
            found.emplace_back(code, static_cast<std::ptrdiff_t>(end - start + 1));
    }
    return found;
}

}  // namespace

TEST_CASE("no function is longer than a screen", "[layers]") {
    std::size_t seen = 0;
    for (const std::string folder : {"src", "include", "formats", "tests"}) {
        const std::ptrdiff_t hard_cap = folder == "tests" ? 90 : 80;  // a test may be a table of rows
        for (const fs::path& path : files(root() / folder, {".cpp", ".hpp"})) {
            for (const auto& [name, lines] : functions_of(read(path))) {
                ++seen;
                if (lines > hard_cap)
                    FAIL_CHECK(fs::relative(path, root()).string()
                               << " has a function of " << lines << " lines: " << name);
            }
        }
    }
    CHECK(seen > 1500);
    const auto made =
        functions_of("namespace {\nint f(int a,\n      int b) {\n\n    if (a) {\n    }\n    return b;\n}\n}\n");
    REQUIRE(made.size() == 1);
    CHECK(made[0].second == 7);
}
