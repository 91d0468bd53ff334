#include "core/import/execution_trace.hpp"

#include <algorithm>
#include <numeric>

#include "core/import/json.hpp"
#include "core/import/rank_name.hpp"
#include "core/profile/limits.hpp"

namespace rehearsal::importer {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kCollectiveInputs = 7;  // tensors, seq, group, rank, name, in and out splits
constexpr std::size_t kWaitInputs = 6;        // the same without tensors

/// One node's error texts.
struct Where {
  std::string_view file;
  std::uint64_t node = 0;

  Failure wrong(std::string_view what) const { return wrong_record(file, "node", node, what); }
};

struct Tensors {
  std::uint64_t elements = 0;
  std::uint32_t element_bytes = 0;
};

/// Adds a tensor [tensor_id, storage_id, offset, num_elem, elem_bytes, device].
Result<void> add_tensor(const Where& where, dom::array tensor, Tensors& sum) {
  dom::element elements;
  dom::element width;
  if (tensor.size() < 5 || tensor.at(3).get(elements) || tensor.at(4).get(width)) {
    return where.wrong(
        "a tensor has fewer than 5 entries; [id, storage, offset, elements, bytes, device]");
  }
  const auto count = unsigned_of(elements);
  const auto bytes = unsigned_of(width);
  if (!count || !bytes || *bytes > 64) {
    return where.wrong("a tensor's elements or bytes an element are no usable whole numbers");
  }
  if (*count > kElementsMax || sum.elements + *count > kElementsMax) {
    return where.wrong("a tensor has over 2^46 elements");
  }
  sum.elements += *count;
  sum.element_bytes = static_cast<std::uint32_t>(*bytes);
  return {};
}

/// A tensor, or a list of tensors (also nested).
Result<void> add_tensors(const Where& where, dom::element value, Tensors& sum, int depth) {
  dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return where.wrong("a tensor is no list");
  dom::element first;
  if (list.at(0).get(first) != simdjson::SUCCESS) return {};  // an empty list of tensors
  if (first.is_number()) return add_tensor(where, list, sum);
  if (depth == 0) return where.wrong("tensors are nested too deep");
  for (const dom::element inner : list) {
    RETURN_IF_ERROR(add_tensors(where, inner, sum, depth - 1));
  }
  return {};
}

/// Splits count along the first dimension; made into elements of a tensor of `elements`.
Result<std::vector<std::uint64_t>> splits_of(const Where& where, dom::element value,
                                             std::uint64_t elements, std::string_view what) {
  dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return where.wrong(std::string(what) + " is no list");
  std::vector<std::uint64_t> splits;
  std::uint64_t sum = 0;
  for (const dom::element item : list) {
    const auto split = unsigned_of(item);
    if (!split || *split > kElementsMax || splits.size() >= profile::kRanksMax) {
      return where.wrong(std::string(what) + " holds no usable whole numbers");
    }
    sum += *split;
    splits.push_back(*split);
  }
  if (sum == 0) {
    if (elements == 0 || splits.empty()) return splits;
  } else if (elements % sum == 0) {
    for (std::uint64_t& split : splits) split *= elements / sum;
    return splits;
  }
  return where.wrong(std::string(what) + " add up to " + std::to_string(sum) + ", the tensor has " +
                     std::to_string(elements) + " elements");
}

Result<dom::array> inputs_of(const Where& where, dom::object node, std::string_view key) {
  dom::array list;
  if (node.at_key(key).get(list) != simdjson::SUCCESS) {
    return where.wrong("'" + std::string(key) + "' is missing or no list");
  }
  return list;
}

std::string type_of(dom::object node) {
  std::string_view text;
  if (node.at_key("input_types").at(0).get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

class Reader {
 public:
  explicit Reader(std::string_view file) { trace_.file = std::string(file); }

  Result<ExecutionTrace> read(dom::element root) {
    std::string_view schema;
    if (root.at_key("schema").get(schema) != simdjson::SUCCESS) {
      return wrong_file("'schema' is missing or no text; an execution trace has it");
    }
    if (!schema.starts_with("1.0.1")) {
      return fail(ErrorCode::unsupported, ErrorSource::config,
                  trace_.file + ": schema " + std::string(schema.substr(0, 64)) +
                      "; this importer reads execution traces of schema 1.0.1");
    }
    dom::array nodes;
    if (root.at_key("nodes").get(nodes) != simdjson::SUCCESS) {
      return wrong_file("'nodes' is missing or no list");
    }
    std::size_t number = 0;
    for (const dom::element item : nodes) {
      RETURN_IF_ERROR(read_node(item, number));
      ++number;
    }
    // Nodes are written when they end; their ids count when they began.
    std::stable_sort(trace_.entries.begin(), trace_.entries.end(),
                     [](const auto& a, const auto& b) { return a.node < b.node; });
    RETURN_IF_ERROR(find_rank());
    return std::move(trace_);
  }

 private:
  Failure wrong_file(std::string_view what) const {
    return invalid(trace_.file + ": " + std::string(what));
  }

  Result<void> read_node(dom::element item, std::size_t number) {
    dom::object node;
    std::string_view name;
    if (item.get(node) != simdjson::SUCCESS || node.at_key("name").get(name) != simdjson::SUCCESS) {
      return wrong_record(trace_.file, "node number", number, "is no object with a 'name'");
    }
    if (name != "record_param_comms") return {};
    dom::element id;
    const auto node_id = node.at_key("id").get(id) ? std::nullopt : unsigned_of(id);
    if (!node_id) {
      return wrong_record(trace_.file, "node number", number, "'id' is missing or no whole number");
    }
    const Where where{trace_.file, *node_id};
    ASSIGN_OR_RETURN(const dom::array inputs, inputs_of(where, node, "inputs"));
    if (inputs.size() == kWaitInputs) return read_wait(where, inputs);
    if (inputs.size() == kCollectiveInputs) return read_collective(where, node, inputs);
    return where.wrong(
        std::to_string(inputs.size()) +
        " inputs; record_param_comms of this vintage has 7 (collective) or 6 (wait)");
  }

  Result<std::int64_t> sequence_of(const Where& where, dom::array inputs, std::size_t at) const {
    std::int64_t sequence = 0;
    if (inputs.at(at).get(sequence) != simdjson::SUCCESS) {
      return where.wrong("its sequence number is no whole number");
    }
    return sequence;
  }

  Result<void> read_wait(const Where& where, dom::array inputs) {
    ASSIGN_OR_RETURN(const std::int64_t sequence, sequence_of(where, inputs, 0));
    std::string_view name;
    if (inputs.at(3).get(name) != simdjson::SUCCESS || name != "wait") {
      return where.wrong("6 inputs, but the fourth is not 'wait'");
    }
    trace_.entries.push_back({sequence, std::nullopt, 0, where.node});
    return {};
  }

  Result<void> read_collective(const Where& where, dom::object node, dom::array inputs) {
    ASSIGN_OR_RETURN(const std::int64_t sequence, sequence_of(where, inputs, 1));
    dom::element group;
    dom::element rank;
    dom::element tensors;
    dom::element in_splits;
    dom::element out_splits;
    std::string_view name;
    if (inputs.at(0).get(tensors) || inputs.at(2).get(group) || inputs.at(3).get(rank) ||
        inputs.at(4).get(name) || inputs.at(5).get(in_splits) || inputs.at(6).get(out_splits)) {
      return where.wrong("its inputs are not [tensors, seq, group, rank, name, splits, splits]");
    }
    const auto kind = collective_kind(name);
    if (!kind) {
      return where.wrong("'" + std::string(name.substr(0, 64)) +
                         "' is no operation this importer knows");
    }
    Tensors sent;
    Tensors received;
    RETURN_IF_ERROR(add_tensors(where, tensors, sent, 2));
    ASSIGN_OR_RETURN(const dom::array outputs, inputs_of(where, node, "outputs"));
    for (const dom::element output : outputs) {
      RETURN_IF_ERROR(add_tensors(where, output, received, 2));
    }
    CapturedCollective collective{.kind = *kind,
                                  .called = std::string(name),
                                  .elements = sent.elements,
                                  .element_bytes = sent.element_bytes,
                                  .type = {},
                                  .sends = {},
                                  .recvs = {}};
    const auto type = element_type(type_of(node));
    collective.type = type ? type->first : std::to_string(sent.element_bytes) + "-byte";
    ASSIGN_OR_RETURN(collective.sends, splits_of(where, in_splits, sent.elements, "input splits"));
    ASSIGN_OR_RETURN(collective.recvs,
                     splits_of(where, out_splits, received.elements, "output splits"));
    RETURN_IF_ERROR(note_rank(where, rank));
    const auto group_id = unsigned_of(group);
    if (!group_id) return where.wrong("its process group is no whole number");
    trace_.entries.push_back({sequence, std::move(collective), *group_id, where.node});
    return {};
  }

  Result<void> note_rank(const Where& where, dom::element rank) {
    const auto number = unsigned_of(rank);
    if (!number || *number >= profile::kRanksMax)
      return where.wrong("its rank is no usable number");
    const Rank found{static_cast<std::uint32_t>(*number)};
    if (rank_ && *rank_ != found) {
      return where.wrong("rank " + std::to_string(found.value) + ", other nodes say rank " +
                         std::to_string(rank_->value));
    }
    rank_ = found;
    return {};
  }

  /// The collectives say it; a trace without any may say it in its name.
  Result<void> find_rank() {
    const auto named = rank_in_name(trace_.file);
    if (!rank_ && !named)
      return wrong_file("the rank is missing: no collective and no number in its name");
    if (rank_ && named && *rank_ != *named) {
      return wrong_file("its name says rank " + std::to_string(named->value) +
                        ", its collectives rank " + std::to_string(rank_->value));
    }
    trace_.rank = rank_ ? *rank_ : *named;
    return {};
  }

  ExecutionTrace trace_;
  std::optional<Rank> rank_;
};

}  // namespace

bool is_execution_trace(std::string_view content) {
  return content.find("\"schema\"") != std::string_view::npos &&
         content.find("\"nodes\"") != std::string_view::npos;
}

Result<ExecutionTrace> read_execution_trace(std::string_view file, std::string_view json) {
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    return invalid(std::string(file) + ": no valid JSON: " + simdjson::error_message(error));
  }
  return Reader(file).read(root);
}

}  // namespace rehearsal::importer
