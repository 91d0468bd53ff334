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

  /// Objects that were made and not released.
  std::size_t objects() const;
  std::size_t calls(const std::string& verb) const;
  std::size_t queue_pairs_in(ibv_qp_state state) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::test
