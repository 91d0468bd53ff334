#include <gtest/gtest.h>

#include <array>

#include "core/replay/memory_transport.hpp"
#include "core/replay/replayer.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::replay {
namespace {

using profile::OpKind;
using test::op_of;

/// Ranks of a plan on a fabric, turned without anything that allocates.
struct Turning {
  explicit Turning(const plan::Plan& plan) {
    std::vector<plan::Connections> connections;
    std::map<plan::ConnectionKey, Address> addresses;
    for (std::uint32_t rank = 0; rank < plan.jobs[0].bindings.size(); ++rank) {
      connections.push_back(plan::connections_of(plan, HostIndex{rank}));
      transports.push_back(std::make_unique<MemoryTransport>(fabric));
      replayers.emplace_back(plan, JobIndex{0}, Rank{rank}, connections.back());
      for (const auto& spec : connections.back().incoming)
        addresses[spec.key] = *transports.back()->open(spec);
    }
    for (std::size_t rank = 0; rank < transports.size(); ++rank)
      for (const auto& spec : connections[rank].outgoing)
        EXPECT_TRUE(transports[rank]->connect(spec, addresses[spec.key]));
  }

  /// Runs one iteration; false: nothing moves any more.
  bool iteration(std::uint32_t index) {
    for (Replayer& replayer : replayers) replayer.start(index, 0, now, now);
    while (true) {
      bool idle = true;
      Instant deadline = kNever;
      for (std::size_t rank = 0; rank < replayers.size(); ++rank) {
        const std::size_t count = transports[rank]->poll(completions, now);
        replayers[rank].on({completions.data(), count}, now);
        replayers[rank].advance(now);
        replayers[rank].accepted(transports[rank]->post(replayers[rank].requests(), now));
        idle = idle && replayers[rank].idle();
        deadline = std::min(
            {deadline, transports[rank]->wakeup().deadline, replayers[rank].next_deadline()});
      }
      if (idle) break;
      if (deadline == kNever) return false;
      now = std::max(now, deadline);
    }
    for (Replayer& replayer : replayers) replayer.clear_records();
    return true;
  }

  MemoryFabric fabric{{.latency = std::chrono::microseconds{3}, .rate = BitRate{1'000'000'000}}};
  std::vector<std::unique_ptr<MemoryTransport>> transports;
  std::vector<Replayer> replayers;
  std::array<Completion, 32> completions;
  Instant now{std::chrono::seconds{1}};
};

TEST(Allocation, TheCounterCounts) {
  const auto before = test::allocations();
  const auto number = std::make_unique<int>(1);
  EXPECT_EQ(test::allocations(), before + static_cast<std::uint64_t>(*number));
}

TEST(Allocation, TheDataPathDoesNotAllocate) {
  auto profile = test::profile_of(
      5, {test::compute_of(std::chrono::microseconds{5}), op_of(OpKind::all_reduce, 5001),
          op_of(OpKind::all_gather, 3001), op_of(OpKind::reduce_scatter, 3001),
          op_of(OpKind::all_to_all, 4000), op_of(OpKind::broadcast, 900, 2),
          op_of(OpKind::reduce, 900, 3), op_of(OpKind::gather, 1000, 1),
          op_of(OpKind::scatter, 1000, 4), op_of(OpKind::barrier, 0)});
  profile.classes[0].ops[1].stream = 1;
  profile.classes[0].ops[4].stream = 2;
  const plan::Plan plan = test::plan_of(profile, 1, test::small_settings());
  Turning world{plan};
  const auto before = test::allocations();
  bool moved = true;
  for (std::uint32_t i = 0; i < 10; ++i) moved = moved && world.iteration(i);
  const auto after = test::allocations();
  EXPECT_TRUE(moved);
  EXPECT_EQ(after, before);
  EXPECT_EQ(world.replayers[0].ops_done(), 90U);
}

}  // namespace
}  // namespace rehearsal::replay
