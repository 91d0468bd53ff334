#include "cli/local_plan.hpp"

#include <nlohmann/json.hpp>

#include "cli/drill_file.hpp"
#include "cli/operator_session.hpp"
#include "core/plan/assumed_inventories.hpp"

namespace rehearsal::cli {
namespace {

using Json = nlohmann::json;

Failure wrong_answer(const std::string& what) {
  return fail(ErrorCode::protocol, ErrorSource::control,
              "the coordinator's plan.json: " + what +
                  "; rehearse and rehearsald should be of one version");
}

plan::Inventory inventory_of(const Json& host) {
  plan::Inventory inventory;
  inventory.host = host.at("name").get<std::string>();
  inventory.shared_nics = host.at("shared_nics").get<bool>();
  for (const Json& nic : host.at("nics")) {
    const Json& rate = nic.at("line_rate_bits_per_second");
    inventory.nics.push_back({.name = nic.at("name").get<std::string>(),
                              .address = nic.at("address").get<std::string>(),
                              .line_rate = BitRate{rate.is_null() ? 0 : rate.get<std::uint64_t>()},
                              .mtu = nic.at("mtu").get<std::uint32_t>()});
  }
  return inventory;
}

}  // namespace

plan::Nodes nodes_of(const DrillFile& drill) {
  plan::Nodes nodes;
  for (const NamedNode& node : drill.nodes) nodes.emplace(node.name, node.node);
  return nodes;
}

Result<LocalPlan> plan_here(const DrillFile& drill, const std::vector<plan::Inventory>& hosts) {
  std::map<std::string, std::shared_ptr<const profile::Profile>> profiles;
  for (const NamedProfile& profile : drill.profiles)
    profiles.emplace(profile.name, profile.profile);
  auto made = plan::make_plan(drill.drill, hosts, profiles, nodes_of(drill));
  if (!made) return Failure{made.error().within(drill.name)};
  plan::Load load = plan::expand_load(*made);
  return LocalPlan{std::move(*made), std::move(load)};
}

Result<LocalPlan> plan_without_cluster(const DrillFile& drill) {
  std::map<std::string, std::uint32_t> ranks;
  for (const NamedProfile& profile : drill.profiles) ranks.emplace(profile.name, profile.ranks);
  return plan_here(drill, plan::assumed_inventories(drill.drill, ranks, nodes_of(drill)));
}

Result<LocalPlan> plan_with_cluster(const DrillFile& drill, const std::string& coordinator) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  RETURN_IF_ERROR(upload_profiles(session, drill));
  ASSIGN_OR_RETURN(const PlanAnswer answer, ask_for_plan(session, drill));
  ASSIGN_OR_RETURN(const auto hosts, inventories_of(answer.json));
  ASSIGN_OR_RETURN(LocalPlan local, plan_here(drill, hosts));
  const std::string hash = plan::plan_hash(local.plan);
  if (hash != answer.hash)
    return wrong_answer("it has hash " + shown_hash(answer.hash) + ", made here it has " +
                        shown_hash(hash));
  return local;
}

Result<std::vector<plan::Inventory>> inventories_of(std::string_view plan_json) {
  const Json json = Json::parse(plan_json, nullptr, false);
  if (json.is_discarded()) return wrong_answer("it is not JSON");
  std::vector<plan::Inventory> hosts;
  try {
    for (const Json& host : json.at("hosts")) hosts.push_back(inventory_of(host));
  } catch (const Json::exception& error) {  // a key that is not there or of another kind
    return wrong_answer(error.what());
  }
  return hosts;
}

}  // namespace rehearsal::cli
