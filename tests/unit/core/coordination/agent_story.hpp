#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "core/coordination/agent_session.hpp"
#include "core/coordination/messages.hpp"
#include "core/plan/plan_codec.hpp"
#include "core/protocol/codec.hpp"
#include "core/protocol/parts.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::coordination {

using namespace std::chrono_literals;
using protocol::Envelope;

/// An agent on host0 of two; coordinator and worker are played by hand.
class AgentStory {
 public:
  explicit AgentStory(AgentOptions options = with_host()) : session(std::move(options)) {}

  static AgentOptions with_host() {
    AgentOptions options;
    options.inventory = test::sample_inventories(1).front();
    return options;
  }

  void happen(const AgentEvent& event) {
    for (AgentAction& action : session.on(event, now)) {
      if (auto* send = std::get_if<SendToCoordinator>(&action)) {
        told.push_back(std::move(send->message));
      } else if (auto* reconnect = std::get_if<Reconnect>(&action)) {
        reconnects.push_back(reconnect->at - now);
      } else if (const auto* close = std::get_if<CloseLink>(&action)) {
        closed = close->reason;
      } else if (auto* ask = std::get_if<AskHelper>(&action)) {
        asks.push_back(std::move(*ask));
      } else if (const auto* drop = std::get_if<DropHelper>(&action)) {
        dropped = drop->reason;
      } else if (!std::holds_alternative<Log>(action)) {
        if (auto* open = std::get_if<OpenWorker>(&action)) opened = *open;
        if (auto* start = std::get_if<StartWorker>(&action)) started = *start;
        work.push_back(name(action));
      }
    }
  }
  static std::string name(const AgentAction& action) {
    if (std::holds_alternative<OpenWorker>(action)) return "open";
    if (std::holds_alternative<ConnectWorker>(action)) return "connect";
    if (std::holds_alternative<StartWorker>(action)) return "start";
    if (std::holds_alternative<StopWorker>(action)) return "stop";
    if (std::holds_alternative<FinishWorker>(action)) return "finish";
    return "release";
  }

  void hear(Envelope message) { happen(LinkMessage{std::move(message)}); }
  void pass(Duration duration) {
    const Instant end = now + duration;
    while (session.next_deadline() <= end) {
      now = std::max(now, session.next_deadline());
      happen(Tick{});
    }
    now = end;
  }

  void join(std::uint64_t epoch = 1) {
    happen(LinkUp{});
    Envelope welcome;
    welcome.mutable_welcome()->set_version(1);
    welcome.mutable_welcome()->set_epoch(epoch);
    welcome.mutable_welcome()->set_heartbeat_interval_ns(500'000'000);
    welcome.mutable_welcome()->set_silence_limit_ns(3'000'000'000);
    hear(welcome);
  }
  /// Answers the last clock probe, by a clock that is ahead by `offset`.
  void answer_probe(Duration offset = Duration::zero()) {
    for (auto message = told.rbegin(); message != told.rend(); ++message) {
      if (!message->has_clock_probe()) continue;
      Envelope reply;
      reply.mutable_clock_reply()->set_id(message->clock_probe().id());
      const Instant sent = instant_of(message->clock_probe().agent_sent_ns());
      reply.mutable_clock_reply()->set_coordinator_received_ns(nanoseconds(sent + offset + 50us));
      reply.mutable_clock_reply()->set_coordinator_sent_ns(nanoseconds(sent + offset + 50us));
      now = sent + 100us;
      return hear(reply);
    }
    FAIL() << "no probe was sent";
  }
  void reserve(const std::string& run, std::uint64_t epoch = 1) {
    Envelope message;
    message.mutable_reserve()->set_run(run);
    message.mutable_reserve()->set_epoch(epoch);
    hear(message);
  }
  void prepare(const std::string& run, const plan::Plan& sent, const std::string& hash) {
    const std::string encoded = plan::encode(sent);
    Envelope message;
    message.mutable_prepare()->set_run(run);
    message.mutable_prepare()->set_token("token");
    message.mutable_prepare()->set_host(0);
    message.mutable_prepare()->set_plan_hash(hash);
    message.mutable_prepare()->set_size(encoded.size());
    message.mutable_prepare()->set_part(encoded);
    hear(message);
  }
  void connect(const std::string& run) {
    Envelope message;
    message.mutable_connect()->set_run(run);
    message.mutable_connect()->add_addresses()->set_address("door");
    message.mutable_connect()->set_last(true);
    hear(message);
  }
  void start_at(const std::string& run, std::uint32_t iteration, Instant instant) {
    Envelope message;
    message.mutable_start_at()->set_run(run);
    message.mutable_start_at()->set_iteration(iteration);
    message.mutable_start_at()->set_instant_ns(nanoseconds(instant));
    hear(message);
  }
  template <typename Mutable>
  void command(const std::string& run, Mutable message_of) {
    Envelope message;
    message_of(message)->set_run(run);
    hear(message);
  }
  void finish(const std::string& run) {
    command(run, [](Envelope& e) { return e.mutable_finish(); });
  }
  void stop(const std::string& run) {
    command(run, [](Envelope& e) { return e.mutable_stop(); });
  }
  void release(const std::string& run) {
    command(run, [](Envelope& e) { return e.mutable_release(); });
  }
  void get_connected(const std::string& run) {
    join();
    answer_probe();
    reserve(run);
    prepare(run, plan, plan::plan_hash(plan));
    happen(WorkerOpened{{{.key = {}, .address = "mine"}}});
    connect(run);
    happen(WorkerConnected{});
    forget();
  }
  void get_running(const std::string& run) {
    get_connected(run);
    start_at(run, 0, now + 5ms);
    now += 6ms;
    forget();
  }

  std::vector<std::string> told_names() {
    std::vector<std::string> names;
    for (const Envelope& message : std::exchange(told, {})) {
      if (message.has_heartbeat() || message.has_clock_probe()) continue;
      if (message.has_host_faults()) continue;
      names.emplace_back(protocol::message_name(message.message_case()));
    }
    return names;
  }
  std::vector<std::string> worked() { return std::exchange(work, {}); }
  void forget() {
    told.clear();
    work.clear();
  }

  plan::Plan plan = test::sample_plan(4, 2);
  Instant now{1000s};
  AgentSession session;
  std::vector<Envelope> told;
  std::vector<std::string> work;
  std::vector<Duration> reconnects;
  std::vector<AskHelper> asks;  ///< of the helper
  std::string dropped;          ///< why the helper was let go of
  std::string closed;
  OpenWorker opened;
  StartWorker started;
};

}  // namespace rehearsal::coordination
