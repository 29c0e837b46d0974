// SPDX-License-Identifier: Apache-2.0
// A heap as HPROF, the format of Java's heap dumps (1.0.2): what Eclipse MAT, VisualVM, IntelliJ and Perfetto read.
//
// A file is a row of records: texts, classes, frames and stacks, and segments of heap. In a segment stand classes with
// their fields, objects with the bytes of theirs, arrays, and roots. All refer to each other by ids, before or after
// those are there. VisualVM wants the segments one behind the other, after all other records. Both are made at the same
// time here: so segments are kept beside the file until the end, where whoever calls this says.
//
// The classes that readers look for by name (java.lang.Object, Class, String, Long, Thread, arrays; System, of whose
// properties VisualVM wants to know how large references are; Reference and those below it, which it wants to leave out
// of paths) are written first.
//
// Sizes: a class states how large its instances are. Where java.lang.Object states more than 0, VisualVM takes what
// classes state for the size in memory, so that a class whose fields are all of an object has the right size; Eclipse
// MAT adds the two words of an object's head to the fields. Arrays have that head and a length in both. Where ids are
// closer together than arrays are large, Eclipse MAT concludes that references have four bytes: new_ids() leaves room
// for what is an array.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::present {

class Hprof {
public:
    using Id = std::uint64_t;  ///< 0 is null
    using Take = std::function<Status(std::string_view bytes)>;
    /// Types of fields and elements; the numbers are the format's.
    enum class Type : std::uint8_t { object = 2, character = 5, byte = 8, integer = 10, number = 11 };
    struct Field {
        std::string name;
        Type type = Type::object;
    };
    struct Class {
        Id id = 0;
        std::uint32_t serial = 0;
    };

    /// `records` takes the file, but for the segments, which `segments` takes, and finish() has put behind. `id_bytes`,
    /// 4 or 8, is what a reference takes in the file and, as readers count it, in memory.
    Hprof(unsigned id_bytes, Take records, Take segments);

    static constexpr Id step = 8;  ///< between ids
    /// Ids of so many objects, one after the other; gives the first. An array of references needs as many as it has
    /// elements.
    Id new_ids(std::uint64_t count);
    /// A class below java.lang.Object, whose instances are as large as their fields; or below `above`. A name's
    /// slashes, which readers take for dots, are written as another character, and no name is that of a class of Java.
    Class add_class(std::string_view name, std::span<const Field> fields, const Class* above = nullptr);
    const Class& thread_class() const { return thread_; }

    /// An instance: the values of its class's fields in order, then those of the classes above, each by one call of
    /// reference(), number() or integer(); then end().
    void begin_instance(Id object, const Class& of);
    void reference(Id to) { put_id(segment_, to); }
    void number(std::uint64_t value) { put(segment_, value, 8); }
    void integer(std::uint32_t value) { put(segment_, value, 4); }
    void end();

    /// An array of references. `of`: what readers call it; none: Object[].
    void array(Id object, std::span<const Id> elements, const Class* of = nullptr);
    Class add_array_class(std::string_view element);
    /// An array of numbers, or of bytes, all of them 0.
    void empty_numbers(Id object, std::uint32_t count);
    void empty_bytes(Id object, std::uint32_t count);
    /// A java.lang.String, and a java.lang.Long (null where there is no number).
    Id text(std::string_view text);
    Id boxed(std::optional<std::uint64_t> number);

    /// A frame of stacks: function, file and line (0: not known).
    Id frame(std::string_view function, std::string_view file, const Class& module, std::uint32_t line);
    /// The stack of a thread, youngest frame first; its serial number is the thread's.
    void stack(std::uint32_t thread, std::span<const Id> frames);

    void root_of_thread(Id object, std::uint32_t thread);
    /// What a frame of a thread's stack holds.
    void root_of_frame(Id object, std::uint32_t thread, std::uint32_t frame);
    /// What is there for good.
    void root(Id object);

    /// `copy_segments` copies to where `records` writes what `segments` took. Errors: those of any of the three.
    Status finish(const std::function<Status()>& copy_segments);

private:
    static constexpr std::size_t segment_bytes = std::size_t{1} << 20;

    void put(std::string& out, std::uint64_t value, unsigned bytes) const;
    void put_id(std::string& out, Id id) const { put(out, id, id_bytes_); }
    void put_head(std::string& out, std::uint8_t tag, std::uint64_t bytes) const;
    Id string(std::string_view text);
    Class new_class(std::string_view name);
    /// What a class adds to its fields when it says how large its instances are, and a static field of it.
    struct About {
        bool head = true;
        std::string fixed_name = {};
        Id fixed = 0;
    };
    void dump_class(const Class& of, Id above, std::span<const Field> fields, const About& about);
    void zeros(std::uint64_t bytes);
    void take(const Take& into, std::string_view bytes);
    void begin_segment(std::uint64_t bytes);
    void flush();

    unsigned id_bytes_;
    Take records_, segments_;
    Status status_ = ok();
    std::string record_;                           // and others, all that are no segments
    std::string segment_;                          // what will be in it
    std::size_t length_at_ = 0, values_from_ = 0;  // in the segment: of the instance that is being written
    Id next_object_, next_string_ = 1;
    std::uint32_t classes_ = 0;
    std::unordered_map<std::string, Id> strings_;
    std::unordered_map<Id, std::uint32_t> sizes_;  // of instances of classes, in bytes
    Class object_, class_, system_, properties_, reference_, string_, long_, thread_, objects_, characters_, bytes_,
        numbers_;
};

}  // namespace beamheap::present
