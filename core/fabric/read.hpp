#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/fabric/node.hpp"

namespace rehearsal::fabric {

/// No description of a node is read that is larger.
inline constexpr std::size_t kNodeBytesMax = 1U << 20;

/// Reads a description of a node, whatever it is, by its content: an NCCL topology (XML), the text
/// of `nvidia-smi topo -m`, or our own YAML (docs/node-format.md). `name` is for messages, and the
/// node's name where the text has none. Fails with invalid_input, unsupported, or too_large over
/// kNodeBytesMax; the message names the file, the place and what would be right.
Result<Node> read_node(std::string_view text, const std::string& name);

}  // namespace rehearsal::fabric
