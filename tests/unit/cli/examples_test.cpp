// The drills of docs/examples: each can be planned as it stands, and those that show something
// about nodes, rails and algorithms show it.
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "cli/drill_file.hpp"
#include "cli/local_plan.hpp"
#include "core/plan/explain.hpp"

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMiB = 1U << 20;

fs::path examples() { return fs::path(REHEARSAL_SOURCE_DIR) / "docs/examples"; }

struct Example {
  DrillFile drill;
  LocalPlan local;
};

Example planned(const std::string& name, const std::function<void(plan::Drill&)>& change = {}) {
  auto drill = load_drill(examples() / (name + ".yaml"));
  if (!drill) throw std::runtime_error(drill.error().text());
  if (change) change(drill->drill);
  auto local = plan_without_cluster(*drill);
  if (!local) throw std::runtime_error(local.error().text());
  return {std::move(*drill), std::move(*local)};
}

/// Bytes from host to host on one rail.
using Edges = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;
Edges edges_on(const plan::Load& load, std::uint32_t rail) {
  Edges edges;
  for (const plan::Flow& flow : load.flows) {
    if (flow.source_nic.value != rail) continue;
    edges[{flow.source_host.value, flow.destination_host.value}] += flow.bytes.count();
  }
  return edges;
}

Edges both_ways(std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> pairs,
                std::uint64_t bytes) {
  Edges edges;
  for (const auto& [a, b] : pairs) edges[{a, b}] = edges[{b, a}] = bytes;
  return edges;
}

TEST(Examples, EachCanBePlanned) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator(examples())) {
    if (entry.path().extension() != ".yaml") continue;
    ++found;
    EXPECT_NO_THROW({
      const Example example = planned(entry.path().stem());
      EXPECT_GT(example.local.load.jobs.at(0).on_wire.count(), 0U) << entry.path();
      EXPECT_FALSE(
          plan::explain(example.local.plan, example.drill.drill, nodes_of(example.drill)).empty());
    }) << entry.path();
  }
  EXPECT_GE(found, 6);
}

// n = 16 ranks, S = 1 GiB: 2 (n-1)/n S a node and direction, an eighth of it on each rail.
TEST(Examples, ARingOnTwoNodesUsesEightRailsAlikeAndKeepsToThem) {
  const Example example = planned("two-nodes-eight-rails");
  const plan::Load& load = example.local.load;
  ASSERT_EQ(load.nics.size(), 16U);
  for (const plan::NicLoad& nic : load.nics) {
    EXPECT_EQ(nic.sent.count(), 240 * kMiB);
    EXPECT_EQ(nic.received.count(), 240 * kMiB);
  }
  EXPECT_EQ(load.flow_count, 16U) << "each NIC to the one of its rail";
  for (const plan::Flow& flow : load.flows) EXPECT_EQ(flow.source_nic, flow.destination_nic);
  // 16 ranks send 2 (n-1)/n S each; what is not on the wire stayed inside nodes.
  EXPECT_EQ((load.jobs[0].on_wire + load.jobs[0].local).count(), 2 * 15 * 1024 * kMiB);
  EXPECT_EQ(load.jobs[0].local_between_nodes.count(), 0U);
}

// S = 16 MiB a rank: S (n-8)/n of each rank cross.
TEST(Examples, WithPxnAnAllToAllLeavesOnTheRailOfItsDestination) {
  const Example example = planned("pxn-all-to-all");
  const plan::Load& load = example.local.load;
  EXPECT_EQ(load.jobs[0].on_wire.count(), 16 * 8 * kMiB);
  for (const plan::NicLoad& nic : load.nics) {
    EXPECT_EQ(nic.sent.count(), 8 * kMiB);
    EXPECT_EQ(nic.received.count(), 8 * kMiB);
  }
  EXPECT_EQ(load.flow_count, 16U);
  for (const plan::Flow& flow : load.flows) EXPECT_EQ(flow.source_nic, flow.destination_nic);

  const Example without =
      planned("pxn-all-to-all", [](plan::Drill& drill) { drill.collectives.pxn_level = 0; });
  EXPECT_EQ(without.local.load.flow_count, 2 * 64U) << "every rail to every rail";
  EXPECT_EQ(without.local.load.jobs[0].on_wire.count(), 16 * 8 * kMiB);
}

TEST(Examples, TreesOnFiveNodesHaveNcclsEdges) {
  const Example example = planned("trees-on-five-nodes");
  const plan::Load& load = example.local.load;
  // Each of the two channels takes half of the 8 MiB, up and down every edge of its tree.
  EXPECT_EQ(edges_on(load, 0), both_ways({{0, 4}, {4, 2}, {2, 1}, {2, 3}}, 4 * kMiB));
  EXPECT_EQ(edges_on(load, 1), both_ways({{1, 0}, {0, 3}, {3, 2}, {3, 4}}, 4 * kMiB));
  EXPECT_THAT(plan::explain(example.local.plan, example.drill.drill, nodes_of(example.drill)),
              testing::AllOf(testing::HasSubstr("taken out by NCCL_ALGO"),
                             testing::HasSubstr("SHARP"), testing::HasSubstr("picked")));
}

}  // namespace
}  // namespace rehearsal::cli
