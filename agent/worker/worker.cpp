#include "agent/worker.hpp"

#include <thread>

#include "agent/worker/worker_thread.hpp"
#include "core/base/check.hpp"

namespace rehearsal::agent {

struct Worker::State {
  State(WorkerOptions options, Waiter waiter) : body(std::move(options), std::move(waiter)) {}

  WorkerThread body;
  std::thread thread;
};

Result<std::unique_ptr<Worker>> Worker::start(WorkerOptions options) {
  CHECK(options.plan != nullptr, "a worker has a plan");
  CHECK(options.host.value < options.plan->hosts.size(), "a worker's host is in the plan");
  ASSIGN_OR_RETURN(Waiter waiter, Waiter::create());
  std::unique_ptr<Worker> worker(new Worker());
  worker->state_ = std::make_unique<State>(std::move(options), std::move(waiter));
  State& state = *worker->state_;
  state.thread = std::thread([&state] { state.body.run(); });
  return worker;
}

Worker::~Worker() {
  state_->body.quit();
  state_->thread.join();
}

void Worker::connect(std::vector<coordination::KeyedAddress> addresses) {
  state_->body.command(ConnectCommand{std::move(addresses)});
}

void Worker::start_step(std::uint32_t iteration, std::uint32_t phase, Instant instant) {
  state_->body.command(StartCommand{iteration, phase, instant});
}

void Worker::stop() { state_->body.command(StopCommand{}); }

void Worker::finish() { state_->body.command(FinishCommand{}); }

std::vector<WorkerEvent> Worker::take_events() { return state_->body.take_events(); }

WorkerCounters Worker::counters() const { return state_->body.counters(); }

}  // namespace rehearsal::agent
