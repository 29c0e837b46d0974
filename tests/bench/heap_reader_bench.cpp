// SPDX-License-Identifier: Apache-2.0
// Reads all heaps of a plain crash dump and prints what an object costs: nanoseconds, and bytes of arrays.
//
//     heap_reader_bench DUMP [read|graph|full|values]
//
// read: text to nodes and references; graph: and resolves references; full: and flat sizes, dominators, retained sizes.
// Under `valgrind --tool=callgrind` the instructions divided by the objects that it prints are the figure to hold.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/heaps/dominators.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/retained.hpp"
#include "analyses/heaps/sizes.hpp"
#include "formats/crashdump/heap_reader.hpp"

using namespace beamheap;
using namespace beamheap::crashdump;

namespace {

constexpr std::size_t window = std::size_t{256} << 10;

/// A splitter that is good enough for benchmark dumps, where no atom holds a section tag.
struct Sections {
    std::string_view text;
    std::size_t at = 0;
    bool next(std::string_view& tag, std::size_t& body, std::size_t& end) {
        if (at >= text.size()) return false;
        const std::size_t eol = text.find('\n', at);
        if (eol == std::string_view::npos) return false;
        tag = text.substr(at + 1, eol - at - 1);
        body = eol + 1;
        std::size_t p = body;
        while (p < text.size() && !(text[p] == '=' && text[p - 1] == '\n')) {
            const void* found = std::memchr(text.data() + p + 1, '=', text.size() - p - 1);
            p = found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.size();
        }
        end = p;
        at = p;
        return true;
    }
};

/// Processor time in seconds, which neighbours disturb less than the clock on the wall.
double now() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// The section of terms that a tag names, if it does.
bool section_of(std::string_view tag, TermSection& section) {
    constexpr std::pair<std::string_view, TermSection> known[] = {{"proc_messages:", TermSection::messages},
                                                                  {"proc_dictionary:", TermSection::dictionary},
                                                                  {"proc_stack:", TermSection::stack},
                                                                  {"proc_heap:", TermSection::heap}};
    for (const auto& [begin, which] : known) {
        section = which;
        if (tag.starts_with(begin)) return true;
    }
    return false;
}

/// What was done and how long it took.
struct Work {
    analyses::HeapOrder order;
    analyses::FlatSizes flat;
    analyses::Dominators dominators;
    analyses::RetainedSizes retained;
    std::uint64_t objects = 0, edges = 0, bytes = 0, heap_text = 0, words = 0, bad = 0, backward = 0, jumped = 0;
    std::uint64_t processes = 0, largest = 0, flat_sum = 0, foreign = 0;
    double read_time = 0, graph_time = 0, analyse_time = 0;

    void count(const HeapGraph& graph) {
        ++processes;
        objects += graph.size();
        edges += graph.edges().size();
        foreign += graph.foreign_references();
        backward += !graph.forward();
    }

    /// Returns the bytes of its arrays.
    std::size_t analyse(const HeapGraph& graph) {
        const auto begun = now();
        order.build(graph);
        flat.build(graph, order);
        dominators.build(graph, order);
        retained.build(graph, order, dominators);
        words += retained.live_words();
        jumped += dominators.jumped();
        for (const Root& root : graph.roots())
            if (root.target != no_node) flat_sum += flat[root.target];
        analyse_time += now() - begun;
        return order.used_bytes() + flat.used_bytes() + dominators.used_bytes() + retained.used_bytes();
    }

    void print(double total) const {
        const double n = objects == 0 ? 1 : static_cast<double>(objects);
        std::printf(
            "processes %lu objects %lu edges %lu foreign %lu bad %lu backward %lu jumped %lu live %lu flat %lu\n",
            processes, objects, edges, foreign, bad, backward, jumped, words, flat_sum);
        std::printf("text %.1f bytes/object, arrays %.1f bytes/object, largest graph %.1f MB\n",
                    static_cast<double>(heap_text) / n, static_cast<double>(bytes) / n,
                    static_cast<double>(largest) / 1e6);
        std::printf("total %.1f ms; ns/object: read %.1f graph %.1f analyses %.1f\n", total * 1e3, read_time / n * 1e9,
                    graph_time / n * 1e9, analyse_time / n * 1e9);
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const std::string_view what = argc > 2 ? argv[2] : "full";
    const int fd = open(argv[1], O_RDONLY);
    struct stat st {};
    if (fd < 0 || fstat(fd, &st) != 0) return 3;
    const auto size = static_cast<std::size_t>(st.st_size);
    const auto* data = static_cast<const char*>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0));
    if (data == MAP_FAILED) return 3;

    HeapDialect dialect;
    dialect.otp = 25;
    dialect.node_name = "nonode@nohost";
    HeapReader reader(dialect);
    HeapFacts facts;
    facts.mode = what == "values" ? HeapGraph::Mode::values : HeapGraph::Mode::sizes;
    Work work;
    Sections sections{{data, size}};
    std::string_view tag, current;
    std::size_t body = 0, end = 0;
    const auto start = now();
    while (sections.next(tag, body, end)) {
        TermSection section{};
        if (!section_of(tag, section)) continue;
        const auto t0 = now();
        const std::string_view pid = tag.substr(tag.find(':') + 1);
        if (pid != current) {
            current = pid;
            facts.heap_words = 0;
            reader.begin(facts);
        }
        work.heap_text += end - body;
        for (std::size_t at = body; at < end;) {
            const std::size_t piece = std::min(window, end - at);
            at += reader.feed(section, {data + at, piece}, at, at + piece == end);
        }
        const auto t1 = now();
        work.read_time += t1 - t0;
        if (section != TermSection::heap) continue;
        work.bad += reader.damage().bad_lines + reader.damage().cut_lines;
        if (what == "read") continue;
        HeapGraph& graph = reader.finish();
        work.graph_time += now() - t1;
        work.count(graph);
        std::size_t used = graph.used_bytes();
        if (what == "full") used += work.analyse(graph);
        work.bytes += used;
        work.largest = std::max<std::uint64_t>(work.largest, used);
    }
    work.print(now() - start);
    return 0;
}
