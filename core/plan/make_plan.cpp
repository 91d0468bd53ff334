#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/text.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/choices.hpp"
#include "core/plan/device_faults.hpp"
#include "core/plan/expectations.hpp"
#include "core/plan/instance_estimate.hpp"
#include "core/plan/node_placement.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/plan_faults.hpp"

namespace rehearsal::plan {
namespace {

using profile::Profile;
using Profiles = std::map<std::string, std::shared_ptr<const Profile>>;

Failure wrong(ErrorCode code, const std::string& path, std::string_view what,
              std::string_view right) {
  return fail(code, ErrorSource::config,
              path + ": " + std::string(what) + "; " + std::string(right));
}

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// What agents say of themselves is input like any other.
Result<void> check_inventories(std::span<const Inventory> inventories) {
  std::set<std::string_view> names;
  for (const Inventory& inventory : inventories) {
    const auto refuse = [&](std::string_view what, std::string_view right) {
      return fail(ErrorCode::refused, ErrorSource::control,
                  "agent " + in_quotes(inventory.host) + ": " + std::string(what) + "; " +
                      std::string(right));
    };
    if (!is_name(inventory.host)) return refuse("this is no name", kNameRule);
    if (!names.insert(inventory.host).second) {
      return refuse("two agents have this name", "every agent needs a name of its own");
    }
    if (inventory.nics.size() > kInventoryNicsMax) {
      return refuse(std::to_string(inventory.nics.size()) + " data NICs",
                    "at most " + std::to_string(kInventoryNicsMax));
    }
    for (const Nic& nic : inventory.nics) {
      if (nic.name.size() > kNicTextMax || nic.address.size() > kNicTextMax) {
        return refuse("a NIC with a name or address of more than " + std::to_string(kNicTextMax) +
                          " characters",
                      "shorter ones");
      }
      if (nic.rdma && (nic.rdma->gids.size() > kGidsMax || nic.rdma->device.size() > kNicTextMax)) {
        return refuse("NIC " + in_quotes(nic.name) + " with an RDMA port of " +
                          std::to_string(nic.rdma->gids.size()) + " GIDs",
                      "at most " + std::to_string(kGidsMax) + ", and a shorter name");
      }
    }
  }
  return {};
}

// "did you mean 'host3'? known are host0, host1"
std::string right_name(std::string_view written, std::vector<std::string_view> known,
                       std::string_view none) {
  if (known.empty()) return std::string(none);
  const std::string_view meant = closest(written, known);
  std::ranges::sort(known);
  const std::string hint = meant.empty() ? "" : "did you mean '" + std::string(meant) + "'? ";
  return hint + "known are " + joined(known);
}

// Makes the plan's list of hosts as jobs name them.
class Hosts {
 public:
  Hosts(std::span<const Inventory> inventories, TransportKind transport)
      : inventories_(inventories), transport_(transport) {
    for (const Inventory& inventory : inventories) known_.emplace(inventory.host, &inventory);
  }

  Result<HostIndex> find(const std::string& name, const std::string& path) {
    if (const auto taken = index_of_.find(name); taken != index_of_.end()) return taken->second;
    const auto found = known_.find(name);
    if (found == known_.end()) {
      std::vector<std::string_view> known;
      for (const Inventory& inventory : inventories_) known.push_back(inventory.host);
      return wrong(ErrorCode::not_found, path, "host " + in_quotes(name) + " is not known",
                   right_name(name, std::move(known),
                              "no agent is connected: start rehearsal-agent on the hosts"));
    }
    const Inventory& inventory = *found->second;
    RETURN_IF_ERROR(check_transport(inventory));
    const HostIndex index{static_cast<std::uint32_t>(taken_.size())};
    index_of_.emplace(found->first, index);
    taken_.push_back(inventory);
    return index;
  }

  const Inventory& operator[](HostIndex index) const { return taken_[index.value]; }
  std::vector<Inventory> take() { return std::move(taken_); }

 private:
  Result<void> check_transport(const Inventory& host) const {
    if (host.transports.empty() || std::ranges::count(host.transports, transport_) != 0) return {};
    std::vector<std::string_view> offered;
    for (const TransportKind kind : host.transports) offered.push_back(to_string(kind));
    return wrong(
        ErrorCode::unsupported, "transport.kind",
        "host " + in_quotes(host.host) + " does not offer " + std::string(to_string(transport_)),
        "it offers " + joined(offered));
  }

  std::span<const Inventory> inventories_;
  TransportKind transport_;
  std::map<std::string_view, const Inventory*> known_;
  std::map<std::string_view, HostIndex> index_of_;  // keys live in `inventories_`
  std::vector<Inventory> taken_;
};

Result<std::shared_ptr<const Profile>> find_profile(const DrillJob& job, const Profiles& profiles,
                                                    const std::string& path) {
  const auto found = profiles.find(job.profile);
  if (found == profiles.end() || found->second == nullptr) {
    std::vector<std::string_view> known;
    for (const auto& [name, profile] : profiles) known.push_back(name);
    return wrong(ErrorCode::not_found, path + ".profile",
                 "profile " + in_quotes(job.profile) + " is not here",
                 right_name(job.profile, std::move(known),
                            "a file beside the drill, or the name of a shipped profile"));
  }
  const std::vector<std::string> problems = profile::problems(*found->second);
  if (problems.empty()) return found->second;
  std::string what = "profile " + in_quotes(job.profile) + " is not valid: " + problems.front();
  if (problems.size() > 1) what += " (and " + std::to_string(problems.size() - 1) + " more)";
  return wrong(ErrorCode::invalid_input, path + ".profile", what,
               "`rehearse profile verify` lists everything wrong with it");
}

// Ranks on each of the job's hosts, in order.
Result<std::vector<std::uint32_t>> deal_ranks(const DrillJob& job, std::uint32_t ranks,
                                              const std::string& path) {
  const auto hosts = static_cast<std::uint32_t>(job.hosts.size());
  if (ranks < hosts) {
    return wrong(ErrorCode::invalid_input, path + ".hosts",
                 std::to_string(hosts) + " hosts for the " + std::to_string(ranks) + " ranks of " +
                     in_quotes(job.profile),
                 "at most one host a rank: list " + std::to_string(ranks) + " or fewer");
  }
  const std::uint32_t each = job.ranks_per_host;
  if (each != 0 && std::uint64_t{each} * hosts != ranks) {
    const std::string fitting =
        ranks % each == 0 ? "list " + std::to_string(ranks / each) + " hosts, or leave it out"
                          : "leave it out to deal them as evenly as they go";
    return wrong(ErrorCode::invalid_input, path + ".ranks_per_host",
                 std::to_string(each) + " on each of " + std::to_string(hosts) + " hosts makes " +
                     std::to_string(std::uint64_t{each} * hosts) + " ranks, but " +
                     in_quotes(job.profile) + " has " + std::to_string(ranks),
                 fitting);
  }
  std::vector<std::uint32_t> dealt(hosts, ranks / hosts);
  for (std::uint32_t i = 0; i < ranks % hosts; ++i) ++dealt[i];
  if (dealt.front() > kRanksPerHostMax) {
    return wrong(ErrorCode::refused, path + ".hosts",
                 std::to_string(dealt.front()) + " ranks on one host",
                 "at most " + std::to_string(kRanksPerHostMax) + ": list more hosts");
  }
  return dealt;
}

// The NICs a job uses on one host, as indices into its inventory.
Result<std::vector<NicIndex>> nics_of(const DrillJob& job, const Inventory& host,
                                      const std::string& path) {
  std::vector<NicIndex> result;
  if (host.nics.empty()) {
    return wrong(ErrorCode::not_found, path + ".hosts",
                 "host " + in_quotes(host.host) + " has no data NIC",
                 "name its data NICs in the agent's configuration, or leave the host out");
  }
  if (job.nics.empty()) {
    for (std::uint32_t i = 0; i < host.nics.size(); ++i) result.push_back(NicIndex{i});
    return result;
  }
  for (const std::string& name : job.nics) {
    const auto found = std::ranges::find(host.nics, name, &Nic::name);
    if (found == host.nics.end()) {
      std::vector<std::string_view> known;
      for (const Nic& nic : host.nics) known.push_back(nic.name);
      return wrong(ErrorCode::not_found, path + ".nics",
                   "host " + in_quotes(host.host) + " has no data NIC " + in_quotes(name),
                   right_name(name, std::move(known), ""));
    }
    result.push_back(NicIndex{static_cast<std::uint32_t>(found - host.nics.begin())});
  }
  return result;
}

// Ranks on each of the job's hosts, in order; where nodes are known, with their seats.
Result<std::vector<std::uint32_t>> place_ranks(const DrillJob& job, const fabric::Node* node,
                                               PlannedJob& planned, const std::string& path) {
  if (node == nullptr) return deal_ranks(job, planned.profile->ranks, path);
  ASSIGN_OR_RETURN(NodePlacement placement,
                   place_on_nodes(job, *node, planned.profile->ranks, path));
  planned.node = std::move(placement.node);
  planned.seats = std::move(placement.seats);
  for (std::uint32_t& count : placement.on_host) count *= planned.node->ranks;
  return placement.on_host;
}

Result<PlannedJob> plan_job(const DrillJob& job, const fabric::Node* node, const Profiles& profiles,
                            Hosts& hosts, const std::string& path) {
  PlannedJob planned;
  planned.name = job.name;
  ASSIGN_OR_RETURN(planned.profile, find_profile(job, profiles, path));
  planned.profile_identity = profile::identity(*planned.profile);
  ASSIGN_OR_RETURN(const auto dealt, place_ranks(job, node, planned, path));
  planned.bindings.reserve(planned.profile->ranks);
  for (std::size_t i = 0; i < job.hosts.size(); ++i) {
    ASSIGN_OR_RETURN(const HostIndex host, hosts.find(job.hosts[i], path + "." + at("hosts", i)));
    ASSIGN_OR_RETURN(const auto nics, nics_of(job, hosts[host], path));
    for (std::uint32_t r = 0; r < dealt[i]; ++r) {
      const std::size_t rail = planned.node ? planned.seats[planned.bindings.size()].rail : r;
      planned.bindings.push_back({host, nics[rail % nics.size()]});
    }
  }
  return planned;
}

using NodesOfJobs = std::vector<std::optional<fabric::Node>>;

Result<NodesOfJobs> nodes_of(const Drill& drill, const Nodes& nodes) {
  NodesOfJobs result;
  for (std::size_t i = 0; i < drill.jobs.size(); ++i) {
    std::optional<fabric::Node>& node = result.emplace_back();
    if (drill.jobs[i].node.empty()) continue;
    ASSIGN_OR_RETURN(node, find_node(drill.jobs[i], nodes, at("jobs", i)));
  }
  return result;
}

LocalSettings local_of(const NodesOfJobs& node_of_job, const LocalWishes& wishes) {
  std::vector<fabric::Node> used;
  for (const auto& node : node_of_job) {
    if (node) used.push_back(*node);
  }
  return local_settings(used, wishes);
}

Result<void> make_choices(const Drill& drill, const NodesOfJobs& node_of_job, Plan& plan) {
  for (std::uint32_t i = 0; i < plan.jobs.size(); ++i) {
    if (!node_of_job[i]) continue;
    const ChoiceMaker maker{*node_of_job[i], plan.collectives, drill.forced};
    auto choices = choose_all(plan, JobIndex{i}, maker);
    if (!choices) return Failure{choices.error().within(at("jobs", i))};
    plan.jobs[i].choices = std::move(*choices);
  }
  return {};
}

}  // namespace

Result<Plan> make_plan(const Drill& drill, std::span<const Inventory> inventories,
                       const Profiles& profiles, const Nodes& nodes) {
  RETURN_IF_ERROR(check_all(drill));
  RETURN_IF_ERROR(check_inventories(inventories));
  Plan plan;
  plan.drill = drill.name;
  plan.transport = drill.transport;
  plan.collectives = drill.collectives;
  plan.synchronisation = drill.synchronisation;
  plan.iterations = drill.iterations;
  plan.seed = drill.seed;
  plan.limits = drill.limits;
  plan.expectations = drill.expectations;
  ASSIGN_OR_RETURN(const auto node_of_job, nodes_of(drill, nodes));
  Hosts hosts(inventories, drill.transport.kind);
  for (std::size_t i = 0; i < drill.jobs.size(); ++i) {
    const fabric::Node* node = node_of_job[i] ? &*node_of_job[i] : nullptr;
    ASSIGN_OR_RETURN(plan.jobs.emplace_back(),
                     plan_job(drill.jobs[i], node, profiles, hosts, at("jobs", i)));
  }
  plan.hosts = hosts.take();
  plan.local = local_of(node_of_job, drill.local);
  RETURN_IF_ERROR(make_choices(drill, node_of_job, plan));
  if (plan.transport.kind == TransportKind::rdma) RETURN_IF_ERROR(check_rdma(plan));
  ASSIGN_OR_RETURN(plan.faults, plan_faults(drill, plan));
  RETURN_IF_ERROR(give_to_devices(drill, plan));
  RETURN_IF_ERROR(check_expectations(plan));
  RETURN_IF_ERROR(check_instances(plan));
  return plan;
}

}  // namespace rehearsal::plan
