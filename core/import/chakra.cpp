#include "core/import/chakra.hpp"

#include <array>
#include <limits>

#include "core/import/capture.hpp"
#include "core/import/rank_name.hpp"
#include "core/import/wire.hpp"
#include "core/profile/limits.hpp"

namespace rehearsal::importer {
namespace {

using profile::OpKind;

// Chakra et_def.proto, schema since 2023-10.
namespace field {
constexpr std::uint32_t kMetadataVersion = 1;  // text, where a node has its id, a number
constexpr std::uint32_t kId = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kType = 3;
constexpr std::uint32_t kControlDependencies = 4;
constexpr std::uint32_t kDataDependencies = 5;
constexpr std::uint32_t kDurationMicros = 7;
constexpr std::uint32_t kAttribute = 10;
constexpr std::uint32_t kAttributeName = 1;
constexpr std::uint32_t kBoolList = 28;
}  // namespace field

constexpr std::uint64_t kTypeCompute = 4;
constexpr std::uint64_t kTypeSend = 5;
constexpr std::uint64_t kTypeRecv = 6;
constexpr std::uint64_t kTypeCollective = 7;

constexpr std::array kCommunicationTypes = {
    OpKind::all_reduce,     OpKind::reduce,    OpKind::all_gather, OpKind::gather,
    OpKind::scatter,        OpKind::broadcast, OpKind::all_to_all, OpKind::reduce_scatter,
    OpKind::reduce_scatter,  // REDUCE_SCATTER_BLOCK
    OpKind::barrier};

constexpr std::size_t kNodesMax = std::size_t{1} << 22;
constexpr std::size_t kDependenciesMax = std::size_t{1} << 25;

struct Attributes {
  std::optional<std::uint64_t> comm_type;
  std::optional<std::uint64_t> comm_size;
  std::optional<std::uint64_t> comm_src;
  std::optional<std::uint64_t> comm_dst;
  std::optional<std::uint64_t> root;
  bool is_cpu_op = false;
  bool partial_dimensions = false;
  std::string group;
};

std::uint64_t zigzag(std::uint64_t value) { return (value >> 1) ^ (~(value & 1) + 1); }

/// The values of AttributeProto's integers of any width, by field number; none for other types.
std::optional<std::uint64_t> integer_of(const WireField& value) {
  if (value.is_bytes) return std::nullopt;
  switch (value.number) {
    case 15:
    case 17:
      return zigzag(value.value);
    case 7:
    case 9:
    case 11:
    case 13:
    case 19:
    case 21:
    case 23:
    case 25:
    case 27:
      return value.value;
    default:
      return std::nullopt;
  }
}

class Reader {
 public:
  explicit Reader(std::string_view file) { trace_.file = std::string(file); }

  Result<ChakraTrace> read(std::string_view content) {
    WireReader frames(content);
    while (!frames.done()) {
      const std::size_t begin = frames.offset();
      const auto frame = frames.delimited();
      if (!frame) {
        return wrong("its length, at byte " + std::to_string(begin) +
                     ", leads past the end of the file (truncated, or no Chakra trace)");
      }
      if (frame_ == 0 && is_metadata(*frame)) {
        trace_.metadata = true;
      } else {
        RETURN_IF_ERROR(read_node(*frame));
      }
      ++frame_;
    }
    if (trace_.nodes.empty()) return invalid(trace_.file + ": no node in it");
    const auto rank = rank_in_name(trace_.file);
    if (!rank) {
      return invalid(trace_.file +
                     ": the rank is missing: the file's name must end like 'name.3.et'");
    }
    trace_.rank = *rank;
    return std::move(trace_);
  }

 private:
  Failure wrong(const std::string& what) const {
    return wrong_record(trace_.file, "frame", frame_, what);
  }

  /// A node has a type (3); the metadata has a text as field 1, attributes, or nothing at all.
  static bool is_metadata(std::string_view frame) {
    WireReader reader(frame);
    while (!reader.done()) {
      const auto found = reader.field();
      if (!found) return false;
      if (found->number == field::kMetadataVersion) return found->is_bytes;
      if (found->number == field::kType) return false;
    }
    return true;
  }

  Result<void> read_node(std::string_view frame) {
    if (trace_.nodes.size() == kNodesMax) return wrong("more than 4194304 nodes");
    ChakraTrace::Node node;
    node.frame = frame_;
    std::uint64_t type = 0;
    Attributes attributes;
    WireReader reader(frame);
    while (!reader.done()) {
      const auto found = reader.field();
      if (!found) {
        return wrong("a malformed field before byte " + std::to_string(reader.offset()) +
                     " of the node");
      }
      RETURN_IF_ERROR(take_field(*found, node, type, attributes));
    }
    RETURN_IF_ERROR(classify(type, attributes, node));
    trace_.nodes.push_back(std::move(node));
    return {};
  }

  Result<void> take_field(const WireField& found, ChakraTrace::Node& node, std::uint64_t& type,
                          Attributes& attributes) {
    switch (found.number) {
      case field::kId:
        if (found.is_bytes) return wrong("its id is no number (an older schema?)");
        node.id = found.value;
        return {};
      case field::kName:
        if (!found.is_bytes) return wrong("its name is no text");
        node.name = std::string(found.bytes.substr(0, 256));
        return {};
      case field::kType:
        if (found.is_bytes) return wrong("its type is no number");
        type = found.value;
        return {};
      case field::kControlDependencies:
      case field::kDataDependencies:
        return take_dependencies(found, node);
      case field::kDurationMicros:
        if (found.is_bytes || found.value > kMicrosMax) return wrong("its duration is over 24 h");
        node.duration = std::chrono::microseconds{found.value};
        return {};
      case field::kAttribute:
        if (!found.is_bytes) return wrong("an attribute is no message");
        return take_attribute(found.bytes, attributes);
      default:
        return {};
    }
  }

  /// Packed or one by one.
  Result<void> take_dependencies(const WireField& found, ChakraTrace::Node& node) {
    if (!found.is_bytes) {
      node.after.push_back(found.value);
    } else {
      WireReader list(found.bytes);
      while (!list.done()) {
        const auto id = list.varint();
        if (!id) return wrong("a malformed list of dependencies");
        node.after.push_back(*id);
        if (++dependencies_ > kDependenciesMax) return wrong("too many dependencies");
      }
    }
    return {};
  }

  Result<void> take_attribute(std::string_view bytes, Attributes& attributes) {
    std::string_view name;
    std::optional<std::uint64_t> number;
    std::string_view text;
    bool has_false = false;
    WireReader reader(bytes);
    while (!reader.done()) {
      const auto found = reader.field();
      if (!found) return wrong("a malformed attribute");
      if (found->number == field::kAttributeName && found->is_bytes) {
        name = found->bytes;
      } else if (found->is_bytes) {
        text = found->bytes;
        if (found->number == field::kBoolList) has_false = holds_false(found->bytes);
      } else {
        number = integer_of(*found);
      }
    }
    if (name == "comm_type") attributes.comm_type = number;
    if (name == "comm_size") attributes.comm_size = number;
    if (name == "comm_src") attributes.comm_src = number;
    if (name == "comm_dst") attributes.comm_dst = number;
    if (name == "root_rank" || name == "root") attributes.root = number;
    if (name == "is_cpu_op") attributes.is_cpu_op = number.value_or(0) != 0;
    if (name == "involved_dim") attributes.partial_dimensions = has_false;
    if (name == "pg_name") attributes.group = std::string(text.substr(0, 64));
    return {};
  }

  /// BoolList {repeated bool values = 1}, packed or one by one.
  static bool holds_false(std::string_view list) {
    WireReader reader(list);
    while (!reader.done()) {
      const auto found = reader.field();
      if (!found) return false;
      if (!found->is_bytes && found->value == 0) return true;
      if (found->is_bytes && found->bytes.find('\0') != std::string_view::npos) return true;
    }
    return false;
  }

  Result<void> classify(std::uint64_t type, const Attributes& attributes, ChakraTrace::Node& node) {
    if (attributes.is_cpu_op) return {};
    if (type == kTypeCompute) {
      node.kind = OpKind::compute;
      return {};
    }
    if (type == kTypeCollective) return classify_collective(attributes, node);
    if (type == kTypeSend || type == kTypeRecv) {
      const bool sends = type == kTypeSend;
      node.kind = sends ? OpKind::send : OpKind::recv;
      const auto peer = sends ? attributes.comm_dst : attributes.comm_src;
      if (!peer || *peer >= profile::kRanksMax) {
        return wrong(
            std::string(sends ? "a send without 'comm_dst'" : "a recv without 'comm_src'") +
            ", or with one that is no rank");
      }
      node.peer = static_cast<std::uint32_t>(*peer);
      return take_size(attributes, node);
    }
    return {};
  }

  Result<void> classify_collective(const Attributes& attributes, ChakraTrace::Node& node) {
    if (!attributes.comm_type) return wrong("a collective without 'comm_type'");
    if (*attributes.comm_type >= kCommunicationTypes.size()) {
      return wrong("'comm_type' " + std::to_string(*attributes.comm_type) + "; 0 to 9 are known");
    }
    if (attributes.partial_dimensions || !attributes.group.empty()) {
      return fail(ErrorCode::unsupported, ErrorSource::config,
                  trace_.file + ": frame " + std::to_string(frame_) +
                      ": a collective of some of the ranks (" +
                      (attributes.group.empty() ? std::string("'involved_dim' has a false")
                                                : "'pg_name' " + attributes.group) +
                      "); only collectives of all ranks are imported from Chakra");
    }
    node.kind = kCommunicationTypes[*attributes.comm_type];
    node.peer = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(attributes.root.value_or(0), profile::kRanksMax));
    if (*node.kind == OpKind::barrier) return {};
    return take_size(attributes, node);
  }

  Result<void> take_size(const Attributes& attributes, ChakraTrace::Node& node) {
    if (!attributes.comm_size || *attributes.comm_size > profile::kOpBytesMax) {
      return wrong("'comm_size' is missing or over 1 PiB");
    }
    node.bytes = Bytes{*attributes.comm_size};
    return {};
  }

  static constexpr std::uint64_t kMicrosMax = profile::kDurationNanosecondsMax / 1000;

  ChakraTrace trace_;
  std::size_t frame_ = 0;
  std::size_t dependencies_ = 0;
};

}  // namespace

bool is_chakra(std::string_view file) { return file.ends_with(".et") || file.ends_with(".et.gz"); }

Result<ChakraTrace> read_chakra(std::string_view file, std::string_view content) {
  if (content.empty()) return invalid(std::string(file) + ": it is empty");
  return Reader(file).read(content);
}

}  // namespace rehearsal::importer
