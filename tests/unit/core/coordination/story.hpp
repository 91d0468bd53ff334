#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "core/coordination/coordinator.hpp"
#include "core/coordination/messages.hpp"
#include "core/profile/binary.hpp"
#include "core/protocol/codec.hpp"
#include "core/protocol/frame.hpp"
#include "core/protocol/parts.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::coordination {

using protocol::Envelope;

/// A coordinator and its peers, played by hand: what each peer is told is kept; time passes when
/// the story says so.
class Story {
 public:
  explicit Story(CoordinatorOptions options = {}) : coordinator(std::move(options)) {}

  SessionId connect() {
    const SessionId session{++sessions_};
    happen(SessionOpened{session, "10.0.0." + std::to_string(session.value) + ":4000"});
    return session;
  }
  SessionId join(const std::string& host) {
    const SessionId session = connect();
    Envelope hello;
    hello.mutable_hello()->set_version_min(protocol::kVersionMin);
    hello.mutable_hello()->set_version_max(protocol::kVersionMax);
    hello.mutable_hello()->set_role(protocol::ROLE_AGENT);
    plan::Inventory inventory = test::sample_inventories(1).front();
    inventory.host = host;
    to_message(inventory, *hello.mutable_hello()->mutable_inventory());
    say(session, hello);
    return session;
  }
  SessionId join_operator() {
    const SessionId session = connect();
    Envelope hello;
    hello.mutable_hello()->set_version_min(protocol::kVersionMin);
    hello.mutable_hello()->set_version_max(protocol::kVersionMax);
    hello.mutable_hello()->set_role(protocol::ROLE_OPERATOR);
    say(session, hello);
    return session;
  }

  void say(SessionId session, Envelope message) {
    happen(MessageReceived{session, std::move(message)});
  }
  void hang_up(SessionId session) { happen(SessionClosed{session, "connection reset by peer"}); }

  /// Lets time pass; those in `alive` go on sending heartbeats.
  void pass(Duration duration, const std::vector<SessionId>& alive = {}) {
    const Instant end = now + duration;
    Instant next_heartbeat = now;
    while (true) {
      const Instant due = std::min(coordinator.next_deadline(), next_heartbeat);
      if (due > end) break;
      now = std::max(now, due);
      if (now >= next_heartbeat) {
        next_heartbeat = now + std::chrono::milliseconds{400};
        for (const SessionId session : alive) {
          Envelope heartbeat;
          heartbeat.mutable_heartbeat();
          say(session, heartbeat);
        }
      }
      if (now >= coordinator.next_deadline()) happen(Tick{});
    }
    now = end;
  }

  /// What a peer was told, heartbeats left out, since the last call.
  std::vector<Envelope> told(SessionId session) { return std::exchange(told_[session], {}); }
  std::vector<std::string> told_names(SessionId session) {
    std::vector<std::string> names;
    for (const Envelope& message : told(session)) {
      names.emplace_back(protocol::message_name(message.message_case()));
    }
    return names;
  }
  /// The last message of this kind among those a peer was told; the ones before are forgotten.
  Envelope last_told(SessionId session, Envelope::MessageCase kind) {
    Envelope last;
    for (Envelope& message : told(session)) {
      if (message.message_case() == kind) last = std::move(message);
    }
    return last;
  }
  bool closed(SessionId session) const { return closed_.contains(session); }
  const std::string& why_closed(SessionId session) const { return closed_.at(session); }

  /// Hands in what was asked to be computed since `hold_computations` was set.
  void compute_held() {
    for (const Compute& compute : std::exchange(held_, {})) {
      happen(Computed{compute.id, compute.make()});
    }
  }

  bool hold_computations = false;
  Coordinator coordinator;
  Instant now{std::chrono::seconds{1000}};
  std::vector<StoreRun> stored;
  std::vector<std::string> log;

 private:
  void happen(const Event& event) {
    for (Action& action : coordinator.on(event, now)) {
      if (auto* send = std::get_if<Send>(&action)) {
        // What is sent must fit a frame and be readable at the other end.
        const auto message = protocol::decode(protocol::encode(send->message));
        ASSERT_TRUE(message.has_value());
        EXPECT_FALSE(closed(send->session)) << "a message after the session was closed";
        if (!message->has_heartbeat()) told_[send->session].push_back(*message);
      } else if (auto* close = std::get_if<Close>(&action)) {
        closed_[close->session] = close->reason;
      } else if (auto* store = std::get_if<StoreRun>(&action)) {
        stored.push_back(std::move(*store));
      } else if (auto* compute = std::get_if<Compute>(&action)) {
        held_.push_back(std::move(*compute));
        if (!hold_computations) compute_held();
      } else {
        log.push_back(std::get<Log>(action).text);
      }
    }
  }

  std::uint64_t sessions_ = 0;
  std::vector<Compute> held_;
  std::map<SessionId, std::vector<Envelope>> told_;
  std::map<SessionId, std::string> closed_;
};

/// Two agents and an operator with the sample profile; the run's messages one by one.
struct RunStory : Story {
  explicit RunStory(CoordinatorOptions options = {}) : Story(std::move(options)) {
    agents = {join("host0"), join("host1")};
    person = join_operator();
    upload("sample", test::sample_profile(4));
    for (const SessionId session : {agents[0], agents[1], person}) told(session);
  }

  void upload(const std::string& name, const profile::Profile& profile) {
    const std::string bytes = profile::to_binary(profile);
    for (const protocol::Part& part : protocol::parts_of(bytes)) {
      Envelope message;
      message.mutable_profile_part()->set_name(name);
      message.mutable_profile_part()->set_size(part.size);
      message.mutable_profile_part()->set_offset(part.offset);
      message.mutable_profile_part()->set_part(part.bytes.data(), part.bytes.size());
      say(person, message);
    }
  }

  static std::string drill(const std::string& more = "") {
    return "drill: two\n"
           "jobs:\n"
           "  - name: sample\n"
           "    profile: sample\n"
           "    hosts: [host0, host1]\n"
           "iterations: 2\n" +
           more;
  }

  void request_run(SessionId session, const std::string& text, const std::string& hash = "") {
    Envelope message;
    message.mutable_run_request()->set_drill_text(text);
    message.mutable_run_request()->set_drill_file("two.yaml");
    message.mutable_run_request()->set_plan_hash(hash);
    say(session, message);
  }
  void begin(const std::string& more = "") {
    request_run(person, drill(more));
    const Envelope started = last_told(person, Envelope::kRunStarted);
    ASSERT_TRUE(started.has_run_started());
    run = started.run_started().run();
  }

  // What agents answer.
  void reserved(std::size_t agent, const std::string& refusal = "") {
    Envelope message;
    message.mutable_reserved()->set_run(run);
    message.mutable_reserved()->set_refusal(refusal);
    say(agents[agent], message);
  }
  void prepared(std::size_t agent) {
    Envelope message;
    message.mutable_prepared()->set_run(run);
    // Ranks 0 and 1 are on host0, 2 and 3 on host1.
    protocol::ConnectionAddress& address = *message.mutable_prepared()->add_addresses();
    address.set_source(agent == 0 ? 2 : 0);
    address.set_destination(agent == 0 ? 0 : 2);
    address.set_address("door of host" + std::to_string(agent));
    message.mutable_prepared()->set_last(true);
    say(agents[agent], message);
  }
  void connected(std::size_t agent, Duration offset = Duration::zero(),
                 Duration error_bound = std::chrono::microseconds{50}) {
    Envelope message;
    message.mutable_connected()->set_run(run);
    to_message(ClockOffset{.offset = offset, .error_bound = error_bound},
               *message.mutable_connected()->mutable_clock());
    say(agents[agent], message);
  }
  void step_done(std::size_t agent, std::uint32_t iteration, std::uint32_t phase = 0) {
    Envelope message;
    message.mutable_step_done()->set_run(run);
    message.mutable_step_done()->set_iteration(iteration);
    message.mutable_step_done()->set_phase(phase);
    say(agents[agent], message);
  }
  void progress(std::size_t agent, std::uint64_t ops, std::vector<std::uint32_t> waiting_for = {}) {
    Envelope message;
    message.mutable_progress()->set_run(run);
    message.mutable_progress()->set_moved(ops);
    for (const std::uint32_t host : waiting_for) message.mutable_progress()->add_waiting_for(host);
    say(agents[agent], message);
  }
  void results(std::size_t agent) {
    Envelope message;
    message.mutable_results()->set_run(run);
    say(agents[agent], message);  // of no bytes
  }
  void failed(std::size_t agent, const std::string& reason,
              std::vector<std::uint32_t> waiting = {}) {
    Envelope message;
    message.mutable_failed()->set_run(run);
    message.mutable_failed()->set_reason(reason);
    for (const std::uint32_t host : waiting) message.mutable_failed()->add_waiting_for(host);
    say(agents[agent], message);
  }
  void stopped(std::size_t agent) {
    Envelope message;
    message.mutable_stopped()->set_run(run);
    say(agents[agent], message);
  }
  void released(std::size_t agent) {
    Envelope message;
    message.mutable_released()->set_run(run);
    say(agents[agent], message);
  }
  template <typename Step>
  void both(Step step) {
    step(std::size_t{0});
    step(std::size_t{1});
  }
  /// From the start to state `state`.
  void get_to(RunState state, const std::string& more = "") {
    begin(more);
    if (state == RunState::reserving) return;
    both([&](std::size_t agent) { reserved(agent); });
    if (state == RunState::preparing) return;
    both([&](std::size_t agent) { prepared(agent); });
    if (state == RunState::connecting) return;
    both([&](std::size_t agent) { connected(agent); });
    if (state == RunState::ready) return;
    pass(std::chrono::milliseconds{10});
    if (state == RunState::running) return;
    for (const std::uint32_t iteration : {0U, 1U}) {
      both([&](std::size_t agent) { step_done(agent, iteration); });
    }
  }
  /// The rest of a run that was told to stop.
  protocol::RunFinished wind_down(const std::vector<std::size_t>& alive) {
    for (const std::size_t agent : alive) stopped(agent);
    for (const std::size_t agent : alive) released(agent);
    return last_told(person, Envelope::kRunFinished).run_finished();
  }

  std::vector<SessionId> agents;
  SessionId person;
  std::string run;
};

}  // namespace rehearsal::coordination
