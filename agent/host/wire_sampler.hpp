#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/host_facts.hpp"
#include "core/base/time.hpp"
#include "core/measure/agent_measurements.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::agent {

/// A counter of bytes that a NIC really sent or received.
struct WireCounter {
  std::filesystem::path file;
  std::uint64_t unit = 1;  ///< bytes that a count of one stands for

  std::string name() const { return file.filename().string(); }
  bool operator==(const WireCounter&) const = default;
};
struct WireCounters {
  WireCounter sent;
  WireCounter received;

  bool operator==(const WireCounters&) const = default;
};

/// The counters of a NIC that see a transport's traffic: for RDMA those of the port (what hardware
/// sends as RDMA its network interface may not count), where it has some; else those of the network
/// interface. None: nothing can be read.
std::optional<WireCounters> find_wire_counters(const plan::Nic& nic, plan::TransportKind transport,
                                               const KernelFolders& folders = {});

/// Puts what was read beside the figures of the same NICs.
void add_wire(std::vector<std::optional<measure::WireMeasurements>> wire,
              measure::AgentMeasurements& measurements);

/// Reads the counters of several NICs again and again, on a thread of its own, from start to stop:
/// every millisecond, or as often as reading takes no more than a twentieth of the thread's time.
class WireSampler {
 public:
  static std::unique_ptr<WireSampler> start(std::vector<std::optional<WireCounters>> nics);
  /// Without stop(): as if it had been.
  ~WireSampler();

  /// What was read, by NIC; nothing is read any more.
  std::vector<std::optional<measure::WireMeasurements>> stop();

 private:
  WireSampler();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::agent
