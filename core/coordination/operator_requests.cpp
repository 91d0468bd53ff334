// What operators ask of the coordinator.
#include <utility>

#include "core/coordination/coordinator_state.hpp"
#include "core/coordination/messages.hpp"
#include "core/plan/connection_estimate.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::coordination {
namespace {

/// Beyond this many agents a status leaves their NICs out, to fit a frame.
constexpr std::size_t kAgentsWithNicsMax = 128;
/// And beyond this many bytes, whatever agents say of themselves.
constexpr std::size_t kStatusBytesOfDetail = 2 * 1024 * 1024;

}  // namespace

void Coordinator::State::operator_message(SessionId id, const protocol::Envelope& message,
                                          Instant now) {
  using protocol::Envelope;
  switch (message.message_case()) {
    case Envelope::kProfilePart:
      return profile_part(id, message.profile_part());
    case Envelope::kPlanRequest:
      return plan_request(id, message.plan_request());
    case Envelope::kRunRequest:
      return run_request(id, message.run_request());
    case Envelope::kStatusRequest:
      return status_request(id, now);
    case Envelope::kStopRequest:
      return stop_request(id, message.stop_request(), now);
    case Envelope::kFaultsRequest:
      return faults_request(id, message.faults_request(), now);
    case Envelope::kReachRequest:
      return reach_request(id, message.reach_request(), now);
    default:
      return;  // heartbeats
  }
}

void Coordinator::State::profile_part(SessionId id, const protocol::ProfilePart& message) {
  const Result<std::optional<std::string>> identity = shelves.at(id).add(
      message.name(),
      {.size = message.size(), .offset = message.offset(), .bytes = message.part()});
  if (!identity) return send_failure(id, identity.error());
  if (!*identity) return;
  protocol::Envelope envelope;
  envelope.mutable_profile_stored()->set_name(message.name());
  envelope.mutable_profile_stored()->set_identity(**identity);
  outbox.send(id, std::move(envelope));
}

namespace {

/// The drill of a PlanRequest or RunRequest.
template <typename Message>
DrillRequest drill_of(const Message& message) {
  DrillRequest request{message.drill_text(), one_line(message.drill_file()), {}};
  for (const protocol::NodeFile& node : message.nodes())
    request.nodes.push_back({one_line(node.name()), node.text()});
  return request;
}

}  // namespace

Result<void> Coordinator::State::plan_first(SessionId id, DrillRequest request, Then then) {
  if (plannings.contains(id)) {
    return fail(ErrorCode::refused, ErrorSource::control,
                "a plan is being made for this session: wait for it");
  }
  const ComputationId computation = outbox.compute([request = std::move(request),
                                                    inventories = agents.inventories(),
                                                    profiles = shelves.at(id).profiles()]() {
    return Computation{plan_drill(request, inventories, profiles).map([](PlannedDrill&& planned) {
      return std::make_shared<const PlannedDrill>(std::move(planned));
    })};
  });
  plannings.emplace(id, Planning{computation, std::move(then)});
  return {};
}

void Coordinator::State::plan_request(SessionId id, const protocol::PlanRequest& message) {
  const Result<void> begun = plan_first(
      id, drill_of(message), [this, id](const auto& planned, Instant) { send_plan(id, *planned); });
  if (!begun) send_failure(id, begun.error());
}

void Coordinator::State::send_plan(SessionId id, const PlannedDrill& planned) {
  // A plan.json that does not fit beside the table in one frame goes before it, as a file of no
  // run.
  const bool in_parts = planned.json.size() > protocol::kPartBytesMax;
  for (const protocol::Part& part : protocol::parts_of(in_parts ? planned.json : "")) {
    if (!in_parts) break;
    protocol::Envelope envelope;
    protocol::FilePart& file = *envelope.mutable_file_part();
    file.set_name("plan.json");
    file.set_size(part.size);
    file.set_offset(part.offset);
    file.set_part(part.bytes.data(), part.bytes.size());
    outbox.send(id, std::move(envelope));
  }
  protocol::Envelope envelope;
  protocol::PlanReply& reply = *envelope.mutable_plan_reply();
  if (!in_parts) reply.set_plan_json(planned.json);
  reply.set_table(cut(planned.table, protocol::kPartBytesMax));
  reply.set_plan_hash(planned.hash);
  outbox.send(id, std::move(envelope));
}

void Coordinator::State::run_request(SessionId id, const protocol::RunRequest& message) {
  const auto refuse = [this, id](const Error& error) {
    outbox.log(LogLevel::warning, "run refused", {{"reason", error.text()}});
    send_failure(id, error);
  };
  if (const Result<void> free = check_free(); !free) return refuse(free.error());
  const Result<void> begun =
      plan_first(id, drill_of(message),
                 [this, id, refuse, wanted_hash = one_line(message.plan_hash())](
                     std::shared_ptr<const PlannedDrill> planned, Instant now) {
                   const auto started = start_run(id, wanted_hash, std::move(planned), now);
                   if (!started) refuse(started.error());
                 });
  if (!begun) refuse(begun.error());
}

Result<void> Coordinator::State::check_free() const {
  if (!run) return {};
  return fail(ErrorCode::refused, ErrorSource::control,
              "run " + run->id() + " is on (" + std::string(to_string(run->state())) + ", " +
                  std::to_string(run->iterations_done()) + " of " +
                  std::to_string(run->iterations()) +
                  " iterations): wait for its end, or `rehearse stop` it");
}

/// Agents may have come and gone while the plan was made.
Result<void> Coordinator::State::check_still_here(const plan::Plan& plan) const {
  for (const plan::Inventory& host : plan.hosts) {
    const AgentEntry* agent = agents.by_host(host.host);
    if (agent == nullptr || agent->inventory != host) {
      return fail(ErrorCode::refused, ErrorSource::control,
                  "host '" + host.host + "' left or changed while the plan was made; run again");
    }
  }
  return {};
}

/// Before anything starts: no host with a fault that could not be undone, none on an interface that
/// a fault of the plan needs.
Result<void> Coordinator::State::check_faults(const plan::Plan& plan) const {
  for (std::uint32_t i = 0; i < plan.hosts.size(); ++i) {
    const AgentEntry& agent = *agents.by_host(plan.hosts[i].host);
    const std::string why = why_not_now(agent, plan, HostIndex{i});
    if (!why.empty()) return fail(ErrorCode::refused, ErrorSource::control, why);
  }
  return {};
}

Result<void> Coordinator::State::start_run(SessionId id, const std::string& wanted_hash,
                                           std::shared_ptr<const PlannedDrill> planned,
                                           Instant now) {
  RETURN_IF_ERROR(check_free());
  RETURN_IF_ERROR(check_still_here(*planned->plan));
  RETURN_IF_ERROR(check_faults(*planned->plan));
  if (!wanted_hash.empty() && wanted_hash != planned->hash) {
    return fail(ErrorCode::refused, ErrorSource::control,
                "the plan is now " + planned->hash + ", not " + wanted_hash +
                    ": the drill, a profile or the agents have changed; plan again");
  }
  RETURN_IF_ERROR(plan::check_connections(*planned->plan));
  RunSetup setup;
  setup.id = "e" + std::to_string(options.epoch) + "-r" + std::to_string(++runs_begun) + "-" +
             random_hex(4);
  setup.token = options.token ? options.token() : random_hex(32);
  setup.operator_session = id;
  for (const plan::Inventory& host : planned->plan->hosts) {
    AgentEntry& agent = *agents.by_host(host.host);
    agent.run = setup.id;
    setup.agents.push_back(agent.session);
  }
  outbox.log(LogLevel::info, "run begins",
             {{"run", setup.id},
              {"drill", planned->plan->drill},
              {"hosts", std::to_string(setup.agents.size())},
              {"iterations", std::to_string(planned->plan->iterations)},
              {"plan_hash", planned->hash}});
  setup.planned = std::move(planned);
  run_operator = id;
  run = std::make_unique<Run>(options, outbox, std::move(setup), now);
  return {};
}

void Coordinator::State::status_request(SessionId id, Instant now) {
  protocol::Envelope envelope;
  protocol::StatusReply& reply = *envelope.mutable_status_reply();
  reply.set_software(options.software);
  reply.set_state(std::string(to_string(run ? run->state() : RunState::idle)));
  if (run) {
    reply.set_run(run->id());
    reply.set_iterations_done(run->iterations_done());
    reply.set_iterations(run->iterations());
  }
  std::size_t bytes = 0;
  for (const auto& [host, agent] : agents.entries()) {
    protocol::AgentStatus& status = *reply.add_agents();
    status.set_host(host);
    status.set_address(agent.peer);
    status.set_software(agent.software);
    status.set_run(agent.run);
    to_message(agent.clock, *status.mutable_clock());
    const Duration silence = now - sessions.at(agent.session).heard;
    status.set_silence_ns(static_cast<std::uint64_t>(silence.count()));
    status.set_no_helper(agent.faults.no_helper());
    status.set_blocked(agent.faults.blocked());
    status.set_faults(static_cast<std::uint32_t>(agent.faults.faults_size()));
    if (agents.size() > kAgentsWithNicsMax || bytes > kStatusBytesOfDetail) continue;
    to_message(agent.inventory.kernel, *status.mutable_kernel());
    to_summary(agent.inventory.external, *status.mutable_external());
    for (const plan::Nic& nic : agent.inventory.nics) to_message(nic, *status.add_nics());
    for (const host::Finding& finding : agent.findings) to_message(finding, *status.add_findings());
    bytes += status.ByteSizeLong();
  }
  outbox.send(id, std::move(envelope));
}

void Coordinator::State::stop_request(SessionId id, const protocol::StopRequest& message,
                                      Instant now) {
  if (!run || (!message.run().empty() && message.run() != run->id())) {
    const std::string which =
        message.run().empty() ? "" : " named '" + one_line(message.run()) + "'";
    return send_failure(id, Error{.code = ErrorCode::not_found,
                                  .source = ErrorSource::control,
                                  .message = "no run" + which + " is on"});
  }
  stop_askers.push_back(id);
  run->stop("an operator stopped it", now);
}

void Coordinator::State::faults_request(SessionId id, const protocol::FaultsRequest& message,
                                        Instant now) {
  const Result<void> asked = desk.ask(id, message, agents, now);
  if (!asked) send_failure(id, asked.error());
}

void Coordinator::State::reach_request(SessionId id, const protocol::ReachRequest& message,
                                       Instant now) {
  if (run)
    return send_failure(id, Error{.code = ErrorCode::refused,
                                  .source = ErrorSource::control,
                                  .message = "run " + run->id() +
                                             " is on, which connecting beside it would disturb; "
                                             "ask again when it is over"});
  const Result<void> asked = reach.ask(id, message, agents, random_hex(32), now);
  if (!asked) send_failure(id, asked.error());
}

void Coordinator::State::send_failure(SessionId id, const Error& error) {
  protocol::Envelope envelope;
  envelope.mutable_failure()->set_code(std::string(to_string(error.code)));
  envelope.mutable_failure()->set_message(cut(error.text(), protocol::kPartBytesMax));
  outbox.send(id, std::move(envelope));
}

std::string Coordinator::State::random_hex(std::size_t digits) {
  std::string text;
  while (text.size() < digits) text += "0123456789abcdef"[random.below(16)];
  return text;
}

}  // namespace rehearsal::coordination
