#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/verbs/fake_verbs.hpp"

// What FakeVerbs is made of; only for its own files: fake_verbs.cpp has the verbs and the test's
// side of it, fake_wire.cpp how what was posted gets to the other end.
namespace rehearsal::test {
namespace fake {

inline constexpr std::uint32_t kDatagramHeader = 40;
inline constexpr std::uint32_t kFirstLid = 100;

struct Device : ibv_device {
  std::uint32_t number = 0;
  bool down = false;
  bool deaf = false;
  bool infiniband = false;
  bool needs_grh = false;
  std::optional<std::uint32_t> ece;
  std::uint32_t rate_min = 0;
  std::uint32_t rate_max = 0;
};
struct Context : ibv_context {
  std::deque<ibv_async_event> events;
};
struct Channel : ibv_comp_channel {
  std::deque<ibv_cq*> ready;
};
struct Queue : ibv_cq {
  std::deque<ibv_wc> entries;
  bool notify = false;
};
struct Receive {
  std::uint64_t id = 0;
  std::optional<ibv_sge> place;
};
struct Handle : ibv_ah {
  ibv_ah_attr route{};
};
struct Pair : ibv_qp {
  ibv_qp_cap limits{};
  std::deque<Receive> receives;
  std::uint32_t peer = 0;
  ibv_ah_attr route{};
  ibv_qp_attr set{};                 // of what the steps to ready to send were given
  std::optional<std::uint32_t> ece;  // in use
  std::uint32_t rate_limit = 0;
  std::uint32_t sends_pending = 0;  // not completed, or completed without a completion
  bool stuck = false;
  std::vector<std::uint64_t> stuck_sends;  // wr_id
};
struct Send {
  Pair* pair = nullptr;
  ibv_send_wr request{};
  std::optional<ibv_sge> place;
  std::vector<std::byte> inlined;
};

void raise(int descriptor);
bool take_one(int descriptor);
void must(bool condition, const char* what);

}  // namespace fake

struct FakeVerbs::State {
  using Device = fake::Device;
  using Pair = fake::Pair;
  using Send = fake::Send;

  struct Fault {
    int error = 0;
    int skip = 0;
  };

  TemporaryFolder folder;
  rdma::VerbsApi api;
  std::vector<std::unique_ptr<Device>> devices;
  std::map<std::string, Fault> faults;
  std::map<std::string, std::size_t> calls;
  std::size_t objects = 0;
  std::set<fake::Context*> contexts;
  std::map<std::uint32_t, Pair*> pairs;
  std::map<std::uint32_t, ibv_mr*> regions;  // by key
  std::uint32_t next_number = 17;
  std::uint32_t next_key = 1;
  std::deque<Send> held;
  bool holding = false;
  std::uint32_t wire_bytes = ~0U;
  bool repeats_refused = false;
  std::optional<ibv_wc_status> next_status;
  bool damage = false;
  bool lose_event = false;

  void fill_table();
  /// Counts a call; true if it has to fail, with errno set.
  bool fails(const char* verb);
  Device& device_of(const Pair& pair) { return *static_cast<Device*>(pair.context->device); }
  Device* device_at(const ibv_ah_attr& route);

  void push(ibv_cq* queue, const ibv_wc& entry);
  void flush(Pair& pair);
  void perform(Send& send);
  void perform_datagram(Send& send);
  ibv_wc_status deliver(Send& send, Pair& peer);
  void finish(Send& send, ibv_wc_status status);
  std::size_t bytes(const Send& send) const { return send.place ? send.place->length : 0; }
  const std::byte* data(const Send& send) const {
    return send.inlined.empty() ? reinterpret_cast<const std::byte*>(send.place->addr)
                                : send.inlined.data();
  }
  void report(std::uint32_t device, ibv_event_type type);
};

}  // namespace rehearsal::test
