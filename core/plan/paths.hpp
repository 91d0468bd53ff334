#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/shape.hpp"
#include "core/plan/connection.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/rails.hpp"

namespace rehearsal::plan {

/// What lies between the two ranks of a connection.
enum class Passage : std::uint8_t {
  inside_node,    ///< handed over in the agent, as GPUs do over NVLink
  between_nodes,  ///< of nodes that share an agent: handed over, though in the job it is on the wire
  wire,           ///< leaves the host by one NIC, arrives by another
};

struct Path {
  Passage passage = Passage::inside_node;
  NicIndex departure;  ///< on the wire: of the source's host
  NicIndex arrival;    ///< on the wire: of the destination's host
};

/// By which NICs the connections of one job go. Where nodes are known it follows NCCL's rails
/// (collective/rails.hpp), a rail being the host's data NIC of the same index; else the source's NIC
/// and the one of its name (Rails).
class Paths {
 public:
  Paths(const Plan& plan, JobIndex job);

  /// `source` and `destination` are positions in the communicator that `shape` is of.
  Path of(const collective::Shape& shape, ConnectionUse use_of_pairs, std::uint16_t channel,
          Rank source, std::uint32_t source_position, Rank destination,
          std::uint32_t destination_position) const;

 private:
  NicIndex nic(const Binding& binding, std::uint32_t rail) const {
    const std::uint32_t nic = nic_of_rail_[binding.host.value * rails_count_ + rail];
    return nic == kNone ? binding.nic : NicIndex{nic};
  }

  static constexpr std::uint32_t kNone = ~0U;

  const PlannedJob& job_;
  const CollectiveSettings& settings_;
  Rails rails_;
  std::uint32_t rails_count_ = 0;
  std::vector<std::uint32_t> nic_of_rail_;  // by host × rail
};

}  // namespace rehearsal::plan
