#include "agent/worker.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "core/measure/agent_measurements.hpp"
#include "tests/support/loopback_plan.hpp"

namespace rehearsal::agent {
namespace {

using namespace std::chrono_literals;
using coordination::WorkerConnected;
using coordination::WorkerFailed;
using coordination::WorkerOpened;
using coordination::WorkerProgress;
using coordination::WorkerStepDone;
using coordination::WorkerStopped;

/// What the control thread has: workers of several agents, and a bell that they ring.
class Agents {
 public:
  explicit Agents(std::shared_ptr<const plan::Plan> plan) : plan_(std::move(plan)) {
    for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host) start(host);
  }

  void start(std::uint32_t host) {
    workers.resize(std::max<std::size_t>(workers.size(), host + 1));
    events.resize(workers.size());
    WorkerOptions options{
        .plan = plan_, .host = HostIndex{host}, .run = "run-1", .token = "token", .notify = [this] {
          const std::lock_guard lock(mutex_);
          rung_ = true;
          bell_.notify_one();
        }};
    workers[host] = std::move(Worker::start(std::move(options)).value());
  }

  /// Waits until `done` holds, looking at events as they come; false after 20 s.
  template <typename Done>
  bool until(Done&& done) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (!bell_.wait_until(lock, std::min(limit, std::chrono::steady_clock::now() + 50ms),
                              [&] { return rung_; }) &&
            std::chrono::steady_clock::now() >= limit)
          return false;
        rung_ = false;
      }
      for (std::size_t i = 0; i < workers.size(); ++i)
        if (workers[i] != nullptr)
          for (WorkerEvent& event : workers[i]->take_events())
            events[i].push_back(std::move(event));
      if (done()) return true;
    }
  }

  template <typename Event>
  std::size_t count(std::size_t agent) const {
    return static_cast<std::size_t>(
        std::count_if(events[agent].begin(), events[agent].end(),
                      [](const auto& e) { return std::holds_alternative<Event>(e); }));
  }
  template <typename Event>
  const Event* last(std::size_t agent) const {
    const Event* found = nullptr;
    for (const WorkerEvent& event : events[agent])
      if (const auto* one = std::get_if<Event>(&event)) found = one;
    return found;
  }
  /// All have at least `count` of this event.
  template <typename Event>
  bool all(std::size_t at_least) const {
    for (std::size_t i = 0; i < workers.size(); ++i)
      if (count<Event>(i) < at_least) return false;
    return true;
  }

  bool connect() {
    if (!until([&] { return all<WorkerOpened>(1); })) return false;
    for (std::size_t to = 0; to < workers.size(); ++to) {
      std::vector<coordination::KeyedAddress> addresses;
      for (std::size_t from = 0; from < workers.size(); ++from)
        for (const auto& address : last<WorkerOpened>(from)->addresses)
          if (from != to) addresses.push_back(address);
      workers[to]->connect(std::move(addresses));
    }
    return until([&] { return all<WorkerConnected>(1); });
  }
  void start_step(std::uint32_t iteration, std::uint32_t phase = 0) {
    const Instant at = std::chrono::steady_clock::now() + 2ms;
    for (auto& worker : workers)
      if (worker != nullptr) worker->start_step(iteration, phase, at);
  }
  measure::AgentMeasurements results(std::size_t agent) const {
    return measure::decode_agent_measurements(last<WorkerStopped>(agent)->results).value();
  }

  const plan::Plan& plan() const { return *plan_; }

 private:
  std::shared_ptr<const plan::Plan> plan_;
  std::mutex mutex_;  // protects rung_
  std::condition_variable bell_;
  bool rung_ = false;

 public:
  std::vector<std::vector<WorkerEvent>> events;
  std::vector<std::unique_ptr<Worker>> workers;  // last: they end before the bell that they ring
};

void expect_all_done(const Agents& agents, std::uint32_t iterations) {
  const plan::Load load = plan::expand_load(agents.plan());
  Bytes sent;
  Bytes received;
  Bytes local;
  Bytes binned;
  std::uint32_t iterations_seen = 0;
  for (std::size_t i = 0; i < agents.workers.size(); ++i) {
    const auto results = agents.results(i);
    sent += results.jobs.at(0).sent;
    received += results.jobs.at(0).received;
    local += results.jobs.at(0).local;
    binned += results.nics.at(0).sent;
    iterations_seen += static_cast<std::uint32_t>(results.results.iterations.size());
    EXPECT_EQ(results.nics.at(0).received, results.jobs.at(0).received);
    EXPECT_GT(results.transport.system_calls, 0U);
    EXPECT_EQ(results.transport.byte_source, "posted");
    EXPECT_FALSE(results.transport.congestion_control.empty());
  }
  EXPECT_EQ(sent, load.jobs[0].on_wire * iterations);
  EXPECT_EQ(received, load.jobs[0].on_wire * iterations);
  EXPECT_EQ(local, load.jobs[0].local * iterations);
  EXPECT_EQ(binned, load.jobs[0].on_wire * iterations);
  EXPECT_EQ(iterations_seen, iterations * agents.workers.size());
}

TEST(WorkerTest, IterationsByAppointment) {
  Agents agents(test::LoopbackPlan{.ranks = 4, .hosts = 2, .iterations = 3}.make());
  ASSERT_TRUE(agents.connect());
  for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
    agents.start_step(iteration);
    ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStepDone>(iteration + 1); }));
    EXPECT_EQ(agents.last<WorkerStepDone>(0)->iteration, iteration);
  }
  for (auto& worker : agents.workers) worker->finish();
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStopped>(1); }));
  expect_all_done(agents, 3);
  EXPECT_EQ(agents.count<WorkerFailed>(0), 0U);
}

TEST(WorkerTest, TrafficOfAFaultPassesBesideTheJobAndIsCountedApart) {
  const fault::Fault jam{.name = "jam",
                         .what = {.kind = fault::Kind::incast,
                                  .levels = {{.traffic = BitRate{400'000'000}}},
                                  .message = Bytes{32U << 10},
                                  .credits = 4},
                         .where = {.hosts = {"host0"}},
                         .when = {.iteration = 1, .length = 1h}};
  Agents agents(
      test::LoopbackPlan{.ranks = 4, .hosts = 3, .iterations = 4, .faults = {jam}}.make());
  ASSERT_TRUE(agents.connect());
  for (std::uint32_t iteration = 0; iteration < 4; ++iteration) {
    agents.start_step(iteration);
    ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStepDone>(iteration + 1); }));
  }
  for (auto& worker : agents.workers) worker->finish();
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStopped>(1); }));
  expect_all_done(agents, 4);
  const auto here = agents.results(0);
  ASSERT_EQ(here.faults.background.size(), 1U);
  EXPECT_TRUE(here.faults.spells.empty()) << "who receives does not know when it is on";
  EXPECT_GE(here.nics.at(0).background_received, here.faults.background[0].received);
  EXPECT_EQ(here.nics.at(0).background_sent, Bytes{});
  Bytes sent;
  for (const std::size_t source : {1U, 2U}) {
    const auto there = agents.results(source);
    EXPECT_GT(there.faults.background.at(0).messages_sent, 0U);
    EXPECT_EQ(there.faults.spells.size(), 1U);
    EXPECT_EQ(there.nics.at(0).sent_series.total(),
              (there.nics.at(0).sent + there.nics.at(0).background_sent).count());
    sent += there.faults.background[0].sent;
    EXPECT_EQ(agents.workers[source]->counters().background_bytes_sent,
              there.faults.background[0].sent.count());
  }
  EXPECT_GT(here.faults.background[0].received, Bytes{});
  EXPECT_LE(here.faults.background[0].received, sent + Bytes{32U << 10} * 8);
}

TEST(WorkerTest, PhasesByAppointmentOnFourAgents) {
  Agents agents(
      test::LoopbackPlan{.ranks = 8, .hosts = 4, .iterations = 2, .mode = plan::SyncMode::phase}
          .make());
  ASSERT_TRUE(agents.connect());
  std::size_t steps = 0;
  for (std::uint32_t iteration = 0; iteration < 2; ++iteration) {
    for (std::uint32_t phase = 0; phase < 2; ++phase) {
      agents.start_step(iteration, phase);
      ++steps;
      ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStepDone>(steps); }));
      EXPECT_EQ(agents.last<WorkerStepDone>(3)->phase, phase);
    }
  }
  for (auto& worker : agents.workers) worker->finish();
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStopped>(1); }));
  expect_all_done(agents, 2);
}

TEST(WorkerTest, FreeRunningNeedsOneStart) {
  Agents agents(test::LoopbackPlan{.ranks = 3,
                                   .hosts = 3,
                                   .iterations = 20,
                                   .mode = plan::SyncMode::free,
                                   .receive = plan::ReceiveMode::discard}
                    .make());
  ASSERT_TRUE(agents.connect());
  agents.start_step(0);
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStepDone>(1); }));
  EXPECT_EQ(agents.workers[0]->counters().iterations_done, 20U);
  EXPECT_EQ(agents.last<WorkerStepDone>(0)->iteration, 19U) << "the coordinator waits for the last";
  for (auto& worker : agents.workers) worker->finish();
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStopped>(1); }));
  expect_all_done(agents, 20);
  EXPECT_EQ(agents.results(0).transport.receive, "discard");
  EXPECT_GT(agents.results(0).transport.discarded, Bytes{0});
}

TEST(WorkerTest, RanksOfOneAgentNeedNoTransport) {
  Agents agents(test::LoopbackPlan{.ranks = 4, .hosts = 1, .iterations = 1}.make());
  ASSERT_TRUE(agents.connect());
  agents.start_step(0);
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStepDone>(1); }));
  agents.workers[0]->finish();
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStopped>(1); }));
  EXPECT_EQ(agents.results(0).jobs.at(0).sent, Bytes{0});
  EXPECT_EQ(agents.results(0).jobs.at(0).local, plan::expand_load(agents.plan()).jobs[0].local);
}

TEST(WorkerTest, StopFallsSilentAtOnceAndKeepsWhatWasMeasured) {
  Agents agents(
      test::LoopbackPlan{.ranks = 2, .hosts = 2, .iterations = 20'000, .mode = plan::SyncMode::free}
          .make());
  ASSERT_TRUE(agents.connect());
  agents.start_step(0);
  ASSERT_TRUE(agents.until([&] { return agents.workers[0]->counters().bytes_sent > 1'000'000; }));
  for (auto& worker : agents.workers) worker->stop();
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStopped>(1); }));
  const auto sent = agents.workers[0]->counters().bytes_sent;
  EXPECT_GT(agents.results(0).jobs.at(0).sent, Bytes{0});
  EXPECT_EQ(agents.results(0).jobs.at(0).sent.count(), sent);
}

TEST(WorkerTest, AnAgentThatGoesAwayIsNamed) {
  Agents agents(
      test::LoopbackPlan{.ranks = 3, .hosts = 3, .iterations = 20'000, .mode = plan::SyncMode::free}
          .make());
  ASSERT_TRUE(agents.connect());
  agents.start_step(0);
  ASSERT_TRUE(agents.until([&] { return agents.workers[1]->counters().bytes_sent > 1'000'000; }));
  agents.workers[1].reset();
  ASSERT_TRUE(agents.until(
      [&] { return agents.count<WorkerFailed>(0) > 0 && agents.count<WorkerFailed>(2) > 0; }));
  EXPECT_THAT(agents.last<WorkerFailed>(0)->waiting_for, testing::ElementsAre(HostIndex{1}));
  EXPECT_THAT(agents.last<WorkerFailed>(2)->waiting_for, testing::ElementsAre(HostIndex{1}));
  EXPECT_THAT(agents.last<WorkerFailed>(0)->reason, testing::HasSubstr("host1"));
}

TEST(WorkerTest, APeerThatDoesNotStartIsNamedAndTimedOut) {
  plan::Limits limits;
  limits.progress = 300ms;
  Agents agents(
      test::LoopbackPlan{.ranks = 2, .hosts = 2, .iterations = 1, .limits = limits}.make());
  ASSERT_TRUE(agents.connect());
  agents.workers[0]->start_step(0, 0, std::chrono::steady_clock::now());
  ASSERT_TRUE(agents.until([&] { return agents.count<WorkerFailed>(0) > 0; }));
  EXPECT_THAT(agents.last<WorkerFailed>(0)->waiting_for, testing::ElementsAre(HostIndex{1}));
  EXPECT_EQ(agents.count<WorkerFailed>(1), 0U);
  const auto* progress = agents.last<WorkerProgress>(0);
  ASSERT_NE(progress, nullptr);
}

TEST(WorkerTest, AnAddressNobodyListensOnFails) {
  Agents agents(test::LoopbackPlan{.ranks = 2, .hosts = 2}.make());
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerOpened>(1); }));
  const auto addresses = agents.last<WorkerOpened>(1)->addresses;
  agents.workers[1].reset();
  agents.workers[0]->connect(addresses);
  ASSERT_TRUE(agents.until([&] { return agents.count<WorkerFailed>(0) > 0; }));
  EXPECT_THAT(agents.last<WorkerFailed>(0)->reason, testing::HasSubstr("refused"));
  agents.workers[0]->stop();
  ASSERT_TRUE(agents.until([&] { return agents.count<WorkerStopped>(0) > 0; }));
}

TEST(WorkerTest, ADeviceThatDoesNotDoItsFaultEndsTheRun) {
  const fault::Fault half{.name = "half",
                          .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
                          .where = {.hosts = {"host1"}, .side = fault::Side::sent},
                          .when = {.iteration = 1, .length = 1h}};
  const auto planned =
      test::LoopbackPlan{.ranks = 2, .hosts = 2, .iterations = 3, .faults = {half}}.make();
  plan::Plan plan = *planned;
  // No plan is made so: sockets have no device that could.
  plan.faults[0].mechanism = fault::Mechanism::device;
  Agents agents(std::make_shared<const plan::Plan>(std::move(plan)));
  ASSERT_TRUE(agents.connect());
  agents.start_step(0);
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStepDone>(1); }));
  EXPECT_EQ(agents.count<WorkerFailed>(1), 0U) << "the fault has not begun";
  agents.start_step(1);
  ASSERT_TRUE(agents.until([&] { return agents.count<WorkerFailed>(1) > 0; }));
  EXPECT_THAT(agents.last<WorkerFailed>(1)->reason,
              testing::HasSubstr("fault 'half': this transport limits no rates"));
  EXPECT_THAT(agents.last<WorkerFailed>(1)->waiting_for, testing::IsEmpty());
  for (auto& worker : agents.workers) worker->stop();
  ASSERT_TRUE(agents.until([&] { return agents.all<WorkerStopped>(1); }));
  const auto results = agents.results(1);
  ASSERT_FALSE(results.faults.problems.empty());
  EXPECT_EQ(results.faults.problems[0].text, "this transport limits no rates of its own");
}

TEST(WorkerTest, CanBeDestroyedInAnyState) {
  const auto plan = test::LoopbackPlan{.ranks = 2, .hosts = 2}.make();
  { Agents agents(plan); }
  {
    Agents agents(plan);
    EXPECT_TRUE(agents.connect());
  }
  {
    Agents agents(plan);
    EXPECT_TRUE(agents.connect());
    agents.start_step(0);
  }
}

}  // namespace
}  // namespace rehearsal::agent
