// SPDX-License-Identifier: Apache-2.0
// What nearly every file includes, of the library and of fmt: read once where BEAMHEAP_PRECOMPILED asks for it. Files
// include what they use all the same.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
