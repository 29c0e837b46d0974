// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/addresses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace beamheap::analyses {
namespace {

constexpr std::size_t owners_listed = 10;

Error no_such_address(std::uint64_t address) {
    return {
        ErrorCode::usage, fmt::format("{:X}: no heap has an object at this address, and no binary is there", address),
        "`heap INPUT PID` and `term` show addresses; garbage and objects of sensitive processes are not in a dump."};
}

std::string text_of(const Pid& pid) { return fmt::format("<{}.{}.{}>", pid.node, pid.number, pid.serial); }

}  // namespace

Result<AddressArgument> parse_address(std::string_view text) {
    AddressArgument argument;
    if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
        argument.pid = text.substr(0, at);
        text.remove_prefix(at + 1);
    }
    std::string_view digits = text;
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), argument.address, 16);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
        return Error{ErrorCode::usage, fmt::format("'{}' is not an address", text),
                     "An address is hexadecimal, as `heap` and `term` show it: 7FEDD8C3E990, or PID@7FEDD8C3E990."};
    return argument;
}

AddressSearch::AddressSearch(std::uint64_t address, unsigned workers) : address_(address), found_(workers) {
    request_.workers = workers;
    request_.visit = [this](const HeapVisit& visit) {
        const bool object = visit.graph.find(address_) != no_node;
        if (object ||
            std::ranges::find(visit.graph.binaries(), address_, &BinaryUse::address) != visit.graph.binaries().end())
            found_[visit.worker].push_back({visit.id, visit.process.pid, !object});
    };
}

Result<std::string> AddressSearch::owner(const Snapshot& snapshot) const {
    std::vector<Owner> owners;
    for (const auto& each : found_) owners.insert(owners.end(), each.begin(), each.end());
    std::ranges::sort(owners, {}, [](const Owner& owner) { return index_of(owner.process); });
    const bool binary = std::ranges::all_of(owners, &Owner::holds_binary);
    if (!binary) std::erase_if(owners, &Owner::holds_binary);
    if (owners.empty()) {
        if (snapshot.processes.empty()) return no_such_address(address_);
        return text_of(snapshot.processes.front().pid);
    }
    if (owners.size() > 1 && !binary) {
        std::string list;
        for (std::size_t i = 0; i < std::min(owners.size(), owners_listed); ++i)
            list += fmt::format("{}{}@{:X}", i == 0 ? "" : ", ", text_of(owners[i].pid), address_);
        if (owners.size() > owners_listed) list += fmt::format(" and {} more", owners.size() - owners_listed);
        return Error{ErrorCode::usage,
                     fmt::format("{:X} is an address in the heaps of {} processes", address_, owners.size()),
                     "Say which: " + list};
    }
    return text_of(owners.front().pid);
}

Result<Element> object_at(TermSource& terms, std::uint64_t address) {
    Element element = terms.at(address);
    if (element.kind == ElementKind::object) return element;
    for (const BinaryUse& use : terms.graph().binaries()) {
        if (use.address != address) continue;
        element.kind = ElementKind::object;
        element.id = {ObjectId::Space::heap, use.node};
        return element;
    }
    return no_such_address(address);
}

}  // namespace beamheap::analyses
