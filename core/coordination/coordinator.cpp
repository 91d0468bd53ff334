#include "core/coordination/coordinator.hpp"

#include <algorithm>
#include <utility>

#include "core/base/units.hpp"
#include "core/coordination/coordinator_state.hpp"
#include "core/coordination/messages.hpp"
#include "core/plan/checks.hpp"
#include "core/protocol/codec.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::coordination {
namespace {

constexpr std::size_t kSoftwareBytesMax = 128;
constexpr std::size_t kNicTextBytesMax = 128;
/// Of one agent: what does not fit is left out.
constexpr std::size_t kFindingsMax = 256;
constexpr std::size_t kFindingTextBytesMax = 512;

/// Tables and logs show it as it is.
bool printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

bool looks_like_ip(std::string_view text) {
  constexpr std::string_view kCharacters = "0123456789abcdefABCDEF:.%";
  return !text.empty() && text.find_first_not_of(kCharacters) == std::string_view::npos;
}

Result<void> check_inventory(const protocol::Inventory& inventory) {
  const auto refuse = [](const std::string& why) {
    return fail(ErrorCode::refused, ErrorSource::control, why);
  };
  if (!plan::is_name(inventory.host())) {
    return refuse("'" + one_line(inventory.host()) +
                  "' is no name of a host: " + std::string(plan::kNameRule));
  }
  if (static_cast<std::size_t>(inventory.nics_size()) > plan::kNicsMax) {
    return refuse(std::to_string(inventory.nics_size()) + " NICs; at most " +
                  std::to_string(plan::kNicsMax) + " can be used");
  }
  for (const protocol::Nic& nic : inventory.nics()) {
    if (nic.name().size() > kNicTextBytesMax || nic.address().size() > kNicTextBytesMax) {
      return refuse("a NIC's name or address is longer than " + std::to_string(kNicTextBytesMax));
    }
    if (!printable(nic.name()) || !looks_like_ip(nic.address())) {
      return refuse("'" + one_line(nic.name()) + "' with address '" + one_line(nic.address()) +
                    "' is no NIC: a name of visible characters and an IP address are needed");
    }
  }
  return {};
}

// Terminals show them as they are.
std::vector<host::Finding> findings_of(const protocol::Hello& hello) {
  std::vector<host::Finding> findings;
  for (const protocol::HostFinding& message : hello.findings()) {
    if (findings.size() == kFindingsMax) break;
    host::Finding& finding = findings.emplace_back(from_message(message));
    for (std::string* text : {&finding.subject, &finding.what, &finding.fix})
      *text = cut(one_line(*text), kFindingTextBytesMax);
  }
  return findings;
}

}  // namespace

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::idle:
      return "idle";
    case RunState::reserving:
      return "reserving";
    case RunState::preparing:
      return "preparing";
    case RunState::connecting:
      return "connecting";
    case RunState::ready:
      return "ready";
    case RunState::running:
      return "running";
    case RunState::draining:
      return "draining";
    case RunState::finished:
      return "finished";
    case RunState::failed:
      return "failed";
    case RunState::stopped:
      return "stopped";
  }
  return "unknown";
}

Coordinator::Coordinator(CoordinatorOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
Coordinator::~Coordinator() = default;

std::vector<Action> Coordinator::on(const Event& event, Instant now) {
  std::visit([&](const auto& what) { state_->on(what, now); }, event);
  state_->settle(now);
  return state_->outbox.take();
}

Instant Coordinator::next_deadline() const {
  const Instant run = state_->run ? state_->run->deadline() : kNever;
  return std::min({run, state_->next_heartbeat, state_->desk.deadline(), state_->reach.deadline()});
}

CoordinatorView Coordinator::view() const {
  CoordinatorView view;
  if (state_->run) {
    view.state = state_->run->state();
    view.run = state_->run->id();
    view.iterations_done = state_->run->iterations_done();
    view.iterations = state_->run->iterations();
  }
  view.agents = state_->agents.size();
  view.operators = state_->shelves.size();
  std::copy(std::begin(state_->runs_by_verdict), std::end(state_->runs_by_verdict),
            std::begin(view.runs_by_verdict));
  return view;
}

void Coordinator::State::on(const SessionOpened& event, Instant now) {
  sessions[event.session] = {
      .peer = event.peer, .role = Peer::unknown, .opened = now, .heard = now};
  if (next_heartbeat == kNever) next_heartbeat = now + options.heartbeat_interval;
}

void Coordinator::State::on(const SessionClosed& event, Instant now) {
  forget(event.session, "connection closed (" + event.reason + ")", now);
}

void Coordinator::State::on(const Tick&, Instant now) {
  if (now >= next_heartbeat) heartbeat(now);
  if (run && now >= run->deadline()) run->tick(now);
  desk.tick(now);
  reach.tick(now);
}

void Coordinator::State::on(const Computed& event, Instant now) {
  if (const auto* report = std::get_if<std::shared_ptr<const RunReport>>(&event.result)) {
    if (run) run->reported(event.id, *report, now);
    return;
  }
  const auto found = std::ranges::find_if(
      plannings, [&](const auto& entry) { return entry.second.computation == event.id; });
  if (found == plannings.end()) return;  // its session has gone
  const SessionId session = found->first;
  const Then then = std::move(found->second.then);
  plannings.erase(found);
  const auto& planned = std::get<Result<std::shared_ptr<const PlannedDrill>>>(event.result);
  if (!planned) return send_failure(session, planned.error());
  then(*planned, now);
}

void Coordinator::State::on(const MessageReceived& event, Instant now) {
  using protocol::Envelope;
  const auto session = sessions.find(event.session);
  if (session == sessions.end()) return;
  session->second.heard = now;
  const Envelope& message = event.message;
  const Peer role = session->second.role;
  if (!may_send(role, message.message_case())) {
    const std::string name(protocol::message_name(message.message_case()));
    end_session(event.session,
                role == Peer::unknown ? "a session begins with hello, not with " + name
                                      : "message " + name + " is not for this role",
                now);
    return;
  }
  if (role == Peer::unknown) {
    hello(event.session, message.hello(), now);
  } else if (role == Peer::person) {
    operator_message(event.session, message, now);
  } else if (message.has_clock_probe()) {
    if (run) run->heard(event.session, now);
    clock_probe(event.session, message.clock_probe(), now);
  } else {
    agent_message(event.session, message, now);
  }
}

void Coordinator::State::agent_message(SessionId id, const protocol::Envelope& message,
                                       Instant now) {
  AgentEntry& agent = *agents.by_session(id);
  if (message.has_host_faults()) return host_faults(id, message.host_faults());
  if (message.has_reach_report()) return reach.answered(id, message.reach_report(), now);
  if (message.has_connected()) agent.clock = from_message(message.connected().clock());
  if (message.has_step_done()) agent.clock = from_message(message.step_done().clock());
  if (!run) return;
  run->heard(id, now);
  const Result<void> taken = run->on(id, message, now);
  if (!taken) end_session(id, taken.error().text(), now);
}

/// What an agent's helper allows and what it has done changes while the agent is here.
void Coordinator::State::host_faults(SessionId id, const protocol::HostFaults& message) {
  AgentEntry& agent = *agents.by_session(id);
  const std::string was_blocked = agent.faults.blocked();
  agent.faults = checked(message);
  agent.inventory.kernel = from_message(message.kernel());
  agent.inventory.external = from_message(message.external());
  agent.inventory.control_interfaces = interfaces_of(message.control_interfaces());
  const std::string& host = agent.inventory.host;
  if (agent.faults.blocked() != was_blocked && !agent.faults.blocked().empty())
    outbox.log(LogLevel::error, "host takes no runs",
               {{"host", host}, {"reason", agent.faults.blocked()}});
  if (agent.faults.blocked() != was_blocked && agent.faults.blocked().empty())
    outbox.log(LogLevel::info, "host takes runs again", {{"host", host}});
  desk.answered(id, message, host);
}

void Coordinator::State::hello(SessionId id, const protocol::Hello& hello, Instant now) {
  const Result<std::uint32_t> version =
      protocol::negotiate_version(hello.version_min(), hello.version_max());
  const Result<void> admitted = version ? admit(id, hello) : Failure{version.error()};
  if (!admitted) {
    end_session(id, admitted.error().text(), now);
    return;
  }
  protocol::Envelope envelope;
  protocol::Welcome& welcome = *envelope.mutable_welcome();
  welcome.set_version(*version);
  welcome.set_software(options.software);
  welcome.set_epoch(options.epoch);
  welcome.set_heartbeat_interval_ns(static_cast<std::uint64_t>(options.heartbeat_interval.count()));
  welcome.set_silence_limit_ns(static_cast<std::uint64_t>(options.silence_limit.count()));
  outbox.send(id, std::move(envelope));
}

Result<void> Coordinator::State::admit(SessionId id, const protocol::Hello& hello) {
  Session& session = sessions.at(id);
  if (hello.role() == protocol::ROLE_OPERATOR) {
    session.role = Peer::person;
    shelves.emplace(id, ProfileShelf({.profiles_max = options.profiles_max,
                                      .bytes_max = options.profile_bytes_max}));
    return {};
  }
  if (hello.role() != protocol::ROLE_AGENT) {
    return fail(ErrorCode::refused, ErrorSource::control, "a role that this version does not know");
  }
  RETURN_IF_ERROR(check_inventory(hello.inventory()));
  const std::string& host = hello.inventory().host();
  if (const AgentEntry* other = agents.by_host(host)) {
    return fail(ErrorCode::refused, ErrorSource::control,
                "an agent named '" + host + "' is here already, from " + other->peer +
                    "; give each agent a name of its own");
  }
  session.role = Peer::agent;
  agents.add({.session = id,
              .peer = session.peer,
              .software = cut(one_line(hello.software()), kSoftwareBytesMax),
              .inventory = from_message(hello.inventory()),
              .findings = findings_of(hello),
              .clock = std::nullopt,
              .run = {}});
  outbox.log(LogLevel::info, "agent joined", {{"host", host}, {"peer", session.peer}});
  return {};
}

void Coordinator::State::clock_probe(SessionId id, const protocol::ClockProbe& probe, Instant now) {
  protocol::Envelope envelope;
  protocol::ClockReply& reply = *envelope.mutable_clock_reply();
  reply.set_id(probe.id());
  reply.set_agent_sent_ns(probe.agent_sent_ns());
  reply.set_coordinator_received_ns(nanoseconds(now));
  reply.set_coordinator_sent_ns(nanoseconds(now));
  outbox.send(id, std::move(envelope));
}

void Coordinator::State::heartbeat(Instant now) {
  // When it is this process that was away, its peers' words are still to be read.
  const bool away = now - next_heartbeat > options.heartbeat_interval;
  next_heartbeat = sessions.empty() ? kNever : now + options.heartbeat_interval;
  std::vector<std::pair<SessionId, std::string>> silent;
  for (auto& [id, session] : sessions) {
    if (away) session.heard = now;
    if (session.role == Peer::unknown) {
      if (now - session.opened >= options.hello_deadline) silent.emplace_back(id, "no hello came");
      continue;
    }
    if (now - session.heard >= options.silence_limit) {
      silent.emplace_back(id, "silent for " + format_duration(now - session.heard));
      continue;
    }
    protocol::Envelope envelope;
    envelope.mutable_heartbeat();
    outbox.send(id, std::move(envelope));
  }
  for (const auto& [id, reason] : silent) end_session(id, reason, now);
}

void Coordinator::State::end_session(SessionId id, const std::string& reason, Instant now) {
  if (!sessions.contains(id)) return;
  outbox.log(LogLevel::warning, "session refused",
             {{"peer", sessions.at(id).peer}, {"reason", reason}});
  protocol::Envelope envelope;
  envelope.mutable_refused()->set_reason(one_line(reason));
  outbox.send(id, std::move(envelope));
  outbox.close(id, one_line(reason));
  forget(id, reason, now);
}

void Coordinator::State::forget(SessionId id, const std::string& reason, Instant now) {
  const auto session = sessions.find(id);
  if (session == sessions.end()) return;
  const Peer role = session->second.role;
  sessions.erase(session);
  if (role == Peer::agent) {
    const AgentEntry* agent = agents.by_session(id);
    if (agent != nullptr) {
      desk.agent_lost(id, agent->inventory.host);
      reach.agent_lost(id, now);
      outbox.log(LogLevel::info, "agent left",
                 {{"host", agent->inventory.host}, {"reason", one_line(reason)}});
    }
    agents.remove(id);
    if (run) run->agent_lost(id, reason, now);
  }
  if (role == Peer::person) {
    shelves.erase(id);
    plannings.erase(id);
    std::erase(stop_askers, id);
    desk.person_gone(id);
    reach.person_gone(id);
    if (run && run_operator == id) run->operator_gone(now);
  }
}

void Coordinator::State::settle(Instant now) {
  if (!run || !run->over()) return;
  const std::unique_ptr<Run> ended = std::move(run);
  ++runs_by_verdict[static_cast<std::size_t>(ended->verdict())];
  for (const SessionId session : ended->unreleased()) {
    end_session(session, "run " + ended->id() + " was not released in time", now);
  }
  for (const auto& [host, entry] : agents.entries()) {
    if (entry.run == ended->id()) agents.by_host(host)->run.clear();
  }
  for (const SessionId asker : std::exchange(stop_askers, {})) {
    protocol::Envelope envelope;
    envelope.mutable_stop_reply()->set_run(ended->id());
    outbox.send(asker, std::move(envelope));
  }
}

}  // namespace rehearsal::coordination
