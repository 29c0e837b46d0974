// SPDX-License-Identifier: Apache-2.0
#include "bytes/debug_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "bytes/read_files.hpp"

namespace beamheap::bytes {
namespace {

const std::string debug_root = "/usr/lib/debug";
constexpr std::uint64_t most_uncompressed = 1ull << 31;
constexpr std::uint64_t section_compressed = 0x800;  // SHF_COMPRESSED

// Compressed sections are unpacked as a whole by libelf.
std::uint64_t uncompressed_size(const ElfImage& file) {
    std::uint64_t sum = 0;
    for (const ElfSection& section : file.sections()) {
        const Bytes data = file.contents(section);
        std::uint64_t size = 0;
        if ((section.flags & section_compressed) != 0 && data.size() >= 24) {
            size = load<std::uint64_t>(data.data() + 8);  // Elf64_Chdr.ch_size
        } else if (section.name.substr(0, 7) == ".zdebug" && data.size() >= 12) {
            size = __builtin_bswap64(load<std::uint64_t>(data.data() + 4));  // "ZLIB", then the size, high byte first
        }
        if (__builtin_add_overflow(sum, size, &sum)) return ~0ull;
    }
    return sum;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

// Where libdwfl looks, in its order.
std::vector<std::string> candidates(const std::string& build_id, const std::string& file, const std::string& link) {
    std::vector<std::string> paths;
    if (build_id.size() > 2)
        paths.push_back(debug_root + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug");
    const std::string name = link.empty() ? file.substr(file.rfind('/') + 1) + ".debug" : link;
    std::vector<std::string> files{file};
    if (char* real = realpath(file.c_str(), nullptr)) {
        if (file != real) files.emplace_back(real);
        std::free(real);
    }
    for (const std::string& each : files) {
        const std::string folder = folder_of(each);
        if (name.front() == '/') {
            paths.push_back(name);
            continue;
        }
        paths.push_back(folder + "/" + name);
        paths.push_back(folder + "/.debug/" + name);
        if (folder.front() == '/') paths.push_back(debug_root + folder + "/" + name);
    }
    return paths;
}

std::uint32_t checksum(Bytes bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

bool harmless(const ElfImage& file, const std::string& path) {
    for (const std::string_view link : {".gnu_debuglink", ".gnu_debugaltlink"}) {
        const ElfSection* section = file.section(link);
        if (section == nullptr) continue;
        const Bytes data = file.contents(*section);
        const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
        const std::string name(text.substr(0, text.find('\0')));
        const std::size_t slash = path.rfind('/');
        const std::string target =
            name.substr(0, 1) == "/" || slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
        struct stat status {};
        if (stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return false;
    }
    return uncompressed_size(file) <= most_uncompressed;
}

int find_debug_file(Dwfl_Module* module, void**, const char*, Dwarf_Addr, const char* file, const char* link,
                    GElf_Word crc, char** found) {
    std::string build_id;
    const unsigned char* bits = nullptr;
    GElf_Addr place = 0;
    for (int i = 0, size = dwfl_module_build_id(module, &bits, &place); i < size; ++i) {
        constexpr char digits[] = "0123456789abcdef";
        build_id += digits[bits[i] >> 4];
        build_id += digits[bits[i] & 15];
    }
    struct stat own {};
    if (file == nullptr || stat(file, &own) != 0) return -1;
    for (const std::string& path : candidates(build_id, file, link == nullptr ? "" : link)) {
        struct stat status {};
        if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (status.st_dev == own.st_dev && status.st_ino == own.st_ino) continue;
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) continue;
        if (auto mapped = MappedFile::map(descriptor, path)) {
            const auto image = ElfImage::adopt(std::move(*mapped), path);
            const bool same = image && (build_id.empty() ? link != nullptr && checksum(image->bytes()) == crc
                                                         : image->build_id() == build_id);
            if (same && harmless(*image, path)) {
                if (found != nullptr) *found = strdup(path.c_str());
                note_read(descriptor, "debug information that is read");
                return descriptor;
            }
        }
        ::close(descriptor);
    }
    return -1;
}

}  // namespace beamheap::bytes
