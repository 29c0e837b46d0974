// SPDX-License-Identifier: Apache-2.0
// What every reader of an image needs: layout, roots, atoms, code, and how pids are packed. Made once, then read only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/ids.hpp"
#include "beamheap/snapshot.hpp"
#include "formats/otp/layout/layout.hpp"
#include "formats/otp/layout/tagged_word.hpp"
#include "formats/otp/vm/atoms.hpp"
#include "formats/otp/vm/code.hpp"
#include "formats/otp/vm/image.hpp"
#include "formats/otp/vm/roots.hpp"

namespace beamheap::otp {

/// A process or port table (ErtsPTab): slots, and how an identifier's data is scattered over them.
struct SlotTable {
    std::uint64_t slots = 0;
    std::uint32_t max = 0, count = 0;
    std::uint64_t invalid = 0;       ///< what a slot holds while its element is being made
    std::uint64_t element_size = 0;  ///< bytes of an element, as the VM that made the table says
    std::uint64_t bytes = 0;         ///< of the table itself (erts_ptab_mem_size)
    std::uint64_t mask = 0, line_mask = 0, item_mask = 0;
    std::uint32_t line_shift = 0, item_shift = 0;

    static std::optional<SlotTable> read(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t table);
    /// The data of an identifier of OTP 26 and later, whose low bits are its slot (erts_ptab_pixdata2data).
    std::uint64_t unshuffle(std::uint64_t pixdata) const {
        return (pixdata & ~mask) | ((pixdata >> line_shift) & line_mask) | ((pixdata & item_mask) << item_shift);
    }
    /// The slot that a local identifier must be in.
    std::uint32_t slot_of(Word id, PidForm form) const;
};

struct Vm {
    const Image* image = nullptr;
    Layout layout;
    Roots roots;
    AtomTable atoms;
    Code code;
    SlotTable processes, ports;
    /// Why figures and terms may be wrong although the layout fits: phrases; empty where a VM of this release and
    /// flavour has proved it.
    std::string unproven;
    /// Whether terms may be read. An unproven layout must have proved its forms on the heaps of the image first.
    bool terms_readable = true;
    std::vector<Check> checks;  ///< choices and proofs, for doctor

    void doubt(std::string_view phrase) { unproven.append(unproven.empty() ? "" : "; ").append(phrase); }

    /// Recognises the VM in an image, and proves its layout. Errors: not_recognised, with what is in the way.
    static Result<std::unique_ptr<Vm>> open(const Image& image);
};

/// A VM and its memory, for the reads of one thread: enough to follow structures and terms.
struct Decoder {
    explicit Decoder(const Vm& v) : Decoder(v, v.image->space()) {}
    Decoder(const Vm& v, const bytes::AddressSpace& space) : vm(v), at(v.layout.at), memory(space) {}

    const Vm& vm;
    const Offsets& at;
    bytes::MemoryReader memory;
};

/// A decoder that fills a snapshot: what it meets (atoms, functions, names of other nodes) becomes the snapshot's.
struct Reader : Decoder {
    Reader(const Vm& v, Snapshot& s) : Reader(v, v.image->space(), s) {}
    Reader(const Vm& v, const bytes::AddressSpace& space, Snapshot& s) : Decoder(v, space), snapshot(s) {}

    Snapshot& snapshot;
    std::uint64_t code_bytes = 0;  ///< of all modules, without literals; after read_modules
    bool module_versions = false;  ///< read_modules() reads what modules and their compiler say of themselves

    TextId atom(Word word) { return vm.atoms.intern(memory, word, snapshot.texts); }
    FunctionId function(const Mfa& mfa);
    /// A pid, local or external; none where the word is no pid.
    Pid pid(Word word);
    PortName port(Word word);

private:
    struct External {
        std::uint32_t node = 0;
        std::uint64_t data = 0;
    };
    std::optional<External> external(Word word, Tag tag);
    std::vector<std::pair<Mfa, FunctionId>> function_cache_;
};

}  // namespace beamheap::otp
