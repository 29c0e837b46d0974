// SPDX-License-Identifier: Apache-2.0
#include "bytes/debug_types.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <unordered_map>

#include "bytes/debug_files.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::uint64_t most_stepped_over = 1ull << 30;  // bytes of DWARF; an emulator with all its C++ has 20 million
constexpr std::uint64_t largest_offset = 1ull << 24;
constexpr int longest_type_chain = 32;
constexpr std::size_t most_unnamed = 64;  // structures and unions without a name inside of one

struct Closer {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

template <class Visit>
void each_alternative(std::string_view all, Visit&& visit) {
    for (bool more = true; more;) {
        const std::size_t bar = all.find('|');
        more = bar != std::string_view::npos;
        if (!visit(all.substr(0, bar))) return;
        if (more) all.remove_prefix(bar + 1);
    }
}

bool is_aggregate(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

class TypeFinder {
public:
    explicit TypeFinder(std::span<const MemberQuery> queries) : queries_(queries) {
        for (std::size_t i = 0; i < queries.size(); ++i)
            each_alternative(queries[i].structure, [&](std::string_view name) {
                wanted_[name].queries.push_back(i);
                return true;
            });
        unsettled_ = wanted_.size();
    }

    void scan(Dwarf* dwarf) {
        Dwarf_CU* unit = nullptr;
        Dwarf_Die root{};
        int result = 0;
        // Without a place for split units, so that no file is opened which the information names.
        while (unsettled_ != 0 && !exhausted_ &&
               (result = dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &root, nullptr)) == 0)
            each_child(root, [this](Dwarf_Die& entry) {
                const int tag = dwarf_tag(&entry);
                if (tag == DW_TAG_typedef || is_aggregate(tag)) consider(entry);
                return unsettled_ != 0;
            });
        if (result < 0) damage_ = dwarf_errmsg(-1);
    }

    std::vector<MemberAnswer> answers() {
        std::vector<MemberAnswer> result(queries_.size());
        for (std::size_t i = 0; i < queries_.size(); ++i) {
            MemberAnswer& answer = result[i];
            each_alternative(queries_[i].structure, [&](std::string_view name) {
                const Wanted& wanted = wanted_.find(name)->second;
                if (wanted.known) answer = look_up(wanted.type, queries_[i].path);
                return answer.state != MemberAnswer::State::found;
            });
        }
        return result;
    }
    const std::string& damage() const { return damage_; }

private:
    struct Wanted {
        std::vector<std::size_t> queries;
        Dwarf_Die type{};
        bool known = false;    // `type` is one of this name
        bool settled = false;  // and has a member that is asked for
    };

    // Children of an entry, until visit() says false. A list that does not ascend would never end.
    template <class Visit>
    void each_child(Dwarf_Die& parent, Visit&& visit) {
        Dwarf_Die here{}, next{};
        if (dwarf_child(&parent, &here) != 0) return;
        while (visit(here)) {
            const int result = dwarf_siblingof(&here, &next);
            if (result != 0) {
                if (result < 0) damage_ = dwarf_errmsg(-1);
                return;
            }
            const Dwarf_Off from = dwarf_dieoffset(&here), to = dwarf_dieoffset(&next);
            if (to <= from) {
                damage_ = "entries that lead backwards";
                return;
            }
            stepped_over_ += to - from;
            if (stepped_over_ > most_stepped_over) {
                damage_ = "more entries than any emulator has";
                exhausted_ = true;
                return;
            }
            here = next;
        }
    }

    static bool follow(Dwarf_Die& die, unsigned attribute) {
        Dwarf_Attribute value{};
        Dwarf_Die target{};
        if (dwarf_attr(&die, attribute, &value) == nullptr || dwarf_formref_die(&value, &target) == nullptr)
            return false;
        die = target;
        return true;
    }

    // What is behind typedefs, qualifiers and arrays, if it is a whole structure or union.
    static bool peel(Dwarf_Die& die) {
        for (int i = 0; i < longest_type_chain; ++i) {
            switch (dwarf_tag(&die)) {
                case DW_TAG_typedef:
                case DW_TAG_const_type:
                case DW_TAG_volatile_type:
                case DW_TAG_restrict_type:
                case DW_TAG_atomic_type:
                case DW_TAG_array_type:
                    if (!follow(die, DW_AT_type)) return false;
                    break;
                case DW_TAG_structure_type:
                case DW_TAG_union_type:
                case DW_TAG_class_type:
                    // The whole of it may be in a unit of its own.
                    if (dwarf_hasattr(&die, DW_AT_signature) != 0) {
                        if (!follow(die, DW_AT_signature)) return false;
                        break;
                    }
                    return dwarf_hasattr(&die, DW_AT_declaration) == 0;
                default: return false;
            }
        }
        return false;
    }

    void consider(Dwarf_Die& entry) {
        const char* name = dwarf_diename(&entry);
        if (name == nullptr) return;
        const auto found = wanted_.find(name);
        if (found == wanted_.end() || found->second.settled) return;
        Wanted& wanted = found->second;
        Dwarf_Die type = entry;
        if (!peel(type)) return;
        // Another structure of this name, of a library that is linked in, has other members.
        bool asked = false, fits = false;
        for (const std::size_t query : wanted.queries) {
            const std::string_view path = queries_[query].path;
            if (path.empty()) continue;
            asked = true;
            fits = look_up(type, path).state == MemberAnswer::State::found;
            if (fits) break;
        }
        wanted.settled = fits || !asked;
        if (wanted.settled) --unsettled_;
        if (wanted.settled || !wanted.known) wanted.type = type;
        wanted.known = true;
    }

    MemberAnswer look_up(const Dwarf_Die& structure, std::string_view paths) {
        MemberAnswer answer{MemberAnswer::State::no_member, 0};
        each_alternative(paths, [&](std::string_view path) {
            const auto bytes = path.empty() ? size_of(structure) : offset_of(structure, path);
            if (bytes) answer = {MemberAnswer::State::found, *bytes};
            return !bytes.has_value();
        });
        return answer;
    }

    static std::optional<std::uint32_t> size_of(Dwarf_Die structure) {
        Dwarf_Attribute value{};
        Dwarf_Word size = 0;
        if (dwarf_attr(&structure, DW_AT_byte_size, &value) == nullptr || dwarf_formudata(&value, &size) != 0 ||
            size > largest_offset)
            return std::nullopt;
        return static_cast<std::uint32_t>(size);
    }

    std::optional<std::uint32_t> offset_of(Dwarf_Die type, std::string_view path) {
        std::uint64_t offset = 0;
        for (bool more = true; more;) {
            const std::size_t dot = path.find('.');
            more = dot != std::string_view::npos;
            std::uint64_t inside = 0;
            if (!find_member(type, path.substr(0, dot), inside)) return std::nullopt;
            offset += inside;
            if (offset > largest_offset) return std::nullopt;
            if (more) path.remove_prefix(dot + 1);
            if (more && (!follow(type, DW_AT_type) || !peel(type))) return std::nullopt;
        }
        return static_cast<std::uint32_t>(offset);
    }

    // Makes `type` the entry of its member of this name, which may be in structures and unions without a name.
    bool find_member(Dwarf_Die& type, std::string_view name, std::uint64_t& offset) {
        struct Part {
            Dwarf_Die type;
            std::uint64_t offset;
        };
        std::vector<Part> parts{{type, 0}};
        bool found = false;
        for (std::size_t i = 0; i < parts.size() && !found; ++i) {
            Part part = parts[i];
            each_child(part.type, [&](Dwarf_Die& member) {
                // One that is declared only is static (C++).
                if (dwarf_tag(&member) != DW_TAG_member || dwarf_hasattr(&member, DW_AT_declaration) != 0) return true;
                const char* its_name = dwarf_diename(&member);
                if (its_name != nullptr && name != its_name) return true;
                const auto place = place_of(member);
                if (!place) return true;
                if (its_name != nullptr) {
                    found = true;
                    offset = part.offset + *place;
                    type = member;
                    return false;
                }
                Dwarf_Die inner = member;
                if (parts.size() < most_unnamed && follow(inner, DW_AT_type) && peel(inner))
                    parts.push_back({inner, part.offset + *place});
                return true;
            });
        }
        return found;
    }

    static std::optional<std::uint64_t> place_of(Dwarf_Die& member) {
        Dwarf_Attribute value{};
        Dwarf_Word number = 0;
        if (dwarf_attr(&member, DW_AT_data_member_location, &value) != nullptr) {
            if (dwarf_formudata(&value, &number) != 0) {
                // Until DWARF 2: an expression that adds the offset to the structure's address.
                Dwarf_Op* operation = nullptr;
                std::size_t count = 0;
                if (dwarf_getlocation(&value, &operation, &count) != 0 || count != 1 ||
                    operation->atom != DW_OP_plus_uconst)
                    return std::nullopt;
                number = operation->number;
            }
        } else if (dwarf_attr(&member, DW_AT_data_bit_offset, &value) != nullptr) {
            if (dwarf_formudata(&value, &number) != 0) return std::nullopt;
            number /= 8;
        }
        if (number > largest_offset) return std::nullopt;
        return number;
    }

    std::span<const MemberQuery> queries_;
    std::unordered_map<std::string_view, Wanted> wanted_;
    std::size_t unsettled_ = 0;
    std::uint64_t stepped_over_ = 0;
    bool exhausted_ = false;
    std::string damage_;
};

}  // namespace

Result<std::optional<DebugTypes>> read_debug_types(const ElfImage& executable, std::span<const MemberQuery> queries) {
    const bool inside = executable.section(".debug_info") != nullptr || executable.section(".zdebug_info") != nullptr;
    if (!inside && executable.section(".gnu_debuglink") == nullptr && executable.build_id().empty())
        return std::optional<DebugTypes>{};
    const auto broken = [&](std::string_view why) {
        return Error{ErrorCode::damaged,
                     fmt::format("the debug information of {} can't be read: {}", executable.name(), why),
                     {}};
    };
    if (!harmless(executable, executable.name()))
        return broken("it is too large when unpacked, or names no regular file");

    char* debug_path = nullptr;  // the default of libdwfl
    Dwfl_Callbacks finders{};
    finders.find_elf = dwfl_build_id_find_elf;
    finders.find_debuginfo = find_debug_file;
    finders.debuginfo_path = &debug_path;
    const std::unique_ptr<Dwfl, Closer> dwfl(dwfl_begin(&finders));
    if (dwfl == nullptr) return broken(dwfl_errmsg(-1));
    dwfl_report_begin(dwfl.get());
    Dwfl_Module* module = dwfl_report_elf(dwfl.get(), "executable", executable.name().c_str(), -1, 0, false);
    dwfl_report_end(dwfl.get(), nullptr, nullptr);
    if (module == nullptr) return broken(dwfl_errmsg(-1));
    Dwarf_Addr bias = 0;
    Dwarf* dwarf = dwfl_module_getdwarf(module, &bias);
    if (dwarf == nullptr) {
        const char* why = dwfl_errmsg(-1);
        if (inside) return broken(why);
        return std::optional<DebugTypes>{};
    }
    TypeFinder finder(queries);
    finder.scan(dwarf);
    if (Dwarf* shared = dwarf_getalt(dwarf)) finder.scan(shared);  // what dwz moved to a file of its own
    DebugTypes result;
    const char *main_file = nullptr, *debug_file = nullptr;
    dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &main_file, &debug_file);
    result.file = debug_file != nullptr ? debug_file : executable.name();
    result.answers = finder.answers();
    result.damage = finder.damage();
    return std::optional<DebugTypes>{std::move(result)};
}

}  // namespace beamheap::bytes
