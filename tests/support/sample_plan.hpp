#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/check.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::test {

using Profiles = std::map<std::string, std::shared_ptr<const profile::Profile>>;

/// A valid profile "sample" of `ranks` ranks: 1 ms of compute beside an all_to_all (stream "side"),
/// then an all_reduce of 1 MiB, in phases forward and backward.
inline profile::Profile sample_profile(std::uint32_t ranks) {
  profile::Profile profile;
  profile.name = "sample";
  profile.ranks = ranks;
  profile.streams = {"main", "side"};
  profile.phases = {"forward", "backward"};
  std::vector<Rank> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) all.push_back(Rank{rank});
  profile.communicators = {{"world", all}};
  profile::Op compute;
  compute.name = "forward";
  compute.duration = std::chrono::milliseconds{1};
  profile::Op exchange;
  exchange.kind = profile::OpKind::all_to_all;
  exchange.name = "embeddings";
  exchange.stream = 1;
  exchange.bytes = Bytes{std::uint64_t{ranks} * 65536};
  profile::Op reduce;
  reduce.kind = profile::OpKind::all_reduce;
  reduce.name = "gradients";
  reduce.phase = 1;
  reduce.after = {1};
  reduce.bytes = Bytes{1U << 20};
  profile.classes = {{"all", all, {compute, exchange, reduce}}};
  profile.provenance.format = "written by hand";
  return profile;
}

/// host0 … with NICs data0, data1 at 10.79.<rail>.<host + 1>, 10 Gbit/s, MTU 9000.
inline std::vector<plan::Inventory> sample_inventories(std::uint32_t hosts,
                                                       std::uint32_t nics = 2) {
  std::vector<plan::Inventory> inventories;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    plan::Inventory& inventory = inventories.emplace_back();
    inventory.host = "host" + std::to_string(host);
    for (std::uint32_t nic = 0; nic < nics; ++nic) {
      inventory.nics.push_back(
          {.name = "data" + std::to_string(nic),
           .address = "10.79." + std::to_string(nic) + "." + std::to_string(host + 1),
           .line_rate = BitRate{10'000'000'000},
           .mtu = 9000});
    }
  }
  return inventories;
}

/// One job "sample" with profile "sample" on all of these hosts.
inline plan::Drill sample_drill(std::uint32_t hosts) {
  plan::Drill drill;
  drill.name = "sample-drill";
  plan::DrillJob& job = drill.jobs.emplace_back();
  job.name = "sample";
  job.profile = "sample";
  for (std::uint32_t host = 0; host < hosts; ++host) {
    job.hosts.push_back("host" + std::to_string(host));
  }
  return drill;
}

/// The plan of these three.
inline plan::Plan sample_plan(std::uint32_t ranks, std::uint32_t hosts) {
  const Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(sample_profile(ranks))}};
  auto plan = plan::make_plan(sample_drill(hosts), sample_inventories(hosts), profiles);
  CHECK(plan.has_value(), "the sample is valid");
  return std::move(*plan);
}

}  // namespace rehearsal::test
