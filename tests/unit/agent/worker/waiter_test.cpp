#include "agent/worker/waiter.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <thread>

namespace rehearsal::agent {
namespace {

/// What bind_worker_thread() says, and how many cores its thread may use then.
std::pair<std::string, int> bound(const host::WorkerPlace& place) {
  std::pair<std::string, int> result;
  std::thread([&] {
    result.first = bind_worker_thread(place);
    cpu_set_t set{};
    ::sched_getaffinity(0, sizeof set, &set);
    result.second = CPU_COUNT(&set);
  }).join();
  return result;
}

TEST(WaiterTest, TheWorkersThreadIsBoundToItsCores) {
  cpu_set_t set{};
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::uint32_t core = 0;
  while (!CPU_ISSET(core, &set)) ++core;
  const auto [text, count] = bound({.cores = {core}, .why = "near eth2"});
  EXPECT_EQ(text, "worker on core " + std::to_string(core) + " (near eth2)");
  EXPECT_EQ(count, 1);
}

TEST(WaiterTest, WithoutAPlaceItStaysWhereItIs) {
  cpu_set_t set{};
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(bound({}), (std::pair<std::string, int>{"", CPU_COUNT(&set)}));
}

TEST(WaiterTest, CoresThatAreNotThereAreSaid) {
  EXPECT_THAT(bound({.cores = {host::kCoresMax - 1}, .why = "as configured"}).first,
              testing::StartsWith("worker not bound to core 4095 (as configured): "));
}

}  // namespace
}  // namespace rehearsal::agent
