// SPDX-License-Identifier: Apache-2.0
// A flame graph as one SVG file, which a browser opens without anything else.
//
// Theory (B. Gregg, "The Flame Graph", CACM 59(6), 2016). Stacks are merged from their oldest frame on into a tree; a
// frame is a box as wide as the weight of all stacks that go through it, on the box of its caller. Boxes beside each
// other are in the order of their names, so that the horizontal axis is no time and like stacks meet. What is narrower
// than a tenth of a pixel is left out, and said. The file's script looks only at what is drawn: it makes a box that is
// clicked on as wide as the picture, and marks boxes by their names; without it all the texts are there.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "present/html_writer.hpp"
#include "present/sanitise.hpp"
#include "present/stack_rows.hpp"

namespace beamheap::present {
namespace {

constexpr double drawn_width = 1200, margin = 10, row_height = 17, head_height = 46, foot_height = 24;
constexpr double least_width = 0.1, character_width = 6.6;
constexpr std::size_t most_levels = 1000;  // a recursion is drawn so high

struct Flame {
    std::uint64_t weight = 0;
    std::map<std::string, Flame, std::less<>> above;
};

// The weight of one stack goes to each of its frames; those above the highest level are told by the last one.
void add_stack(Flame& root, const std::vector<std::string>& frames, std::uint64_t weight, bool& cut) {
    Flame* at = &root;
    at->weight += weight;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (i == most_levels) {
            cut = true;
            return;
        }
        at = &at->above[frames[i]];
        at->weight += weight;
    }
}

struct Box {
    std::string_view name;
    std::uint64_t weight = 0;
    double left = 0, width = 0;
    std::size_t level = 0;
};

struct Boxes {
    std::vector<Box> drawn;
    std::size_t levels = 0, left_out = 0;
};

// Depth first without recursion: stacks are as deep as the input says.
Boxes boxes_of(const Flame& root) {
    struct Open {
        const Flame* flame;
        double left;
        std::size_t level;
    };
    Boxes boxes;
    const double scale = root.weight == 0 ? 0 : drawn_width / static_cast<double>(root.weight);
    std::vector<Open> open{{&root, 0, 0}};
    boxes.drawn.push_back({"all", root.weight, 0, drawn_width, 0});
    while (!open.empty()) {
        const Open below = open.back();
        open.pop_back();
        double left = below.left;
        for (const auto& [name, flame] : below.flame->above) {
            const double width = static_cast<double>(flame.weight) * scale;
            if (width >= least_width) {
                boxes.drawn.push_back({name, flame.weight, left, width, below.level + 1});
                boxes.levels = std::max(boxes.levels, below.level + 1);
                open.push_back({&flame, left, below.level + 1});
            } else {
                ++boxes.left_out;
            }
            left += width;
        }
    }
    return boxes;
}

// Functions of Erlang by their module, so that one's frames look alike; native ones are told apart by being cold.
std::string colour_of(std::string_view name) {
    const std::size_t colon = name.rfind(':', name.rfind('/'));
    const bool erlang = colon != name.npos && name.find('/', colon) != name.npos;
    std::uint32_t hash = 2166136261u;
    for (const char c : erlang ? name.substr(0, colon) : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    const std::uint32_t a = hash >> 8 & 0xFF, b = hash >> 16 & 0xFF;
    if (erlang)
        return fmt::format("hsl({} {}% {}%)", 10 + a * 45 / 255, 70 + b * 20 / 255, 62 + (hash & 0xF) * 12 / 15);
    return fmt::format("hsl({} {}% {}%)", 195 + a * 30 / 255, 25 + b * 20 / 255, 66 + (hash & 0xF) * 10 / 15);
}

constexpr std::string_view style =
    "<style>text{font:12px monospace;fill:#111}.head{font-size:15px;font-weight:bold}.box{cursor:pointer}"
    ".box:hover rect{stroke:#111}.dim{opacity:.4}.found rect{fill:#c6f}.off{display:none}</style>\n";

// Names come from the titles that are in the document; nothing of the input is in here.
constexpr std::string_view script = R"(<script><![CDATA[
const boxes = [...document.querySelectorAll(".box")].map(g => {
  const rect = g.querySelector("rect"), text = g.querySelector("text");
  return {g, rect, text, name: g.dataset.name, x: +rect.getAttribute("x"), w: +rect.getAttribute("width")};
});
const all = boxes[0], words = document.getElementById("words");
const zoom = on => {
  for (const box of boxes) {
    const holds = box.x <= on.x + 0.01 && box.x + box.w >= on.x + on.w - 0.01 && box.w > on.w;
    const scale = all.w / on.w, x = holds ? all.x : all.x + (box.x - on.x) * scale, w = holds ? all.w : box.w * scale;
    const off = !holds && (box.x < on.x - 0.01 || box.x + box.w > on.x + on.w + 0.01);
    box.g.classList.toggle("off", off);
    box.g.classList.toggle("dim", holds && box !== all);
    if (off) continue;
    box.rect.setAttribute("x", x); box.rect.setAttribute("width", Math.max(w, 0.1));
    box.text.setAttribute("x", x + 3);
    const fit = Math.floor((w - 6) / 6.6);
    box.text.textContent = fit < 3 ? "" : box.name.length <= fit ? box.name : box.name.slice(0, fit - 2) + "..";
  }
};
for (const box of boxes) box.g.addEventListener("click", () => zoom(box));
addEventListener("keydown", event => {
  if (event.key === "Escape") zoom(all);
  if (event.key !== "/") return;
  event.preventDefault();
  const wanted = (prompt("Part of a name:") || "").toLowerCase();
  let count = 0;
  for (const box of boxes) {
    const found = wanted !== "" && box.name.toLowerCase().includes(wanted);
    box.g.classList.toggle("found", found);
    count += found;
  }
  words.textContent = wanted === "" ? "" : count + " boxes have " + wanted;
});
]]></script>
)";

void write_text(std::string_view raw, Sink& sink) {
    std::string safe;
    append_text(raw, safe);
    append_html(safe, sink.buffer());
}

std::string amount(std::uint64_t weight, Unit unit) {
    return unit == Unit::bytes ? fmt::format("{} bytes", weight) : fmt::format("{}", weight);
}

std::string fitting(std::string_view name, double width) {
    std::string safe;
    append_text(name, safe);
    const double room = (width - 6) / character_width;
    if (room < 3) return {};
    const auto letters = static_cast<std::size_t>(room);
    if (safe.size() <= letters) return safe;
    std::size_t end = letters - 2;
    while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xC0) == 0x80) --end;  // within a character
    return safe.substr(0, end) + "..";
}

}  // namespace

static void present_svg(const View& view, Sink& sink) {
    const TableView* table = view.primary();
    if (table == nullptr) return;
    const StackRows rows(view, *table);
    const auto weight = rows.wanted_weight();
    Flame root;
    bool cut = false;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::uint64_t value = weight ? rows.weight(row, *weight) : 1;
        if (value != 0) add_stack(root, rows.frames(row), value, cut);
    }
    const Boxes boxes = boxes_of(root);
    const double height = head_height + static_cast<double>(boxes.levels + 1) * row_height + foot_height;
    const double full = drawn_width + 2 * margin;
    const Unit unit = weight ? rows.column(*weight).unit : Unit::count;
    sink.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    sink.write(
        fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
                    full, height));
    sink.write(style);
    sink.write("<rect width=\"100%\" height=\"100%\" fill=\"#fdfdf8\"/>\n");
    sink.write(fmt::format("<text class=\"head\" x=\"{}\" y=\"18\">", margin));
    if (!view.document().lead.empty()) {
        const std::string lead = view.text(view.document().lead.front());
        append_html(fitting(lead, drawn_width * 0.8), sink.buffer());
    }
    sink.write(fmt::format("</text>\n<text x=\"{}\" y=\"36\">{} in all, by ", margin, amount(root.weight, unit)));
    write_text(weight ? rows.column(*weight).name : "stacks", sink);
    if (boxes.left_out != 0) sink.write(fmt::format("; {} boxes are too narrow to be drawn", boxes.left_out));
    if (cut) sink.write(fmt::format("; stacks are drawn up to {} frames", most_levels));
    sink.write(". A click widens a box, Esc gives back all, / finds names.</text>\n");
    sink.write(fmt::format("<text id=\"words\" x=\"{}\" y=\"{}\"></text>\n", margin, height - 8));
    for (const Box& box : boxes.drawn) {
        if (sink.closed()) return;
        const double x = margin + box.left;
        const double y = head_height + static_cast<double>(boxes.levels - box.level) * row_height;
        sink.write("<g class=\"box\" data-name=\"");
        write_text(box.name, sink);
        sink.write("\"><title>");
        write_text(box.name, sink);
        const double percent =
            root.weight == 0 ? 0 : 100 * static_cast<double>(box.weight) / static_cast<double>(root.weight);
        sink.write(fmt::format(
            ": {} ({:.2f} %)</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
            "rx=\"1\" fill=\"{}\"/><text x=\"{:.2f}\" y=\"{:.0f}\">",
            amount(box.weight, unit), percent, x, y, box.width, row_height - 1, colour_of(box.name), x + 3, y + 12));
        append_html(fitting(box.name, box.width), sink.buffer());
        sink.write("</text></g>\n");
    }
    sink.write(script);
    sink.write("</svg>\n");
}

BH_DEFINE_FORMAT(svg){
    .name = "svg",
    .doc = "a flame graph for a browser, weighted by the column of --sort (stacks, sample, profile)",
    .needs = column_of_stacks,
    .or_needs = columns_of_a_function,
    .needs_advice = where_stacks_are,
    .present = &present_svg,
};

}  // namespace beamheap::present
