#include "agent/control/agent_loop.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <thread>

#include "core/measure/agent_measurements.hpp"
#include "runtime/clock.hpp"
#include "tests/support/frame_peer.hpp"
#include "tests/support/loop.hpp"

namespace rehearsal::agent {
namespace {

using coordination::AgentAction;
using coordination::AgentEvent;
using rehearsal::test::FramePeer;
using rehearsal::test::run_until;
using testing::ElementsAre;
using testing::HasSubstr;

protocol::Envelope heartbeat() {
  protocol::Envelope envelope;
  envelope.mutable_heartbeat();
  return envelope;
}

/// A session that writes down what happens and does what the test has laid ready.
struct FakeSession {
  std::vector<AgentEvent> events;
  std::deque<std::vector<AgentAction>> answers;  ///< one an event, in order; none left: nothing
  Instant deadline = kNever;

  SessionPort port() {
    return {.on = [this](const AgentEvent& event, Instant) -> std::vector<AgentAction> {
              events.push_back(event);
              if (std::holds_alternative<coordination::Tick>(event)) deadline = kNever;
              if (answers.empty()) return {};
              auto actions = std::move(answers.front());
              answers.pop_front();
              return actions;
            },
            .next_deadline = [this] { return deadline; }};
  }
};

/// What a run's worker was told, and what it is to say next.
struct WorkerScript {
  std::vector<std::string> told;
  std::vector<WorkerEvent> events;
  std::function<void()> notify;
  WorkerCounters counters;
  bool refuses = false;
};

class FakeWorker final : public WorkerPort {
 public:
  explicit FakeWorker(WorkerScript& script) : script_(script) {}
  ~FakeWorker() override { script_.told.emplace_back("released"); }

  void connect(std::vector<coordination::KeyedAddress> addresses) override {
    script_.told.push_back("connect " + std::to_string(addresses.size()));
  }
  void start_step(std::uint32_t iteration, std::uint32_t phase, Instant) override {
    script_.told.push_back("start " + std::to_string(iteration) + "." + std::to_string(phase));
  }
  void stop() override { script_.told.emplace_back("stop"); }
  void finish() override { script_.told.emplace_back("finish"); }
  std::vector<WorkerEvent> take_events() override { return std::exchange(script_.events, {}); }
  WorkerCounters counters() const override { return script_.counters; }

 private:
  WorkerScript& script_;
};

class AgentLoopTest : public testing::Test {
 protected:
  AgentLoopTest()
      : door_(context_, asio::ip::tcp::endpoint{asio::ip::make_address("127.0.0.1"), 0}) {}

  void start(std::function<NicCounts()> read_counters = nullptr) {
    auto loop = AgentLoop::create(
        context_,
        {.link = {.coordinator = {"127.0.0.1", door_.local_endpoint().port()}},
         .session = session_.port(),
         .start_worker = [this](WorkerOptions options) -> Result<std::unique_ptr<WorkerPort>> {
           if (worker_.refuses) {
             return fail(ErrorCode::refused, ErrorSource::host, "no memory for buffers");
           }
           worker_.told.push_back("open " + options.run);
           worker_.notify = std::move(options.notify);
           return std::make_unique<FakeWorker>(worker_);
         },
         .read_counters = std::move(read_counters)});
    ASSERT_TRUE(loop) << loop.error().text();
    loop_ = std::move(*loop);
    loop_->start();
  }

  void run_until_events(std::size_t count) {
    run_until(context_, [&] { return session_.events.size() >= count; });
  }

  /// From the worker's own thread, as in production.
  void worker_says(WorkerEvent event) {
    worker_.events.push_back(std::move(event));
    std::thread([this] { worker_.notify(); }).join();
  }

  asio::io_context context_;
  asio::ip::tcp::acceptor door_;
  FakeSession session_;
  WorkerScript worker_;
  std::unique_ptr<AgentLoop> loop_;
};

const coordination::OpenWorker kOpen{.plan = nullptr, .host = {}, .run = "run-1", .token = "t"};

TEST_F(AgentLoopTest, TheLinkIsMadeAtTheStartAndAgainWhenWanted) {
  session_.answers = {{coordination::SendToCoordinator{heartbeat()}},
                      {coordination::Reconnect{runtime::now()}}};
  start();
  run_until_events(1);
  EXPECT_TRUE(std::holds_alternative<coordination::LinkUp>(session_.events[0]));
  auto coordinator = std::make_unique<FramePeer>(door_.accept());
  run_until(context_, [&] { return coordinator->received().size() == 1; });
  coordinator->close();
  run_until_events(3);
  EXPECT_TRUE(std::holds_alternative<coordination::LinkDown>(session_.events[1]));
  EXPECT_TRUE(std::holds_alternative<coordination::LinkUp>(session_.events[2]));
  EXPECT_EQ(loop_->counters().links_lost, 1U);
}

TEST_F(AgentLoopTest, ARunGoesThroughItsWorker) {
  session_.answers = {{kOpen},
                      {coordination::ConnectWorker{{{}, {}}}},
                      {coordination::StartWorker{3, 1, runtime::now()}},
                      {coordination::FinishWorker{}},
                      {coordination::ReleaseWorker{}}};
  start();
  run_until_events(1);
  worker_says(coordination::WorkerOpened{});
  run_until_events(2);
  worker_says(coordination::WorkerConnected{});
  run_until_events(3);
  worker_says(coordination::WorkerStepDone{3, 1});
  run_until_events(4);
  worker_.counters.bytes_sent = 40;
  worker_says(coordination::WorkerStopped{"figures"});
  run_until_events(5);
  ASSERT_TRUE(std::holds_alternative<coordination::WorkerStopped>(session_.events[4]));
  EXPECT_EQ(std::get<coordination::WorkerStopped>(session_.events[4]).results, "figures");
  EXPECT_THAT(worker_.told,
              ElementsAre("open run-1", "connect 2", "start 3.1", "finish", "released"));
  EXPECT_EQ(loop_->counters().runs, 1U);
  EXPECT_EQ(loop_->counters().worker.bytes_sent, 40U) << "counts outlive their worker";
}

TEST_F(AgentLoopTest, AWorkerThatCannotStartIsAFailureOfTheRun) {
  worker_.refuses = true;
  session_.answers = {{kOpen, coordination::StopWorker{"nothing there"}}};
  start();
  run_until_events(2);
  const auto* failed = std::get_if<coordination::WorkerFailed>(&session_.events[1]);
  ASSERT_NE(failed, nullptr);
  EXPECT_THAT(failed->reason, HasSubstr("no memory for buffers"));
}

TEST_F(AgentLoopTest, AReleasedWorkerIsNotHeard) {
  session_.answers = {{kOpen}, {coordination::ReleaseWorker{}}};
  start();
  run_until_events(1);
  worker_.events.push_back(coordination::WorkerConnected{});
  worker_says(coordination::WorkerConnected{});
  run_until_events(2);
  worker_.notify();
  context_.restart();
  context_.poll();
  EXPECT_EQ(session_.events.size(), 2U) << "the second of the two came after the release";
}

TEST_F(AgentLoopTest, NicCountersOfTheRunGoIntoTheMeasurements) {
  session_.answers = {{kOpen},
                      {coordination::StartWorker{0, 0, runtime::now()}},
                      {coordination::StartWorker{1, 0, runtime::now()}}};
  std::uint64_t reading = 0;
  start([&]() -> NicCounts {
    ++reading;
    return {.nics = {NicCount{.sent = Bytes{1000 * reading}, .received = Bytes{50 * reading}}}};
  });
  run_until_events(1);
  worker_says(coordination::WorkerConnected{});
  run_until_events(2);
  worker_says(coordination::WorkerStepDone{0, 0});
  run_until_events(3);
  measure::AgentMeasurements measurements;
  measurements.nics.emplace_back();
  worker_says(coordination::WorkerStopped{measure::encode(measurements)});
  run_until_events(4);
  EXPECT_EQ(reading, 2U) << "at the first start and at the end";
  const auto decoded = measure::decode_agent_measurements(
      std::get<coordination::WorkerStopped>(session_.events[3]).results);
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->nics.at(0).counter_sent, Bytes{1000});
  EXPECT_EQ(decoded->nics.at(0).counter_received, Bytes{50});
}

TEST_F(AgentLoopTest, TimeIsTold) {
  session_.deadline = runtime::now() + std::chrono::milliseconds{5};
  start();
  run_until(context_, [&] {
    return !session_.events.empty() &&
           std::holds_alternative<coordination::Tick>(session_.events.back());
  });
}

TEST_F(AgentLoopTest, StoppingEndsTheWorkerAndTheLinkAtOnce) {
  session_.answers = {{kOpen}};
  start();
  run_until_events(1);
  FramePeer coordinator(door_.accept());
  loop_->stop("the agent stops");
  EXPECT_THAT(worker_.told, ElementsAre("open run-1", "released"));
  run_until(context_, [&] { return coordinator.ended(); });
  EXPECT_EQ(session_.events.size(), 1U);
}

}  // namespace
}  // namespace rehearsal::agent
