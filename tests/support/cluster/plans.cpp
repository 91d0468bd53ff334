#include "tests/support/cluster/plans.hpp"

namespace rehearsal::test {

profile::Op op_of(profile::OpKind kind, std::uint64_t bytes, std::uint32_t peer) {
  profile::Op op;
  op.kind = kind;
  op.bytes = Bytes{bytes};
  op.peer = peer;
  return op;
}

profile::Op compute_of(Duration duration, std::uint32_t stream) {
  profile::Op op;
  op.duration = duration;
  op.stream = stream;
  return op;
}

profile::Profile profile_of(std::uint32_t ranks, std::vector<profile::Op> ops) {
  profile::Profile profile;
  profile.name = "test";
  profile.ranks = ranks;
  profile.streams = {"first", "second", "third", "fourth"};
  profile.phases = {"iteration"};
  profile::Communicator world{.name = "world", .ranks = {}};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) world.ranks.push_back(Rank{rank});
  profile.classes.push_back({.name = "all", .ranks = world.ranks, .ops = std::move(ops)});
  profile.communicators.push_back(std::move(world));
  return profile;
}

plan::Plan plan_of(profile::Profile profile, std::uint32_t ranks_per_host,
                   const plan::CollectiveSettings& settings) {
  plan::Plan plan;
  plan.drill = "test";
  plan::PlannedJob job;
  job.name = "job";
  for (std::uint32_t rank = 0; rank < profile.ranks; ++rank)
    job.bindings.push_back({HostIndex{rank / ranks_per_host}, NicIndex{0}});
  const std::uint32_t hosts = (profile.ranks + ranks_per_host - 1) / ranks_per_host;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    plan::Inventory inventory;
    inventory.host = "host" + std::to_string(host);
    plan::Nic nic;
    nic.name = "lo";
    nic.address = "127.0.0.1";
    inventory.nics.push_back(nic);
    plan.hosts.push_back(inventory);
  }
  job.profile = std::make_shared<const profile::Profile>(std::move(profile));
  plan.jobs.push_back(std::move(job));
  plan.collectives = settings;
  plan.iterations = 1;
  return plan;
}

plan::CollectiveSettings small_settings() {
  plan::CollectiveSettings settings;
  settings.chunk = Bytes{256};
  settings.pipeline_chunk = Bytes{96};
  settings.point_to_point_chunk = Bytes{128};
  settings.channel_bytes_min = Bytes{64};
  return settings;
}

}  // namespace rehearsal::test
