#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::importer {

/// A capture file as it was read: base name and bytes (gzip or plain).
struct CaptureFile {
  std::string name;
  std::string content;
};

/// Ids of threads in captures are numbers or texts; this tells them apart.
using ThreadId = std::uint64_t;

/// A stretch of time, in nanoseconds of the capture's own clock.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool contains(std::int64_t time) const { return begin <= time && time < end; }
};

/// What one rank hands to a collective, by whichever capture tells it.
struct CapturedCollective {
  profile::OpKind kind = profile::OpKind::all_reduce;
  std::string called;          ///< as the capture names it ("all_to_allv")
  std::uint64_t elements = 0;  ///< of the input
  std::uint32_t element_bytes = 0;
  std::string type;                  ///< "fp32"
  std::vector<std::uint64_t> sends;  ///< all_to_all with splits: elements to each peer
  std::vector<std::uint64_t> recvs;  ///< all_to_all with splits: elements from each peer

  Bytes input_bytes() const { return Bytes{elements * element_bytes}; }
  /// "all_to_allv 6144 fp32"
  std::string text() const { return called + " " + std::to_string(elements) + " " + type; }
};

/// "int32" and 4 for a type as PyTorch spells it ("int", "Tensor(int)"); none if unknown.
std::optional<std::pair<std::string, std::uint32_t>> element_type(std::string_view name);

/// The kind for a name as c10d spells it ("all_to_allv", "_allgather_base"); none if unknown.
std::optional<profile::OpKind> collective_kind(std::string_view name);

/// "file: record 12: what", the form of every error here.
Failure wrong_record(std::string_view file, std::string_view record, std::size_t number,
                     std::string_view what);

/// Caps, checked before memory is taken.
inline constexpr std::size_t kFileBytesMax = std::size_t{512} << 20;
inline constexpr std::size_t kCaptureBytesMax = std::size_t{2} << 30;
/// Elements of one tensor: 2^50 bytes of at least one byte each.
inline constexpr std::uint64_t kElementsMax = std::uint64_t{1} << 46;

}  // namespace rehearsal::importer
