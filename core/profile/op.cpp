#include "core/profile/op.hpp"

#include <array>

namespace rehearsal::profile {
namespace {

constexpr std::array<std::string_view, 12> kNames = {
    "compute", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
    "reduce",  "gather",     "scatter",    "send",           "recv",       "barrier"};

}  // namespace

std::string_view to_string(OpKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<OpKind> op_kind(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<OpKind>(i);
  }
  return std::nullopt;
}

}  // namespace rehearsal::profile
