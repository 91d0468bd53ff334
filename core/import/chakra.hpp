#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/profile/op.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::importer {

/// One rank's Chakra execution trace (.et; protobuf messages, each after a varint with its length;
/// schema since 2023-10). Nodes that cause neither traffic nor compute time are kept for their
/// dependencies.
struct ChakraTrace {
  struct Node {
    std::uint64_t id = 0;
    std::string name;
    /// None: a host op or metadata, which takes no time.
    std::optional<profile::OpKind> kind;
    Bytes bytes;
    std::uint32_t peer = 0;  ///< send, recv: rank of the other side
    Duration duration{0};
    std::vector<std::uint64_t> after;  ///< ids: data and control dependencies
    std::size_t frame = 0;             ///< in the file, for error texts
  };

  std::string file;
  Rank rank;
  bool metadata = false;  ///< the file opens with a GlobalMetadata frame
  std::vector<Node> nodes;
};

/// Whether the name is that of a Chakra trace (`.et`, `.et.gz`); the bytes have no mark.
bool is_chakra(std::string_view file);

/// Errors name the file and the frame.
Result<ChakraTrace> read_chakra(std::string_view file, std::string_view content);

/// Joins one trace a rank to a profile without name and sources. All collectives are taken to be of
/// all ranks. Dependencies on nodes that are not in the file are dropped, and the note says so.
Result<profile::Profile> combine_chakra(std::vector<ChakraTrace> traces);

}  // namespace rehearsal::importer
