#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/collective/shape.hpp"
#include "core/plan/connection.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// What lies between two ranks.
enum class Passage : std::uint8_t {
  inside_node,    ///< handed over in the agent, as GPUs do over NVLink
  between_nodes,  ///< of nodes that share an agent: handed over too, though in the job it is on the
                  ///< wire
  wire,           ///< leaves the host by one NIC, arrives by another
};

std::string_view to_string(Passage passage);

/// By which NIC the connections of a job leave one host and enter the other.
///
/// Where nothing is known of nodes, a rail is a NIC's name and traffic keeps to its rail: it leaves
/// by its source rank's NIC and arrives at the NIC of the same name on the destination's host, as a
/// rail-optimised fabric is wired. Where nodes are known, NCCL's rules decide
/// (collective/rails.hpp), and a rail is the data NIC of that index of the host, counted round
/// where it has fewer. Where a host has no such NIC, the rank's own takes the traffic.
class Rails {
 public:
  Rails(const Plan& plan, JobIndex job);

  Passage passage(Rank source, Rank destination) const {
    if (job_->bindings[source.value].host != job_->bindings[destination.value].host)
      return Passage::wire;
    const bool shared =
        job_->node && job_->seats[source.value].node != job_->seats[destination.value].node;
    return shared ? Passage::between_nodes : Passage::inside_node;
  }

  /// A rank at one end of a connection.
  struct End {
    Rank rank;
    std::uint32_t position = 0;  ///< in the communicator
  };
  struct Route {
    NicIndex departure;  ///< of the source's host
    NicIndex arrival;    ///< of the destination's host
  };
  /// Of a connection on the wire; `shape` is that of its communicator.
  Route route(const collective::Shape& shape, ConnectionUse use, std::uint32_t channel,
              const End& source, const End& destination) const;

 private:
  static constexpr std::uint32_t kNone = ~0U;

  void number_by_name(const Plan& plan);
  void number_by_seat(std::size_t hosts);
  NicIndex nic(const Binding& binding, std::uint32_t rail) const;

  const PlannedJob* job_;
  CollectiveSettings settings_;
  std::size_t rails_ = 0;
  std::vector<std::vector<std::uint32_t>> rail_of_nic_;  ///< by host and NIC; without nodes
  std::vector<std::uint32_t> nic_of_rail_;               ///< by host × rail
};

}  // namespace rehearsal::plan
