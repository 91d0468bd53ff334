#include "core/plan/queue_pair_variables.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "core/base/text.hpp"
#include "core/plan/checks.hpp"

namespace rehearsal::plan {
namespace {

using yaml::Mapping;
using yaml::Node;

struct Variable {
  std::string_view name;  ///< nccl src/transport/net_ib
  std::string_view key;   ///< ours, in `transport`
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  void (*put)(RdmaSettings&, std::uint32_t) = nullptr;
};

constexpr std::array kVariables = {
    Variable{"NCCL_IB_QPS_PER_CONNECTION", "queue_pairs", 1, kQueuePairsMax,
             [](RdmaSettings& rdma, std::uint32_t value) { rdma.queue_pairs = value; }},
    Variable{"NCCL_IB_SPLIT_DATA_ON_QPS", "queue_pair_use", 0, 1,
             [](RdmaSettings& rdma, std::uint32_t value) {
               rdma.queue_pair_use = value == 1 ? QueuePairUse::split : QueuePairUse::round_robin;
             }},
    Variable{"NCCL_IB_TC", "traffic_class", 0, 255,
             [](RdmaSettings& rdma, std::uint32_t value) { rdma.traffic_class = value; }},
    Variable{"NCCL_IB_SL", "service_level", 0, 15,
             [](RdmaSettings& rdma, std::uint32_t value) { rdma.service_level = value; }},
    Variable{"NCCL_IB_TIMEOUT", "ack_timeout", 0, 31,
             [](RdmaSettings& rdma, std::uint32_t value) { rdma.ack_timeout = value; }},
    Variable{"NCCL_IB_RETRY_CNT", "retry_count", 0, 7,
             [](RdmaSettings& rdma, std::uint32_t value) { rdma.retry_count = value; }},
    Variable{"NCCL_IB_ECE_ENABLE", "ece", 0, 1,
             [](RdmaSettings& rdma, std::uint32_t value) { rdma.ece = value == 1; }},
};

const Variable* find(std::string_view name) {
  const auto found = std::ranges::find(kVariables, name, &Variable::name);
  return found == kVariables.end() ? nullptr : &*found;
}

Result<std::uint32_t> number(const Node& node, const Variable& variable) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= variable.least &&
      value <= variable.most)
    return value;
  return node.wrong("is " + in_quotes(text), "expected " + std::to_string(variable.least) + " to " +
                                                 std::to_string(variable.most));
}

Result<void> take_one(const Variable& variable, const Node& node, const Mapping& drill,
                      TransportSettings& transport) {
  if (transport.kind != TransportKind::rdma) {
    return node.wrong_key("is a setting of queue pairs, and the transport is " +
                              std::string(to_string(transport.kind)),
                          "leave it out, or use transport: {kind: rdma}");
  }
  ASSIGN_OR_RETURN(const std::uint32_t value, number(node, variable));
  const RdmaSettings before = transport.rdma;
  variable.put(transport.rdma, value);
  if (transport.rdma == before) return {};
  const auto own = drill.optional("transport");
  if (!own) return {};
  ASSIGN_OR_RETURN(const auto keys, own->entries());
  if (std::ranges::any_of(keys, [&](const auto& key) { return key.first == variable.key; })) {
    return node.wrong("says something else than transport." + std::string(variable.key),
                      "say it once");
  }
  return {};
}

}  // namespace

bool is_queue_pair_variable(std::string_view name) { return find(name) != nullptr; }

Result<void> take_queue_pair_variables(const Mapping& drill, TransportSettings& transport) {
  const auto collectives = drill.optional("collectives");
  if (!collectives || !collectives->is_mapping()) return {};
  ASSIGN_OR_RETURN(const auto groups, collectives->entries());
  const auto nccl =
      std::ranges::find(groups, "nccl", [](const auto& group) { return group.first; });
  if (nccl == groups.end()) return {};
  ASSIGN_OR_RETURN(const auto entries, nccl->second.entries());
  for (const auto& [name, node] : entries) {
    const Variable* variable = find(name);
    if (variable != nullptr) RETURN_IF_ERROR(take_one(*variable, node, drill, transport));
  }
  // What each allows may not go together.
  if (const auto wrong = check(transport)) {
    return nccl->second.wrong("transport." + std::string(wrong->key) + ": " + wrong->what,
                              wrong->right);
  }
  return {};
}

}  // namespace rehearsal::plan
