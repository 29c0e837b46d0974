// SPDX-License-Identifier: Apache-2.0
#include "support/places.hpp"

namespace beamheap::test {

const std::string& source_dir() {
    static const std::string path = SOURCE_DIR;
    return path;
}

const std::string& built_program() {
    static const std::string path = BEAMHEAP_BINARY;
    return path;
}

const std::string& types_folder() {
    static const std::string path = TYPES_FOLDER;
    return path;
}

}  // namespace beamheap::test
