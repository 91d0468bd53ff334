#pragma once

#include <algorithm>
#include <optional>
#include <ranges>
#include <string_view>

namespace rehearsal {

/// The one of `values` (of an enum with a to_string) that has this name.
template <std::ranges::range Values>
std::optional<std::ranges::range_value_t<Values>> value_named(const Values& values,
                                                              std::string_view name) {
  const auto found =
      std::ranges::find_if(values, [&](auto value) { return to_string(value) == name; });
  if (found == std::ranges::end(values)) return std::nullopt;
  return *found;
}

}  // namespace rehearsal
