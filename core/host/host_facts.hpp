#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "core/base/units.hpp"
#include "core/host/worker_place.hpp"

namespace rehearsal::host {

/// What could be read of something, or why it could not.
struct Reading {
  std::string value = {};
  std::string why_not = {};  ///< empty: `value` counts

  bool readable() const { return why_not.empty(); }
  bool operator==(const Reading&) const = default;
};

/// How a NIC keeps packets from being lost, as far as its host can tell.
struct LossControl {
  Reading flow_control = {};  ///< PFC: "priorities 3"; empty value: off
  Reading congestion = {};    ///< ECN of RoCE: "priorities 0-7"; empty value: off
  Reading dscp = {};          ///< which DSCP goes to which priority: "26:3"; empty value: none does

  bool operator==(const LossControl&) const = default;
};

struct NicFacts {
  NicPlace place;
  bool hardware = false;       ///< else a veth, a loopback …
  std::string rdma_port = {};  ///< "mlx5_0 port 1"; empty: none
  bool ethernet = true;
  LossControl loss = {};  ///< where there is hardware with an RDMA port on Ethernet

  bool operator==(const NicFacts&) const = default;
};

struct ClockFacts {
  std::string source = {};   ///< "tsc"; empty: not known
  bool disciplined = false;  ///< NTP or PTP keeps it
  Duration error_max{0};     ///< of the wall clock, as the kernel takes it to be

  bool operator==(const ClockFacts&) const = default;
};

/// What an agent finds on its own host, beside the inventory that plans are made from.
struct HostFacts {
  std::string host = {};
  std::optional<Bytes> lock_limit = {};  ///< memory that may be locked; none: without limit
  std::string verbs_missing = {};        ///< why libibverbs cannot be used; empty: it can
  bool rdma_devices = false;             ///< the kernel lists some
  ClockFacts clock = {};
  Cores allowed = {};  ///< cores that this process may use
  std::vector<NicFacts> nics = {};
  WorkerPlace place = {};  ///< where a worker that polls would go

  bool operator==(const HostFacts&) const = default;
};

}  // namespace rehearsal::host
