#include "core/coordination/agent_session.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/random.hpp"
#include "core/base/units.hpp"
#include "core/coordination/agent_run.hpp"
#include "core/coordination/clock_estimator.hpp"
#include "core/coordination/helper_side.hpp"
#include "core/coordination/log.hpp"
#include "core/coordination/messages.hpp"
#include "core/protocol/codec.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::coordination {
namespace {

/// An estimate of this many exchanges is good; from then on probes are ten times as rare.
/// For a process that was away to read what came meanwhile.
constexpr Duration kReadingTime = std::chrono::milliseconds{100};
constexpr std::size_t kExchangesGood = 16;
constexpr std::size_t kProbesOpenMax = 16;

/// The waits of a peer are taken in reason, so that sums with them stay small.
Duration bounded(std::uint64_t nanoseconds, Duration fallback) {
  constexpr std::uint64_t kMost = 3'600'000'000'000;
  return nanoseconds == 0 || nanoseconds > kMost ? fallback
                                                 : Duration{static_cast<std::int64_t>(nanoseconds)};
}

}  // namespace

struct AgentSession::State {
  enum class Link : std::uint8_t { down, up, joined };

  explicit State(AgentOptions given)
      : options(std::move(given)),
        random(options.seed),
        helper(options.inventory, out, tickets, [this](Helper of, std::uint64_t id) {
          return run ? run->name_of(of, id) : std::nullopt;
        }) {}

  void on(const LinkUp&, Instant now);
  void on(const LinkDown& event, Instant now);
  void on(const LinkMessage& event, Instant now);
  void on(const Tick&, Instant now);
  void on(const HelperUp& event, Instant now) { helper.on(event, now); }
  void on(const HelperDown& event, Instant now);
  void on(const HelperAnswered& event, Instant now);
  void on(const ReachSaid& event, Instant now);
  template <typename WorkerEvent>
  void on(const WorkerEvent& event, Instant now) {
    if (run) run->on(event, now);
  }

  void welcome(const protocol::Welcome& message, Instant now);
  void refused(const protocol::Refused& message, Instant now);
  void clock_reply(const protocol::ClockReply& message, Instant now);
  void command(const protocol::Envelope& message, Instant now);
  void reserve(const protocol::Reserve& message);
  void faults_order(const protocol::FaultsOrder& order, Instant now);
  template <typename Command>
  void for_run(const Command& message, Instant now) {
    if (run && run->id() == message.run()) run->on(message, now);
  }

  void probe(Instant now);
  void send(protocol::Envelope message) { out.push_back(SendToCoordinator{std::move(message)}); }
  void send_reserved(const std::string& id, const std::string& refusal);
  void close(const std::string& reason, Instant now);
  void link_lost(const std::string& reason, Instant now);
  void settle(Instant now);
  void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
    out.push_back(log_line(level, event, fields));
  }

  AgentOptions options;
  Random random;
  std::vector<AgentAction> out;

  Link link = Link::down;
  Instant heard;
  /// When silence counts: it may be this process that was away, so what came meanwhile is read
  /// first.
  Instant silence_counts_at = kNever;
  std::uint32_t attempts = 0;  // since the last welcome
  std::string trouble;         // logged last, so that each is logged once
  std::uint64_t epoch = 0;     // the highest that was ever seen
  Duration heartbeat_interval = std::chrono::milliseconds{500};
  Duration silence_limit{0};
  Instant next_heartbeat = kNever;

  ClockEstimator clock;
  std::uint64_t probes = 0;
  std::map<std::uint64_t, Instant> open_probes;
  Instant next_probe = kNever;

  std::uint64_t tickets = 0;  // of what the helper is asked
  HelperSide helper;
  bool reaching = false;  // the coordinator asks whether data addresses reach one another
  std::optional<AgentRun> run;
  std::optional<protocol::Reserve> waiting_reserve;  // until the run before has ended
};

AgentSession::AgentSession(AgentOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
AgentSession::~AgentSession() = default;

std::vector<AgentAction> AgentSession::on(const AgentEvent& event, Instant now) {
  std::visit([&](const auto& what) { state_->on(what, now); }, event);
  state_->settle(now);
  return std::exchange(state_->out, {});
}

Instant AgentSession::next_deadline() const {
  const State& state = *state_;
  Instant next = state.run ? state.run->deadline() : kNever;
  if (state.link != State::Link::down) {
    next = std::min(next, state.silence_counts_at != kNever ? state.silence_counts_at
                                                            : state.heard + state.silence_limit);
  }
  return std::min({next, state.next_heartbeat, state.next_probe, state.helper.deadline()});
}

AgentView AgentSession::view(Instant now) const {
  AgentView view;
  view.joined = state_->link == State::Link::joined;
  if (state_->run) view.run = state_->run->id();
  if (state_->run) view.faults_applied = state_->run->faults_applied();
  view.helper = state_->helper.is_up(Helper::kernel);
  view.external = state_->helper.is_up(Helper::external);
  view.blocked = !state_->helper.blocked().empty();
  if (const std::optional<ClockOffset> clock = state_->clock.estimate(now)) {
    view.clock_known = true;
    view.clock_offset = clock->offset;
    view.clock_error_bound = clock->error_bound;
  }
  return view;
}

void AgentSession::State::on(const LinkUp&, Instant now) {
  link = Link::up;
  heard = now;
  silence_limit = options.silence_limit;
  protocol::Envelope envelope;
  protocol::Hello& hello = *envelope.mutable_hello();
  hello.set_version_min(protocol::kVersionMin);
  hello.set_version_max(protocol::kVersionMax);
  hello.set_role(protocol::ROLE_AGENT);
  hello.set_software(options.software);
  to_message(options.inventory, *hello.mutable_inventory());
  for (const host::Finding& finding : options.findings) to_message(finding, *hello.add_findings());
  send(std::move(envelope));
}

void AgentSession::State::on(const LinkDown& event, Instant now) { link_lost(event.reason, now); }

void AgentSession::State::on(const LinkMessage& event, Instant now) {
  using protocol::Envelope;
  if (link == Link::down) return;
  heard = now;
  if (run) run->heard(now);
  silence_counts_at = kNever;
  const Envelope& message = event.message;
  if (message.has_refused()) return refused(message.refused(), now);
  if (link == Link::joined) return command(message, now);
  if (message.has_welcome()) return welcome(message.welcome(), now);
  close("a session begins with welcome, not with " +
            std::string(protocol::message_name(message.message_case())),
        now);
}

void AgentSession::State::on(const Tick&, Instant now) {
  if (run) run->tick(now);
  helper.tick(now, run.has_value());
  if (link != Link::down && now >= heard + silence_limit && silence_counts_at == kNever) {
    silence_counts_at = now + kReadingTime;
  }
  if (link != Link::down && now >= silence_counts_at) {
    close("the coordinator was silent for " + format_duration(now - heard), now);
  }
  if (now >= next_probe) probe(now);
  if (now >= next_heartbeat) {
    protocol::Envelope envelope;
    envelope.mutable_heartbeat();
    send(std::move(envelope));
    next_heartbeat = now + heartbeat_interval;
  }
}

void AgentSession::State::welcome(const protocol::Welcome& message, Instant now) {
  if (message.epoch() < epoch) {
    return close("the coordinator's epoch " + std::to_string(message.epoch()) + " is older than " +
                     std::to_string(epoch) + ", which this agent has seen",
                 now);
  }
  epoch = message.epoch();
  link = Link::joined;
  attempts = 0;
  trouble.clear();
  heartbeat_interval = bounded(message.heartbeat_interval_ns(), heartbeat_interval);
  silence_limit = std::min(bounded(message.silence_limit_ns(), silence_limit), silence_limit);
  next_heartbeat = now + heartbeat_interval;
  log(LogLevel::info, "joined the coordinator",
      {{"host", options.inventory.host}, {"epoch", std::to_string(epoch)}});
  if (run) run->abandon(now);
  helper.joined(now);
  probe(now);
}

void AgentSession::State::refused(const protocol::Refused& message, Instant now) {
  close("refused: " + one_line(message.reason()), now);
}

void AgentSession::State::command(const protocol::Envelope& message, Instant now) {
  using protocol::Envelope;
  switch (message.message_case()) {
    case Envelope::kHeartbeat:
    case Envelope::kWelcome:  // again
      return;
    case Envelope::kClockReply:
      return clock_reply(message.clock_reply(), now);
    case Envelope::kReserve:
      return reserve(message.reserve());
    case Envelope::kFaultsOrder:
      return faults_order(message.faults_order(), now);
    case Envelope::kReachOrder:
      reaching = message.reach_order().step() != protocol::ReachOrder::STEP_CLOSE;
      out.push_back(TryReach{message.reach_order()});
      return;
    case Envelope::kPrepare:
      return for_run(message.prepare(), now);
    case Envelope::kConnect:
      return for_run(message.connect(), now);
    case Envelope::kStartAt:
      return for_run(message.start_at(), now);
    case Envelope::kFinish:
      return for_run(message.finish(), now);
    case Envelope::kStop: {
      if (run && run->id() == message.stop().run()) return run->on(message.stop(), now);
      Envelope envelope;  // nothing of that run is on here
      envelope.mutable_stopped()->set_run(message.stop().run());
      return send(std::move(envelope));
    }
    case Envelope::kRelease: {
      if (run && run->id() == message.release().run()) return run->on(message.release(), now);
      Envelope envelope;
      envelope.mutable_released()->set_run(message.release().run());
      return send(std::move(envelope));
    }
    default:
      close("message " + std::string(protocol::message_name(message.message_case())) +
                " is not for agents",
            now);
  }
}

void AgentSession::State::on(const HelperDown& event, Instant now) {
  helper.on(event, now);
  if (run) run->helper_gone(event.helper, event.reason, now);
}

void AgentSession::State::on(const HelperAnswered& event, Instant now) {
  if (run && run->answered(event, now)) return;
  helper.on(event, now);
}

void AgentSession::State::on(const ReachSaid& event, Instant) {
  if (link != Link::joined) return;
  protocol::Envelope envelope;
  *envelope.mutable_reach_report() = event.report;
  send(std::move(envelope));
}

/// Whoever clears the faults of a host ends the run that they belong to.
void AgentSession::State::faults_order(const protocol::FaultsOrder& order, Instant now) {
  if (order.clear() && run) run->faults_cleared(now);
  if (run) run->carry_on(now);  // what it asks is asked first
  helper.on(order, now);
}

void AgentSession::State::reserve(const protocol::Reserve& message) {
  if (message.epoch() < epoch) {
    return send_reserved(message.run(), "epoch " + std::to_string(message.epoch()) +
                                            " is older than " + std::to_string(epoch));
  }
  epoch = message.epoch();
  if (run && run->leaving()) {
    waiting_reserve = message;
  } else if (run && run->id() != message.run()) {
    send_reserved(message.run(), "busy with run " + run->id());
  } else if (!helper.blocked().empty()) {
    send_reserved(message.run(), helper.blocked());
  } else {
    if (!run) {
      run.emplace(options, out, tickets, message.run());
      helper.look(heard);  // the plan is held against what the host allows now
    }
    run->on_clock(clock.estimate(heard));
    send_reserved(message.run(), "");
  }
}

void AgentSession::State::send_reserved(const std::string& id, const std::string& refusal) {
  protocol::Envelope envelope;
  envelope.mutable_reserved()->set_run(id);
  envelope.mutable_reserved()->set_refusal(refusal);
  send(std::move(envelope));
}

void AgentSession::State::probe(Instant now) {
  const bool good = clock.exchanges() >= kExchangesGood;
  next_probe = now + options.clock_probe_interval * (good ? 10 : 1);
  if (open_probes.size() >= kProbesOpenMax) open_probes.erase(open_probes.begin());
  open_probes[++probes] = now;
  protocol::Envelope envelope;
  envelope.mutable_clock_probe()->set_id(probes);
  envelope.mutable_clock_probe()->set_agent_sent_ns(nanoseconds(now));
  send(std::move(envelope));
}

void AgentSession::State::clock_reply(const protocol::ClockReply& message, Instant now) {
  const auto sent = open_probes.find(message.id());
  if (sent == open_probes.end()) return;  // answered before
  clock.add({.agent_sent = sent->second,
             .coordinator_received = instant_of(message.coordinator_received_ns()),
             .coordinator_sent = instant_of(message.coordinator_sent_ns()),
             .agent_received = now});
  open_probes.erase(sent);
  if (run) run->on_clock(clock.estimate(now));
}

void AgentSession::State::close(const std::string& reason, Instant now) {
  out.push_back(CloseLink{reason});
  link_lost(reason, now);
}

void AgentSession::State::link_lost(const std::string& reason, Instant now) {
  const Instant last_word = link == Link::down ? now : heard;
  link = Link::down;
  next_heartbeat = kNever;
  next_probe = kNever;
  clock = {};  // the next coordinator may have another clock
  open_probes.clear();
  waiting_reserve.reset();
  helper.left();
  if (std::exchange(reaching, false)) out.push_back(EndReach{});
  if (trouble != reason) log(LogLevel::warning, "no coordinator", {{"reason", reason}});
  trouble = reason;
  if (run) run->orphan(last_word, now);

  const std::uint32_t doublings = std::min(attempts++, 16U);
  const Duration wait = std::min(options.reconnect_max, options.reconnect_min * (1 << doublings));
  const auto half = static_cast<std::uint64_t>(wait.count()) / 2;
  const Duration jittered{static_cast<std::int64_t>(half + random.below(half + 1))};
  out.push_back(Reconnect{now + jittered});
}

void AgentSession::State::settle(Instant now) {
  if (!run) return;
  run->carry_on(now);
  for (const Helper of : kHelpers) {
    if (const std::string why = run->take_suspicion(of); !why.empty()) helper.suspect(of, why, now);
  }
  if (!run->over()) return;
  const bool had_faults = run->has_faults();
  run.reset();
  if (had_faults) helper.look(now);
  if (!waiting_reserve) return;
  const protocol::Reserve message = *std::exchange(waiting_reserve, std::nullopt);
  reserve(message);
}

}  // namespace rehearsal::coordination
