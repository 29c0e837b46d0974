// SPDX-License-Identifier: Apache-2.0
// Random heaps, and the text that a VM would print for them: for tests of what reads, measures and prints heaps.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace beamheap::test {

struct MadeObject {
    enum class Kind : std::uint8_t { cons, tuple, flat_map, hash_node, heap_binary, number, refc, fun };
    Kind kind = Kind::cons;
    std::vector<int> children;  ///< per element: number of an object, or -1 for an immediate
    std::uint32_t size = 0;     ///< heap_binary: bytes
    std::uint64_t address = 0;
    std::uint32_t words() const {
        const auto n = static_cast<std::uint32_t>(children.size());
        switch (kind) {
            case Kind::cons: return 2;
            case Kind::tuple: return n + 1;
            case Kind::flat_map: return n - 1 + 3;
            case Kind::hash_node: return n + 1;
            case Kind::heap_binary: return 2 + (size + 7) / 8;
            case Kind::number: return 2;
            case Kind::refc: return 6;
            case Kind::fun: return 5;
        }
        return 0;
    }
};

/// One process's heap. Objects are in the order of the file; what stack, dictionary and messages hold are numbers of
/// objects, or -1 for an immediate.
struct MadeHeap {
    std::vector<MadeObject> objects;
    std::vector<int> stack, dictionary, messages;

    std::string heap_text() const {
        std::string text;
        for (const MadeObject& o : objects) text += line(o);
        return text;
    }
    std::string stack_text() const {
        std::string text;
        int y = 0;
        for (const int slot : stack) {
            text += "y" + std::to_string(y) + ":" + element(slot, y + 1) + "\n";
            ++y;
        }
        return text + "0x00007f0000010000:SReturn addr 0x9200C30 (gen_server:loop/7 + 200)\n";
    }
    std::string dictionary_text() const {
        std::string text;
        for (const int entry : dictionary) text += element(entry, 1) + "\n";
        return text;
    }
    std::string messages_text() const {
        std::string text;
        int i = 0;
        for (const int message : messages) text += element(message, i++) + ":N\n";
        return text;
    }

private:
    static std::string hex(std::uint64_t value) {
        std::string text;
        do text.insert(text.begin(), "0123456789ABCDEF"[value & 15]);
        while ((value >>= 4) != 0);
        return text;
    }
    /// Immediates take turns in all forms, an atom that holds a section tag among them.
    std::string element(int object, int turn) const {
        if (object >= 0) return "H" + hex(objects[static_cast<std::size_t>(object)].address);
        switch (turn % 7) {
            case 0: return "N";
            case 1: return "I-" + std::to_string(turn * 1234567);
            case 2: return "A2:ok";
            case 3: return "P<0.1.0>";
            case 4: return "p<0.5>";
            case 5: return "AF:a\n=proc:<0.9.0>";
            default: return "";
        }
    }
    std::string line(const MadeObject& o) const {
        std::string text = hex(o.address) + ":";
        const auto elements = [&](std::size_t from) {
            for (std::size_t i = from; i < o.children.size(); ++i)
                text += (i == from ? "" : ",") + element(o.children[i], static_cast<int>(i + o.address / 8 % 7));
        };
        switch (o.kind) {
            case MadeObject::Kind::cons:
                text += "l" + element(o.children[0], 1) + "|" + element(o.children[1], 2);
                break;
            case MadeObject::Kind::tuple:
                text += "t" + hex(o.children.size()) + ":";
                elements(0);
                break;
            case MadeObject::Kind::flat_map:
                text += "Mf" + hex(o.children.size() - 1) + ":" + element(o.children[0], 0) + ":";
                elements(1);
                break;
            case MadeObject::Kind::hash_node:
                text += "Mn" + hex(o.children.size()) + ":";
                elements(0);
                break;
            case MadeObject::Kind::heap_binary:
                text += "Yh" + hex(o.size) + ":" + std::string((o.size + 2) / 3 * 4, 'A');
                break;
            case MadeObject::Kind::number: text += "F1A:3.30000000000000026645e+00"; break;
            case MadeObject::Kind::refc: text += "Yc55A64FF2B488:5:64"; break;
            case MadeObject::Kind::fun:
                text +=
                    "E4B:"
                    "g3AAAABJAavqSATvOByNwxEotCjxHkcAAAAAAAAAAAAAA2NkMmEAYgVfUkBYZAANbm9ub2RlQG5vaG9zdAAAAFMAAAAAAAAAAG"
                    "pq";
                break;
        }
        return text + "\n";
    }
};

}  // namespace beamheap::test
