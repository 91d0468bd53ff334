// The data path after set-up: no allocation, no lock. Two agents' duty cycles over real sockets,
// both turned by this thread, with operator new counted and pthread_mutex_lock interposed.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "agent/worker/duty_cycle.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/loopback_plan.hpp"

namespace {

thread_local std::uint64_t locks_taken = 0;

}  // namespace

#if !defined(__SANITIZE_THREAD__)  // which interposes it, too
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock real = reinterpret_cast<Lock>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks_taken;
  return real(mutex);
}
#endif

namespace rehearsal::agent {
namespace {

class HotPathTest : public testing::TestWithParam<plan::ReceiveMode> {
 protected:
  static Instant now() { return std::chrono::steady_clock::now(); }

  void connect(const std::shared_ptr<const plan::Plan>& plan) {
    std::vector<std::vector<coordination::KeyedAddress>> opened;
    for (std::uint32_t host = 0; host < plan->hosts.size(); ++host) {
      cycles.push_back(std::move(DutyCycle::create(plan, HostIndex{host}, "token").value()));
      opened.push_back(cycles.back()->open().value());
    }
    for (std::size_t i = 0; i < cycles.size(); ++i)
      for (std::size_t j = 0; j < opened.size(); ++j)
        if (i != j) {
          ASSERT_TRUE(cycles[i]->connect(opened[j]).has_value());
        }
    ASSERT_TRUE(turn_until([](const DutyCycle& cycle) { return cycle.connected(); }));
  }

  template <typename Done>
  bool turn_until(Done&& done) {
    const Instant limit = now() + std::chrono::seconds{20};
    while (now() < limit) {
      bool all = true;
      for (auto& cycle : cycles) {
        cycle->turn(now());
        all = all && done(*cycle);
      }
      if (all) return true;
    }
    return false;
  }

  std::vector<std::unique_ptr<DutyCycle>> cycles;
};

TEST_P(HotPathTest, NeitherAllocatesNorLocks) {
  connect(test::LoopbackPlan{
      .ranks = 4,
      .hosts = 2,
      .iterations = 50,
      .mode = plan::SyncMode::free,
      .receive = GetParam(),
      .compute = std::chrono::microseconds{
          50}}.make());
  for (auto& cycle : cycles) cycle->start_step(0, 0, now());

  const auto allocations_before = test::allocations();
  const auto locks_before = locks_taken;
  const bool finished = turn_until([](const DutyCycle& cycle) { return cycle.finished(); });
  const auto allocations = test::allocations() - allocations_before;
  const auto locks = locks_taken - locks_before;

  ASSERT_TRUE(finished);
  EXPECT_EQ(allocations, 0U);
  EXPECT_EQ(locks, 0U);
  EXPECT_GT(cycles[0]->counters().messages_sent, 0U);
}

INSTANTIATE_TEST_SUITE_P(ReceiveModes, HotPathTest,
                         testing::Values(plan::ReceiveMode::copy, plan::ReceiveMode::discard),
                         [](const auto& mode) { return std::string(to_string(mode.param)); });

TEST(HotPathCountersTest, TheCountersCount) {
  const auto allocations_before = test::allocations();
  const auto memory = std::make_unique<std::array<char, 64>>();
  EXPECT_GT(test::allocations(), allocations_before) << memory->size();
#if !defined(__SANITIZE_THREAD__)
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const auto locks_before = locks_taken;
  ::pthread_mutex_lock(&mutex);
  ::pthread_mutex_unlock(&mutex);
  EXPECT_GT(locks_taken, locks_before);
#endif
}

}  // namespace
}  // namespace rehearsal::agent
