// SPDX-License-Identifier: Apache-2.0
// What nearly every batch of files includes, of the library, of fmt and of the model: read once where
// BEAMHEAP_PRECOMPILED asks for it. Files include what they use all the same.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "beamheap/artifact.hpp"  // and by it the whole model
