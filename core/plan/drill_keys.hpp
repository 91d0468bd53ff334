#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/fault/fraction.hpp"
#include "core/plan/checks.hpp"
#include "core/yaml/yaml.hpp"

// How the keys of a drill are read; for the files that read one.

namespace rehearsal::plan {

/// Puts the value of `key`, read by a member of Node or a function of one, into `target` if the key
/// is there.
template <typename Value, typename Read>
Result<void> take(const yaml::Mapping& mapping, std::string_view key, Value& target, Read read) {
  const std::optional<yaml::Node> node = mapping.optional(key);
  if (!node) return {};
  ASSIGN_OR_RETURN(target, std::invoke(read, *node));
  return {};
}

inline auto count_up_to(std::uint32_t most) {
  return [most](const yaml::Node& node) { return node.integer32(1, most); };
}

/// "50%", "1/4".
inline Result<fault::Fraction> read_fraction(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  const auto fraction = fault::parse_fraction(text);
  if (!fraction) return node.wrong(fraction.error().message, "");
  return *fraction;
}

/// The hosts that `items` name ("h[1-4]" is four), at most kHostsMax; `node` is the key they stand
/// under.
Result<std::vector<std::string>> read_host_names(const yaml::Node& node,
                                                 const std::vector<yaml::Node>& items);

/// Blames the key that a check names, or the whole group where that key is not written.
template <typename Group>
Result<void> checked(const Group& group, const yaml::Mapping& mapping) {
  const std::optional<Wrong> wrong = check(group);
  if (!wrong) return {};
  if (const auto node = mapping.optional(wrong->key)) return node->wrong(wrong->what, wrong->right);
  return mapping.wrong(std::string(wrong->key) + ": " + wrong->what, wrong->right);
}

}  // namespace rehearsal::plan
