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
    analyses::HeapOrder order;
    analyses::FlatSizes flat;
    analyses::Dominators dominators;
    analyses::RetainedSizes retained;

    std::uint64_t objects = 0, edges = 0, bytes = 0, heap_text = 0, words = 0, bad = 0, backward = 0, jumped = 0;
    std::uint64_t processes = 0, largest = 0, flat_sum = 0, foreign = 0;
    double read_time = 0, graph_time = 0, analyse_time = 0;
    // Processor time, which neighbours disturb less than the clock on the wall.
    const auto now = [] {
        timespec t{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
    };
    std::string buffer(window + 64, '\0');

    Sections sections{{data, size}};
    std::string_view tag;
    std::size_t body = 0, end = 0;
    std::string_view current;
    const auto start = now();
    while (sections.next(tag, body, end)) {
        TermSection section{};
        if (tag.starts_with("proc_messages:"))
            section = TermSection::messages;
        else if (tag.starts_with("proc_dictionary:"))
            section = TermSection::dictionary;
        else if (tag.starts_with("proc_stack:"))
            section = TermSection::stack;
        else if (tag.starts_with("proc_heap:"))
            section = TermSection::heap;
        else
            continue;
        const auto t0 = now();
        const std::string_view pid = tag.substr(tag.find(':') + 1);
        if (pid != current) {
            current = pid;
            facts.heap_words = 0;
            reader.begin(facts);
        }
        heap_text += end - body;
        for (std::size_t at = body; at < end;) {
            const std::size_t piece = std::min(window, end - at);
            at += reader.feed(section, {data + at, piece}, at, at + piece == end);
        }
        const auto t1 = now();
        read_time += (t1 - t0);
        if (section != TermSection::heap) continue;
        bad += reader.damage().bad_lines + reader.damage().cut_lines;
        if (what == "read") continue;
        HeapGraph& graph = reader.finish();
        const auto t2 = now();
        graph_time += (t2 - t1);
        ++processes;
        objects += graph.size();
        edges += graph.edges().size();
        foreign += graph.foreign_references();
        backward += !graph.forward();
        std::size_t used = graph.used_bytes();
        if (what == "full") {
            order.build(graph);
            flat.build(graph, order);
            dominators.build(graph, order);
            retained.build(graph, order, dominators);
            used += order.used_bytes() + flat.used_bytes() + dominators.used_bytes() + retained.used_bytes();
            words += retained.live_words();
            jumped += dominators.jumped();
            for (const Root& root : graph.roots())
                if (root.target != no_node) flat_sum += flat[root.target];
            analyse_time += (now() - t2);
        }
        bytes += used;
        largest = std::max<std::uint64_t>(largest, used);
    }
    const double total = (now() - start);
    const double n = objects == 0 ? 1 : static_cast<double>(objects);
    std::printf("processes %lu objects %lu edges %lu foreign %lu bad %lu backward %lu jumped %lu live %lu flat %lu\n",
                processes, objects, edges, foreign, bad, backward, jumped, words, flat_sum);
    std::printf("text %.1f bytes/object, arrays %.1f bytes/object, largest graph %.1f MB\n",
                static_cast<double>(heap_text) / n, static_cast<double>(bytes) / n, static_cast<double>(largest) / 1e6);
    std::printf("total %.1f ms; ns/object: read %.1f graph %.1f analyses %.1f\n", total * 1e3, read_time / n * 1e9,
                graph_time / n * 1e9, analyse_time / n * 1e9);
    return 0;
}
