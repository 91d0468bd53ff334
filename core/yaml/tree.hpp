#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace rehearsal::yaml {

enum class Kind : std::uint8_t { null, scalar, sequence, mapping };

/// A document as it was read: nodes by index, the root first.
struct Tree {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Entry {
    Kind kind = Kind::null;
    bool quoted = false;  ///< scalar: written in quotes or as a block
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    std::uint32_t key_line = 1;  ///< if the parent is a mapping: where the key stands
    std::uint32_t key_column = 1;
    std::uint32_t parent = kNone;
    std::uint32_t ordinal = 0;  ///< among the parent's children
    std::string key;            ///< if the parent is a mapping
    std::string text;           ///< scalar: its value
    std::vector<std::uint32_t> children;
  };

  std::string file_name;
  std::vector<Entry> entries;

  /// "jobs[0].hosts"; empty for the root.
  std::string path(std::uint32_t index) const;
};

/// "file:line:column: path: what; right" without the parts that are empty. Lines and columns
/// from 1.
std::string describe(std::string_view file_name, std::size_t line, std::size_t column,
                     std::string_view path, std::string_view what, std::string_view right);

/// Reads `text` with yaml-cpp; the only caller of that library.
Result<Tree> read_tree(std::string_view text, std::string file_name);

}  // namespace rehearsal::yaml
