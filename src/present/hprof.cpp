// SPDX-License-Identifier: Apache-2.0
#include "present/hprof.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "present/sanitise.hpp"

namespace beamheap::present {
namespace {

// Tags of records and of what is in a segment, as the JDK's heapDumper.cpp (OpenJDK 8 and later) writes them.
namespace record {
constexpr std::uint8_t text = 0x01, load_class = 0x02, frame = 0x04, stack = 0x05, segment = 0x1C, end = 0x2C;
}
namespace part {
constexpr std::uint8_t global_root = 0x01, frame_root = 0x03, class_root = 0x05, thread_root = 0x08, class_dump = 0x20,
                       instance = 0x21, object_array = 0x22, primitive_array = 0x23;
}
constexpr std::uint32_t no_stack = 0;               // serial number of the stack where nobody knows who made an object
constexpr std::uint32_t unknown_line = 0xFFFFFFFF;  // -1

std::string class_name(std::string_view name) {
    std::string safe;
    const bool javas = name.starts_with("java") || name.starts_with('[');
    if (javas) safe += '\'';
    for (const char c : name) {
        if (c == '/') safe += "\u2215";
        else safe += c;
    }
    return safe;
}

}  // namespace

Hprof::Hprof(unsigned id_bytes, Take records, Take segments)
    : id_bytes_(id_bytes),
      records_(std::move(records)),
      segments_(std::move(segments)),
      next_object_(std::uint64_t{1} << 16) {
    record_ += std::string_view("JAVA PROFILE 1.0.2\0", 19);
    put(record_, id_bytes_, 4);
    put(record_, 0, 8);  // when: what was written is of no time
    object_ = new_class("java/lang/Object");
    class_ = new_class("java/lang/Class");
    string_ = new_class("java/lang/String");
    long_ = new_class("java/lang/Long");
    thread_ = new_class("java/lang/Thread");
    objects_ = new_class("[Ljava/lang/Object;");
    characters_ = new_class("[C");
    bytes_ = new_class("[B");
    numbers_ = new_class("[J");
    system_ = new_class("java/lang/System");
    properties_ = new_class("java/util/Properties");
    reference_ = new_class("java/lang/ref/Reference");
    std::array<Class, 4> references;
    std::ranges::transform(
        std::array{"Weak", "Soft", "Final", "Phantom"}, references.begin(),
        [this](const char* kind) { return new_class(std::string("java/lang/ref/") + kind + "Reference"); });
    stack(no_stack, {});
    dump_class(object_, 0, {}, {});
    dump_class(class_, object_.id, {}, {});
    dump_class(string_, object_.id, std::array{Field{"value", Type::object}, Field{"hash", Type::integer}}, {});
    dump_class(long_, object_.id, std::array{Field{"value", Type::number}}, {});
    dump_class(thread_, object_.id, std::array{Field{"name", Type::object}}, {});
    for (const Class& array : {objects_, characters_, bytes_, numbers_}) dump_class(array, object_.id, {}, {});
    dump_class(properties_, object_.id, std::array{Field{"defaults", Type::object}, Field{"table", Type::object}}, {});
    dump_class(reference_, object_.id, std::array{Field{"referent", Type::object}}, {});
    for (const Class& each : references) dump_class(each, reference_.id, {}, {});
    const Id none = new_ids(1);
    dump_class(system_, object_.id, {}, {.fixed_name = "props", .fixed = none});
    begin_instance(none, properties_);
    end();
}

void Hprof::put(std::string& out, std::uint64_t value, unsigned bytes) const {
    while (bytes-- != 0) out += static_cast<char>(value >> (8 * bytes) & 0xFF);
}

void Hprof::put_head(std::string& out, std::uint8_t tag, std::uint64_t bytes) const {
    put(out, tag, 1);
    put(out, 0, 4);  // microseconds since the time of the file
    put(out, bytes, 4);
}

Hprof::Id Hprof::string(std::string_view raw) {
    const auto [found, added] = strings_.try_emplace(std::string(raw), next_string_);
    if (!added) return found->second;
    const std::string safe = safe_text(raw);
    put_head(record_, record::text, id_bytes_ + safe.size());
    put_id(record_, next_string_);
    record_ += safe;
    return next_string_++;
}

Hprof::Id Hprof::new_ids(std::uint64_t count) {
    const Id first = next_object_;
    next_object_ += count * step;
    return first;
}

Hprof::Class Hprof::new_class(std::string_view name) {
    const Class made{new_ids(1), ++classes_};
    const Id called = string(name);
    put_head(record_, record::load_class, 8 + 2 * id_bytes_);
    put(record_, made.serial, 4);
    put_id(record_, made.id);
    put(record_, no_stack, 4);
    put_id(record_, called);
    return made;
}

void Hprof::dump_class(const Class& of, Id above, std::span<const Field> fields, const About& about) {
    std::uint32_t bytes = above == 0 ? 0 : sizes_.at(above);
    for (const Field& field : fields)
        bytes += field.type == Type::object ? id_bytes_ : field.type == Type::number ? 8 : 4;
    sizes_[of.id] = bytes;
    put(segment_, part::class_dump, 1);
    put_id(segment_, of.id);
    put(segment_, no_stack, 4);
    put_id(segment_, above);
    for (int i = 0; i < 5; ++i) put_id(segment_, 0);  // loader, signers, domain, and two that are reserved
    put(segment_, bytes + (about.head ? 2 * id_bytes_ : 0), 4);
    put(segment_, 0, 2);  // constants
    put(segment_, about.fixed != 0 ? 1 : 0, 2);
    if (about.fixed != 0) {
        put_id(segment_, string(about.fixed_name));
        put(segment_, static_cast<std::uint8_t>(Type::object), 1);
        put_id(segment_, about.fixed);
    }
    put(segment_, fields.size(), 2);
    for (const Field& field : fields) {
        put_id(segment_, string(field.name));
        put(segment_, static_cast<std::uint8_t>(field.type), 1);
    }
    put(segment_, part::class_root, 1);
    put_id(segment_, of.id);
}

Hprof::Class Hprof::add_class(std::string_view name, std::span<const Field> fields, const Class* above) {
    const Class made = new_class(class_name(name));
    dump_class(made, above == nullptr ? object_.id : above->id, fields, {.head = above != nullptr});
    return made;
}

Hprof::Class Hprof::add_array_class(std::string_view element) {
    const Class made = new_class("[L" + class_name(element) + ';');
    dump_class(made, object_.id, {}, {});
    return made;
}

void Hprof::begin_instance(Id object, const Class& of) {
    put(segment_, part::instance, 1);
    put_id(segment_, object);
    put(segment_, no_stack, 4);
    put_id(segment_, of.id);
    length_at_ = segment_.size();
    put(segment_, sizes_.at(of.id), 4);
    values_from_ = segment_.size();
}

void Hprof::end() {
    // What a caller left out is null.
    const auto told = static_cast<std::uint8_t>(segment_[length_at_]) << 24 |
                      static_cast<std::uint8_t>(segment_[length_at_ + 1]) << 16 |
                      static_cast<std::uint8_t>(segment_[length_at_ + 2]) << 8 |
                      static_cast<std::uint8_t>(segment_[length_at_ + 3]);
    segment_.resize(values_from_ + static_cast<std::size_t>(told), '\0');
    if (segment_.size() >= segment_bytes) flush();
}

void Hprof::array(Id object, std::span<const Id> elements, const Class* of) {
    // One that is larger than memory should be is a segment by itself.
    const bool large = elements.size() >= segment_bytes / id_bytes_;
    if (large) flush();
    std::string piece;
    std::string& out = large ? piece : segment_;
    put(out, part::object_array, 1);
    put_id(out, object);
    put(out, no_stack, 4);
    put(out, elements.size(), 4);
    put_id(out, of == nullptr ? objects_.id : of->id);
    if (large) begin_segment(out.size() + std::uint64_t{elements.size()} * id_bytes_);
    for (const Id each : elements) {
        put_id(out, each);
        if (!large || out.size() < segment_bytes) continue;
        take(segments_, out);
        out.clear();
    }
    if (large) take(segments_, out);
    else if (segment_.size() >= segment_bytes) flush();
}

void Hprof::zeros(std::uint64_t bytes) {
    static const std::string nothing(segment_bytes, '\0');
    for (; bytes > nothing.size(); bytes -= nothing.size()) take(segments_, nothing);
    take(segments_, std::string_view(nothing).substr(0, static_cast<std::size_t>(bytes)));
}

// Arrays may be larger than memory should be: each large one is a segment by itself.
void Hprof::empty_numbers(Id object, std::uint32_t count) {
    flush();
    std::string head;
    put(head, part::primitive_array, 1);
    put_id(head, object);
    put(head, no_stack, 4);
    put(head, count, 4);
    put(head, static_cast<std::uint8_t>(Type::number), 1);
    begin_segment(head.size() + std::uint64_t{count} * 8);
    take(segments_, head);
    zeros(std::uint64_t{count} * 8);
}

void Hprof::empty_bytes(Id object, std::uint32_t count) {
    std::string head;
    put(head, part::primitive_array, 1);
    put_id(head, object);
    put(head, no_stack, 4);
    put(head, count, 4);
    put(head, static_cast<std::uint8_t>(Type::byte), 1);
    if (count < segment_bytes) {
        segment_ += head;
        segment_.append(count, '\0');
        if (segment_.size() >= segment_bytes) flush();
        return;
    }
    flush();
    begin_segment(head.size() + std::uint64_t{count});
    take(segments_, head);
    zeros(count);
}

Hprof::Id Hprof::text(std::string_view raw) {
    const std::string safe = safe_text(raw);
    const Id object = new_ids(2), value = object + step;
    std::string units;
    for (std::string_view rest = safe; !rest.empty();) {
        char32_t point = 0;
        const std::size_t size = decode_utf8(rest, point);
        rest.remove_prefix(std::max<std::size_t>(size, 1));
        if (point >= 0x10000) {
            put(units, 0xD800 + ((point - 0x10000) >> 10), 2);
            put(units, 0xDC00 + ((point - 0x10000) & 0x3FF), 2);
        } else {
            put(units, point, 2);
        }
    }
    put(segment_, part::primitive_array, 1);
    put_id(segment_, value);
    put(segment_, no_stack, 4);
    put(segment_, units.size() / 2, 4);
    put(segment_, static_cast<std::uint8_t>(Type::character), 1);
    segment_ += units;
    begin_instance(object, string_);
    reference(value);
    integer(0);
    end();
    return object;
}

Hprof::Id Hprof::boxed(std::optional<std::uint64_t> value) {
    if (!value) return 0;
    const Id object = new_ids(1);
    begin_instance(object, long_);
    number(*value);
    end();
    return object;
}

Hprof::Id Hprof::frame(std::string_view function, std::string_view file, const Class& module, std::uint32_t line) {
    const Id called = string(function), nothing = string({}), source = file.empty() ? 0 : string(file),
             made = new_ids(1);
    put_head(record_, record::frame, 4 * id_bytes_ + 8);
    put_id(record_, made);
    put_id(record_, called);
    put_id(record_, nothing);  // signature
    put_id(record_, source);
    put(record_, module.serial, 4);
    put(record_, line == 0 ? unknown_line : line, 4);
    return made;
}

void Hprof::stack(std::uint32_t thread, std::span<const Id> frames) {
    put_head(record_, record::stack, 12 + frames.size() * id_bytes_);
    put(record_, thread, 4);
    put(record_, thread, 4);
    put(record_, frames.size(), 4);
    for (const Id each : frames) put_id(record_, each);
}

void Hprof::root_of_thread(Id object, std::uint32_t thread) {
    put(segment_, part::thread_root, 1);
    put_id(segment_, object);
    put(segment_, thread, 4);
    put(segment_, thread, 4);
}

void Hprof::root_of_frame(Id object, std::uint32_t thread, std::uint32_t frame) {
    put(segment_, part::frame_root, 1);
    put_id(segment_, object);
    put(segment_, thread, 4);
    put(segment_, frame, 4);
}

void Hprof::root(Id object) {
    put(segment_, part::global_root, 1);
    put_id(segment_, object);
    put_id(segment_, object);  // the reference of native code that it stands for: any number
}

void Hprof::take(const Take& into, std::string_view bytes) {
    if (status_ && !bytes.empty()) status_ = into(bytes);
}

void Hprof::begin_segment(std::uint64_t bytes) {
    std::string head;
    put_head(head, record::segment, bytes);
    take(segments_, head);
}

void Hprof::flush() {
    take(records_, record_);
    record_.clear();
    if (segment_.empty()) return;
    begin_segment(segment_.size());
    take(segments_, segment_);
    segment_.clear();
}

Status Hprof::finish(const std::function<Status()>& copy_segments) {
    flush();
    BH_CHECK(std::move(status_));
    BH_CHECK(copy_segments());
    std::string last;
    put_head(last, record::end, 0);
    return records_(last);
}

}  // namespace beamheap::present
