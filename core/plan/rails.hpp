#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/shape.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// By which NIC a connection leaves one host and enters the other. A rail is a NIC's name.
///
/// Where nothing is known of the inside of nodes, traffic keeps to its rail: it leaves by its source
/// rank's NIC and arrives at the NIC of the same name on the destination's host, as a rail-optimised
/// fabric is wired. Where nodes are known, NCCL's rules decide (collective/rails.hpp). Where a host
/// has no NIC of the name, the rank's own NIC takes it.
class Rails {
 public:
  explicit Rails(const Plan& plan);

  /// The rail of a rank, the same number wherever a NIC has that name.
  std::uint32_t rail_of(const Binding& binding) const {
    return name_of_nic_[binding.host.value][binding.nic.value];
  }

  /// The NIC of `destination`'s host at which traffic from `source` arrives if it keeps its rail.
  NicIndex arrival(const Binding& source, const Binding& destination) const;

  /// A rank at one end of a connection.
  struct End {
    Binding binding;
    std::uint32_t position = 0;  ///< in the communicator
  };
  struct Route {
    NicIndex departure;  ///< of the source's host
    NicIndex arrival;    ///< of the destination's host
  };
  /// `shape`: of the connection's communicator, its rails numbered by rail_of().
  Route route(const collective::Shape& shape, ConnectionUse use, std::uint32_t channel,
              const End& source, const End& destination) const;

 private:
  static constexpr std::uint32_t kNone = ~0U;

  NicIndex nic(const Binding& binding, std::uint32_t rail) const;

  CollectiveSettings settings_;
  std::size_t names_ = 0;
  std::vector<std::vector<std::uint32_t>> name_of_nic_;  ///< by host and NIC
  std::vector<std::uint32_t> nic_of_name_;               ///< by host × name
};

}  // namespace rehearsal::plan
