#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/transport/rdma/rdma_transport.hpp"
#include "agent/transport/rdma/verbs_api.hpp"

namespace rehearsal::test {

/// RDMA devices that exist only in memory, behind the table of verbs: queue pairs that write into
/// one another's memory, completion queues, channels and events. Every verb can be made to fail,
/// and what is under way to be late, lost, refused or flushed. One at a time, of one thread.
class FakeVerbs {
 public:
  /// Devices fake1 … with one active Ethernet port each: GID 1 is 10.0.0.<n>, RoCE v2.
  explicit FakeVerbs(std::uint32_t devices = 4);
  ~FakeVerbs();
  FakeVerbs(const FakeVerbs&) = delete;
  FakeVerbs& operator=(const FakeVerbs&) = delete;

  const rdma::VerbsApi& api() const;
  /// Stands for /sys/class/infiniband.
  const std::filesystem::path& devices() const;
  /// Options of a transport on one of these devices (1 …).
  rdma::RdmaOptions options(std::uint32_t device) const;

  // What the devices have beyond the least.
  /// Enhanced connection establishment with these options (bits) of the provider.
  void give_ece(std::uint32_t device, std::uint32_t options);
  void take_ece(std::uint32_t device);
  /// The rate of a reliable queue pair can be limited to this range, in kbit/s.
  void give_rate_limits(std::uint32_t device, std::uint32_t min, std::uint32_t max);
  /// The ports are of InfiniBand, of this subnet: LID 100 + n, a GID with that prefix, the subnet
  /// manager at LID 1.
  void make_infiniband(std::uint32_t device, std::uint64_t subnet_prefix = 0xfe80000000000000);
  /// … and want a GRH even within their subnet.
  void require_grh(std::uint32_t device);
  /// The route that the queue pair made last of this device was given when it became ready.
  ibv_ah_attr last_route(std::uint32_t device) const;
  /// … its path MTU, timeouts and retries.
  ibv_qp_attr last_attributes(std::uint32_t device) const;
  /// kbit/s that the last queue pair of this device was limited to; 0: to nothing.
  std::uint32_t last_rate_limit(std::uint32_t device) const;
  /// … of each reliable queue pair of this device, in the order of their making.
  std::vector<std::uint32_t> rate_limits(std::uint32_t device) const;
  /// The options in use by the queue pairs of this device that are ready to send.
  std::vector<std::uint32_t> ece_in_use(std::uint32_t device) const;
  /// Takes the functions away, as where libibverbs is older than they are.
  void be_without_ece_functions();

  // What goes wrong.
  /// The call of this verb ("create_qp") after `skip` more fails with `error`, once.
  void fail(const std::string& verb, int error, int skip = 0);
  /// Nothing that is posted goes its way until release().
  void hold();
  void release();
  /// The next send on a reliable queue pair ends so, as its provider would report it.
  void end_next_send_with(ibv_wc_status status);
  /// Datagrams over this size are lost on the way.
  void limit_wire(std::uint32_t bytes);
  /// From now on one that is over that size is offered to the wire for ever, as Soft-RoCE does when
  /// its own network refuses it: nothing behind it on its queue pair leaves until that is put into
  /// error, and who releases it before waits for ever (here: a failed check).
  void repeat_what_the_wire_refuses();
  /// Datagrams to this device are lost, those of it are not.
  void deafen(std::uint32_t device);
  /// Nothing arrives at this device or leaves it; its port reports the error or that it is back.
  void take_down(std::uint32_t device);
  void bring_up(std::uint32_t device);
  /// The device reports that it is beyond repair.
  void break_device(std::uint32_t device);
  /// The next message that is written arrives with a byte changed.
  void damage_next_write();
  /// The next completion that should make an event makes none.
  void lose_next_event();

  /// Objects that were made and not released.
  std::size_t objects() const;
  std::size_t calls(const std::string& verb) const;
  std::size_t queue_pairs_in(ibv_qp_state state) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::test
