// SPDX-License-Identifier: Apache-2.0
// fmt's own definitions, compiled here for builds that link no shared fmt: Debian ships its headers and a shared
// object, but no archive. Without FMT_HEADER_ONLY the definitions of format-inl.h are ordinary functions.
#include <fmt/format-inl.h>

template auto fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref) -> fmt::detail::thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref) -> char;
template void fmt::detail::buffer<char>::append(const char*, const char*);
template auto fmt::detail::dragonbox::to_decimal(float) noexcept -> fmt::detail::dragonbox::decimal_fp<float>;
template auto fmt::detail::dragonbox::to_decimal(double) noexcept -> fmt::detail::dragonbox::decimal_fp<double>;
template void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args,
                                      fmt::detail::locale_ref);
