#include "core/plan/plan_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/plan/choices.hpp"
#include "core/plan/plan_estimate.hpp"
#include "core/plan/plan_faults.hpp"
#include "core/plan/plan_warnings.hpp"

namespace rehearsal::plan {
namespace {

using Json = nlohmann::ordered_json;

Json seconds_or_null(std::optional<Duration> duration) {
  return duration ? Json(to_seconds(*duration)) : Json(nullptr);
}

Json nic_name(const Plan& plan, HostIndex host, NicIndex nic) {
  const Inventory& inventory = plan.hosts[host.value];
  return {{"host", inventory.host}, {"nic", inventory.nics[nic.value].name}};
}

Json rdma_json(const RdmaSettings& rdma) {
  return {{"operation", to_string(rdma.operation)},
          {"queue_pairs", rdma.queue_pairs},
          {"queue_pair_use", to_string(rdma.queue_pair_use)},
          {"completions", to_string(rdma.completions)},
          {"traffic_class", rdma.traffic_class},
          {"service_level", rdma.service_level},
          {"hop_limit", rdma.hop_limit},
          {"flow_label", rdma.flow_label},
          {"ack_timeout", rdma.ack_timeout},
          {"retry_count", rdma.retry_count},
          {"rnr_retry", rdma.rnr_retry},
          {"rnr_timer", rdma.rnr_timer},
          {"path_mtu_bytes", rdma.path_mtu == 0 ? Json(nullptr) : Json(rdma.path_mtu)},
          {"ece", rdma.ece},
          {"rate_limit_bits_per_second", rdma.rate_limit.bits_per_second() == 0
                                             ? Json(nullptr)
                                             : Json(rdma.rate_limit.bits_per_second())}};
}

Json settings_json(const Plan& plan) {
  const CollectiveSettings& collectives = plan.collectives;
  return {
      {"transport",
       {{"kind", to_string(plan.transport.kind)},
        {"congestion_control", plan.transport.congestion_control.empty()
                                   ? Json(nullptr)
                                   : Json(plan.transport.congestion_control)},
        {"receive", to_string(plan.transport.receive)},
        {"verify_payload", plan.transport.verify_payload},
        {"rdma", plan.transport.kind == TransportKind::rdma ? rdma_json(plan.transport.rdma)
                                                            : Json(nullptr)}}},
      {"collectives",
       {{"channels", collectives.channels},
        {"chunk_bytes", collectives.chunk.count()},
        {"slices_per_chunk", collectives.slices_per_chunk},
        {"pipeline_chunk_bytes", collectives.pipeline_chunk.count()},
        {"point_to_point_chunk_bytes", collectives.point_to_point_chunk.count()},
        {"point_to_point_channels", collectives.point_to_point_channels},
        {"credits", collectives.credits},
        {"channel_bytes_min", collectives.channel_bytes_min.count()},
        {"cross_nic", collectives.cross_nic},
        {"pxn_level", collectives.pxn_level}}},
      {"local",
       {{"rate_bits_per_second", plan.local.rate.bits_per_second()},
        {"latency_seconds", to_seconds(plan.local.latency)}}},
      {"limits",
       {{"duration_seconds", to_seconds(plan.limits.duration)},
        {"progress_seconds", to_seconds(plan.limits.progress)},
        {"start_skew_seconds", plan.limits.start_skew == Duration::zero()
                                   ? Json(nullptr)
                                   : Json(to_seconds(plan.limits.start_skew))}}},
  };
}

double part(fault::Fraction fraction) {
  return static_cast<double>(fraction.millionths) / fault::Fraction::kWhole;
}

Json expectations_json(const Plan& plan) {
  Json list = Json::array();
  for (const Expectation& expectation : plan.expectations) {
    Json json = {{"metric", expectation.metric}};
    if (expectation.stage) json["stage"] = std::string(to_string(*expectation.stage));
    if (expectation.at_most > Duration::zero())
      json["at_most_seconds"] = to_seconds(expectation.at_most);
    if (expectation.at_most_of_before.millionths != 0)
      json["at_most_of_before"] = part(expectation.at_most_of_before);
    if (expectation.within.millionths != 0) json["within"] = part(expectation.within);
    if (expectation.iterations != 0) json["iterations"] = expectation.iterations;
    if (!expectation.of_fault.empty()) json["fault"] = expectation.of_fault;
    if (expectation.at_least.bits_per_second() != 0)
      json["at_least_bits_per_second"] = expectation.at_least.bits_per_second();
    list.push_back(std::move(json));
  }
  return list;
}

Json level_json(fault::Kind kind, const fault::Level& level) {
  using fault::Kind;
  switch (kind) {
    case Kind::rate:
      return {{"rate", part(level.rate)}};
    case Kind::delay:
      return {{"delay_seconds", to_seconds(level.delay)}};
    case Kind::reorder:
      return {{"share", part(level.share)}, {"delay_seconds", to_seconds(level.delay)}};
    case Kind::loss:
    case Kind::duplicate:
    case Kind::corrupt:
      return {{"share", part(level.share)}};
    case Kind::straggler:
      return {{"compute", part(level.compute)}};
    case Kind::mtu:
      return {{"mtu_bytes", level.mtu}};
    case Kind::flow_control:
      return {{"pause_frames", level.pause_frames}};
    case Kind::incast:
    case Kind::background:
      if (level.traffic.bits_per_second() != 0)
        return {{"rate_bits_per_second", level.traffic.bits_per_second()}};
      return {{"rate", level.rate.millionths == 0 ? Json(nullptr) : Json(part(level.rate))}};
    default:
      return Json::object();
  }
}

Json place_json(const Plan& plan, const fault::Place& place) {
  const Inventory& host = plan.hosts[place.host.value];
  Json json = {{"host", host.host}, {"direction", to_string(place.side)}};
  if (place.nic) json["nic"] = host.nics[place.nic->value].name;
  if (place.job) json["job"] = plan.jobs[place.job->value].name;
  if (place.rank) json["rank"] = place.rank->value;
  if (place.communicator) {
    const auto& communicators = plan.jobs[place.job->value].profile->communicators;
    json["communicator"] = communicators[place.communicator->value].name;
  }
  if (place.peer) json["peer"] = plan.hosts[place.peer->value].host;
  return json;
}

Json when_json(const fault::When& when) {
  Json json = Json::object();
  if (when.iteration)
    json["iteration"] = *when.iteration;
  else
    json["after_seconds"] = to_seconds(when.after);
  if (!when.phase.empty()) json["phase"] = when.phase;
  json["deadline_seconds"] = to_seconds(when.length);
  if (when.iterations != 0) json["iterations"] = when.iterations;
  if (when.on > Duration::zero()) {
    json["on_seconds"] = to_seconds(when.on);
    json["off_seconds"] = to_seconds(when.off);
  }
  if (when.on_iterations != 0) {
    json["on_iterations"] = when.on_iterations;
    json["off_iterations"] = when.off_iterations;
  }
  return json;
}

Json faults_json(const Plan& plan) {
  Json list = Json::array();
  for (const fault::PlannedFault& fault : plan.faults) {
    Json what = {{"kind", to_string(fault.what.kind)}, {"levels", Json::array()}};
    for (const fault::Level& level : fault.what.levels)
      what["levels"].push_back(level_json(fault.what.kind, level));
    if (fault.what.of.bits_per_second() != 0)
      what["of_bits_per_second"] = fault.what.of.bits_per_second();
    if (fault.what.jitter > Duration::zero())
      what["jitter_seconds"] = to_seconds(fault.what.jitter);
    if (fault.what.retransmission > Duration::zero())
      what["retransmission_seconds"] = to_seconds(fault.what.retransmission);
    if (fault::makes_traffic(fault.what.kind)) {
      what["message_bytes"] = fault.what.message.count();
      what["credits"] = fault.what.credits;
    }
    if (fault.what.kind == fault::Kind::external) {
      what["command"] = fault.what.call.command;
      what["arguments"] = Json::object();
      for (const fault::ExternalArgument& argument : fault.what.call.arguments)
        what["arguments"][argument.name] = argument.value;
      what["command_time_max_seconds"] = to_seconds(fault.what.command_time);
    }
    Json places = Json::array();
    for (const fault::Place& place : fault.places) places.push_back(place_json(plan, place));
    list.push_back({{"name", fault.name},
                    {"what", std::move(what)},
                    {"where", std::move(places)},
                    {"when", when_json(fault.when)},
                    {"mechanism", to_string(fault.mechanism)},
                    {"seed", fault.seed}});
  }
  return list;
}

Json hosts_json(const Plan& plan, const Load& load) {
  Json list = Json::array();
  for (std::uint32_t i = 0; i < plan.hosts.size(); ++i) {
    const Inventory& host = plan.hosts[i];
    Json nics = Json::array();
    for (const Nic& nic : host.nics) {
      const std::uint64_t rate = nic.line_rate.bits_per_second();
      nics.push_back({{"name", nic.name},
                      {"address", nic.address},
                      {"line_rate_bits_per_second", rate == 0 ? Json(nullptr) : Json(rate)},
                      {"mtu", nic.mtu}});
    }
    const HostConnections& connections = load.connections[i];
    Json counts = {{"outgoing", connections.outgoing},
                   {"incoming", connections.incoming},
                   {"local", connections.local}};
    if (connections.background != 0) counts["background"] = connections.background;
    list.push_back({{"name", host.host},
                    {"shared_nics", host.shared_nics},
                    {"nics", std::move(nics)},
                    {"connections", std::move(counts)}});
  }
  return list;
}

Json node_json(const PlannedJob& job) {
  if (!job.node) return nullptr;
  return {{"name", job.node->name},
          {"ranks_per_node", job.node->ranks},
          {"nodes_per_host", job.node->per_host},
          {"rails", job.node->rails},
          {"assumed", job.node->assumed}};
}

Json choices_json(const PlannedJob& job) {
  Json list = Json::array();
  for (const OpChoice& picked : job.choices) {
    const collective::Choice& choice = picked.choice;
    list.push_back(
        {{"communicator", job.profile->communicators[picked.communicator.value].name},
         {"kind", to_string(picked.kind)},
         {"bytes", picked.bytes.count()},
         {"peer_bytes",
          picked.peer_bytes ? Json(job.profile->peer_bytes[*picked.peer_bytes].name) : Json()},
         {"algorithm", goes_by_pairs(picked.kind) ? Json() : Json(to_string(choice.algorithm))},
         {"protocol", to_string(choice.protocol)},
         {"channels", choice.channels},
         {"channels_per_peer",
          choice.channels_per_peer == 0 ? Json() : Json(choice.channels_per_peer)},
         {"chunk_bytes", choice.chunk.count()},
         {"slices_per_chunk", choice.slices_per_chunk},
         {"credits", choice.credits}});
  }
  return list;
}

Json jobs_json(const Plan& plan, const Load& load) {
  Json list = Json::array();
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const PlannedJob& job = plan.jobs[i];
    const JobLoad& job_load = load.jobs[i];
    Json bindings = Json::array();
    for (std::size_t rank = 0; rank < job.bindings.size(); ++rank) {
      Json binding = {{"rank", rank}};
      binding.update(nic_name(plan, job.bindings[rank].host, job.bindings[rank].nic));
      if (job.node) {
        binding["node"] = job.seats[rank].node;
        binding["rail"] = job.seats[rank].rail;
      }
      bindings.push_back(std::move(binding));
    }
    const auto totals = [&](std::uint64_t times) -> Json {
      return {
          {"ops", job_load.ops * times},
          {"wire_bytes", (job_load.on_wire * times).count()},
          {"local_bytes", (job_load.local * times).count()},
          {"local_between_nodes_bytes", (job_load.local_between_nodes * times).count()},
          {"compute_seconds", to_seconds(job_load.compute_max * static_cast<std::int64_t>(times))}};
    };
    list.push_back({{"name", job.name},
                    {"profile", {{"name", job.profile->name}, {"identity", job.profile_identity}}},
                    {"ranks", job.profile->ranks},
                    {"node", node_json(job)},
                    {"choices", choices_json(job)},
                    {"bindings", std::move(bindings)},
                    {"per_iteration", totals(1)},
                    {"in_all", totals(plan.iterations)}});
  }
  return list;
}

Json nics_json(const Plan& plan, const Load& load) {
  Json list = Json::array();
  for (const NicLoad& nic : load.nics) {
    const auto bytes = [&](std::uint64_t times) -> Json {
      return {{"sent_bytes", (nic.sent * times).count()},
              {"received_bytes", (nic.received * times).count()}};
    };
    Json json = nic_name(plan, nic.host, nic.nic);
    json["per_iteration"] = bytes(1);
    json["in_all"] = bytes(plan.iterations);
    list.push_back(std::move(json));
  }
  return list;
}

Json flows_json(const Plan& plan, const Load& load) {
  Json list = Json::array();
  for (const Flow& flow : load.flows) {
    list.push_back({{"job", plan.jobs[flow.job.value].name},
                    {"source", nic_name(plan, flow.source_host, flow.source_nic)},
                    {"destination", nic_name(plan, flow.destination_host, flow.destination_nic)},
                    {"messages", flow.messages},
                    {"bytes", flow.bytes.count()}});
  }
  return list;
}

Json rate_or_null(std::optional<BitRate> rate) {
  return rate ? Json(rate->bits_per_second()) : Json(nullptr);
}

// What faults may add to NICs, beside the bytes of the jobs.
Json background_json(const Plan& plan, const Load& load) {
  Json list = Json::array();
  for (const NicBackground& nic : load.background) {
    Json json = nic_name(plan, nic.host, nic.nic);
    json["sent_bits_per_second"] = rate_or_null(nic.sent);
    json["received_bits_per_second"] = rate_or_null(nic.received);
    list.push_back(std::move(json));
  }
  return list;
}

// Two levels deep on lines of their own, deeper ones on one line: readable, and small for large
// jobs.
std::string layout(const Json& json) {
  const auto compact = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = "{\n";
  for (auto member = json.begin(); member != json.end(); ++member) {
    text += "  \"" + member.key() + "\": ";
    const Json& value = member.value();
    if (value.is_array() && !value.empty()) {
      text += "[\n";
      for (std::size_t i = 0; i < value.size(); ++i) {
        text += "    " + compact(value[i]) + (i + 1 < value.size() ? ",\n" : "\n");
      }
      text += "  ]";
    } else {
      text += compact(value);
    }
    text += std::next(member) != json.end() ? ",\n" : "\n";
  }
  return text + "}\n";
}

}  // namespace

std::string plan_json(const Plan& plan, const Load& load) {
  const Estimate expected = estimate(plan, load);
  Json json = {{"schema_version", kPlanSchemaVersion},
               {"drill", plan.drill},
               {"plan_hash", plan_hash(plan)},
               {"iterations", plan.iterations},
               {"synchronisation", to_string(plan.synchronisation)},
               {"seed", plan.seed}};
  json.update(settings_json(plan));
  json["expectations"] = expectations_json(plan);
  if (!plan.faults.empty()) json["faults"] = faults_json(plan);
  json["expected"] = {{"iteration_seconds", seconds_or_null(expected.iteration)},
                      {"run_seconds", seconds_or_null(expected.run)},
                      {"basis", expected.basis}};
  json["warnings"] = plan_warnings(plan, load);
  json["hosts"] = hosts_json(plan, load);
  json["jobs"] = jobs_json(plan, load);
  json["nics"] = nics_json(plan, load);
  if (!load.background.empty()) json["background"] = background_json(plan, load);
  json["flow_count"] = load.flow_count;
  json["flows"] = flows_json(plan, load);
  return layout(json);
}

}  // namespace rehearsal::plan
