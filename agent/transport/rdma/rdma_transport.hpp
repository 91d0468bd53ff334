#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/transport/nic_meter.hpp"
#include "agent/transport/rdma/verbs_api.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/plan/rdma.hpp"
#include "core/plan/settings.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::rdma {

/// Where the kernel tells about RDMA devices.
inline constexpr const char* kRdmaDevices = "/sys/class/infiniband";

/// The port that a NIC's traffic uses, and the address it has there.
struct RdmaNic {
  std::string device;
  std::uint32_t port = 1;
  plan::RdmaGid gid;
  /// What faults will limit queue pairs to in the run: the device must be able to.
  std::vector<BitRate> rates = {};
};

struct RdmaOptions {
  const VerbsApi* verbs = nullptr;  ///< outlives the transport
  /// By NicIndex; none: no traffic goes over this NIC.
  std::vector<std::optional<RdmaNic>> nics;
  /// Known to the agents of this run only.
  std::string token;
  plan::RdmaSettings settings = {};
  bool verify_payload = false;
  /// By NicIndex, outliving the transport; empty: no bins are kept.
  std::span<agent::NicMeter> meters = {};
  /// For both ends to hear one another once both are ready.
  Duration greeting_limit = std::chrono::seconds{5};
  std::filesystem::path devices = kRdmaDevices;
};

/// What the transport did beyond replay::TransportStatistics; plain numbers of the owning thread.
struct RdmaStatistics {
  std::uint64_t send_posts = 0;     ///< ibv_post_send: one doorbell each
  std::uint64_t send_requests = 0;  ///< work requests posted by them
  std::uint64_t signalled = 0;      ///< of those, with a completion
  std::uint64_t receive_posts = 0;
  std::uint64_t completions = 0;
  std::uint64_t inlined = 0;
  std::uint64_t notifications = 0;  ///< ibv_req_notify_cq and reads of its channel
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t payload_sent = 0;
  std::uint64_t payload_verified = 0;  ///< bytes of messages whose stamps were right
  std::uint64_t greetings_sent = 0;
};

/// Messages over reliable connected queue pairs, one or several a connection.
///
/// A message is an RDMA WRITE WITH IMMEDIATE (its size) into a slot of the receiver, or a SEND into
/// a posted receive. The receiver gives a slot back by a clear-to-send: an RDMA WRITE of a 64-byte
/// entry into the sender's memory, as NCCL does it (nccl src/transport/net_ib). The payload has no
/// content: all messages leave from one registered buffer and, unless payload is verified, land in
/// one.
///
/// Before a connection is ready both ends greet each other by datagrams of full path MTU: a wrong
/// address, an MTU that does not fit or a stranger is found before any load.
///
/// Set-up is in rdma_setup.cpp and greeting.cpp, the data path in rdma_data_path.cpp.
class RdmaTransport final : public replay::Transport {
 public:
  static Result<std::unique_ptr<RdmaTransport>> create(RdmaOptions options);
  ~RdmaTransport() override;

  replay::Capabilities capabilities() const override;
  Result<replay::Address> open(const replay::ConnectionSpec& spec) override;
  Result<replay::Address> offer(const replay::ConnectionSpec& spec) override;
  Result<void> connect(const replay::ConnectionSpec& spec, const replay::Address& address) override;
  Result<void> accept(const replay::ConnectionSpec& spec, const replay::Address& address) override;

  std::size_t post(std::span<const replay::Request> requests, Instant now) noexcept override;
  std::size_t poll(std::span<replay::Completion> completions, Instant now) noexcept override;
  replay::Wakeup wakeup() const noexcept override;
  void abort(ConnectionIndex connection) noexcept override;

  Result<void> limit_rate(ConnectionIndex connection, BitRate of_queue_pair) override;
  replay::TransportStatistics statistics() const noexcept override;
  const RdmaStatistics& rdma_statistics() const noexcept;

  /// What is truly bound, one line a NIC that is used: device, port, GID, path MTU …
  std::vector<std::string> bound() const override;

 private:
  RdmaTransport();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::rdma
