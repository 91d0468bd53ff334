// Jobs whose ranks stand on multi-GPU nodes: where they are put, what is picked, what is said of
// it.
#include <gmock/gmock.h>

#include "core/plan/choices.hpp"
#include "core/plan/explain.hpp"
#include "core/plan/flow_list.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/plan_codec.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"
#include "core/plan/plan_warnings.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using collective::Algorithm;
using profile::OpKind;
using test::sample_drill;
using test::sample_inventories;
using test::sample_profile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  explicit Case(std::uint32_t ranks = 32, std::uint32_t hosts = 4, std::uint32_t nics = 8)
      : drill(sample_drill(hosts)),
        inventories(sample_inventories(hosts, nics)),
        profile(sample_profile(ranks)) {
    drill.jobs[0].node = "h100";
  }

  Result<Plan> plan() const {
    return make_plan(drill, inventories,
                     {{"sample", std::make_shared<const profile::Profile>(profile)}}, nodes);
  }
  Plan good() const {
    auto made = plan();
    if (!made) throw std::runtime_error(made.error().text());
    return std::move(*made);
  }
  std::string failure() const {
    const auto made = plan();
    return made ? "" : made.error().text();
  }

  Drill drill;
  std::vector<Inventory> inventories;
  profile::Profile profile;
  Nodes nodes;
};

TEST(Nodes, RankRStandsOnGpuRAndItsRail) {
  const Plan plan = Case{}.good();
  const PlannedJob& job = plan.jobs[0];
  ASSERT_TRUE(job.node);
  EXPECT_EQ(*job.node,
            (PlannedNode{.name = "h100", .ranks = 8, .rails = 8, .per_host = 1, .assumed = {}}));
  EXPECT_EQ(job.seats[13], (Seat{1, 5}));
  EXPECT_EQ(job.bindings[13], (Binding{HostIndex{1}, NicIndex{5}}));
  EXPECT_EQ(plan.local.rate, fabric::usual_node("h100")->inside_bandwidth);
  EXPECT_EQ(plan.local.latency, fabric::usual_node("h100")->inside_latency);
}

TEST(Nodes, SeveralShareAHostAndWhatPassesBetweenThemIsOffTheWire) {
  Case c{32, 2, 2};
  const Plan plan = c.good();
  EXPECT_EQ(plan.jobs[0].node->per_host, 2U);
  EXPECT_EQ(plan.jobs[0].bindings[8], (Binding{HostIndex{0}, NicIndex{0}})) << "second node";
  EXPECT_EQ(plan.jobs[0].bindings[11].nic, NicIndex{1}) << "rail 3 of two NICs";
  const Load load = expand_load(plan);
  EXPECT_GT(load.jobs[0].on_wire.count(), 0U);
  EXPECT_GT(load.jobs[0].local_between_nodes.count(), 0U);
  EXPECT_LT(load.jobs[0].local_between_nodes, load.jobs[0].local);
  EXPECT_THAT(plan_warnings(plan, load),
              ElementsAre(StartsWith("job 'sample': up to 2 nodes share a host; "),
                          "job 'sample': its nodes have 8 rails, host 'host0' 2 NICs: rail r takes "
                          "NIC r mod 2"));
}

TEST(Nodes, AJobThatStaysInsideNodesIsWarnedOf) {
  Case c{8, 1};
  const Plan plan = c.good();
  EXPECT_THAT(
      plan_warnings(plan, expand_load(plan)),
      ElementsAre("job 'sample': all its communication stays inside nodes, so nothing of it "
                  "reaches the wire"));
  Case two{16, 1};
  const Plan shared = two.good();
  EXPECT_THAT(plan_warnings(shared, expand_load(shared)),
              testing::Contains("job 'sample': all its nodes share one host, so nothing of it "
                                "reaches the wire"));
}

TEST(Nodes, CommunicatorsInsideANodeAreWarnedOf) {
  Case c{16, 2};
  std::vector<Rank> first;
  for (std::uint32_t rank = 0; rank < 8; ++rank) first.push_back(Rank{rank});
  c.profile.communicators.push_back({"tensor", first});
  profile::RankClass half = c.profile.classes[0];
  half.ranks = first;
  c.profile.classes[0].ranks.erase(c.profile.classes[0].ranks.begin(),
                                   c.profile.classes[0].ranks.begin() + 8);
  half.name = "half";
  profile::Op op = half.ops[2];
  op.communicator = CommunicatorIndex{1};
  op.after.clear();
  half.ops.push_back(op);
  c.profile.classes.push_back(half);
  const Plan plan = c.good();
  EXPECT_THAT(
      plan_warnings(plan, expand_load(plan)),
      ElementsAre(HasSubstr("stay inside a node, so nothing of their collectives reaches the "
                            "wire: 'tensor'")));
}

TEST(Nodes, SaysWhatDoesNotFit) {
  Case c;
  c.drill.jobs[0].node = "h10";
  EXPECT_THAT(c.failure(), HasSubstr("jobs[0].node: 'h10' is not known; did you mean 'h100'?"));
  c.drill.jobs[0].node = "h100";
  c.drill.jobs[0].ranks_per_node = 9;
  EXPECT_THAT(c.failure(), HasSubstr("jobs[0].ranks_per_node: 9 ranks on nodes of 8 GPUs"));
  c.drill.jobs[0].ranks_per_node = 5;
  EXPECT_THAT(c.failure(), HasSubstr("do not fill nodes of 5"));
  c.drill.jobs[0].ranks_per_node = 0;
  c.drill.jobs[0].nodes_per_host = 2;
  EXPECT_THAT(c.failure(),
              HasSubstr("2 on each of 4 hosts makes 8 nodes, but 32 ranks make 4; list "
                        "2 hosts, or leave it out"));
  Case few{16, 4};
  EXPECT_THAT(few.failure(), HasSubstr("4 hosts for 2 nodes; at most one host a node: list 2"));
}

TEST(Nodes, TheModelPicksAndTheDrillForces) {
  Case c;
  const auto choice = [](const Plan& plan, OpKind kind) {
    for (const OpChoice& picked : plan.jobs[0].choices)
      if (picked.kind == kind) return picked.choice;
    throw std::runtime_error("no such op");
  };
  c.drill.forced.nccl.algorithms[*collective::function_index(OpKind::all_reduce)].fill(false);
  EXPECT_THAT(c.failure(), HasSubstr("no algorithm is left for all_reduce"));
  c.drill.forced = {};
  c.drill.forced.algorithm = Algorithm::halving_doubling;
  EXPECT_EQ(choice(c.good(), OpKind::all_reduce).algorithm, Algorithm::halving_doubling);
  c.drill.forced = {};
  c.drill.forced.nccl.channels_min = c.drill.forced.nccl.channels_max = 3;
  c.drill.forced.chunk = Bytes{64U << 10};
  EXPECT_EQ(choice(c.good(), OpKind::all_reduce).chunk, Bytes{64U << 10});
  c.drill.forced = {};
  c.drill.forced.credits = 1;
  EXPECT_THAT(c.failure(), HasSubstr("collectives.credits: is 1"));
}

TEST(Nodes, APlanGoesOverTheWireWithThem) {
  const Plan plan = Case{32, 2, 3}.good();
  const auto read = decode(encode(plan));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->jobs[0].node, plan.jobs[0].node);
  EXPECT_EQ(read->jobs[0].seats, plan.jobs[0].seats);
  EXPECT_EQ(read->jobs[0].choices, plan.jobs[0].choices);
  EXPECT_EQ(plan_hash(*read), plan_hash(plan));
  const std::string bytes = encode(plan);
  for (std::size_t size = bytes.size() - 300; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)));

  Plan broken = plan;
  broken.jobs[0].choices.pop_back();
  EXPECT_THAT(decode(encode(broken)).error().message, HasSubstr("nothing is picked for an op"));
  broken = plan;
  for (OpChoice& picked : broken.jobs[0].choices)
    picked.choice.algorithm = Algorithm::collnet_chain;
  EXPECT_THAT(decode(encode(broken)).error().message, HasSubstr("cannot take the algorithm"));
}

TEST(Nodes, TheHashCoversSeatsAndChoices) {
  const Plan plan = Case{}.good();
  Plan other = plan;
  other.jobs[0].seats[0].rail = 1;
  EXPECT_NE(plan_hash(other), plan_hash(plan));
  other = plan;
  other.jobs[0].choices[0].choice.channels += 1;
  EXPECT_NE(plan_hash(other), plan_hash(plan));
  other = plan;
  other.jobs[0].node->name = "renamed";
  EXPECT_EQ(plan_hash(other), plan_hash(plan));
}

TEST(Nodes, BothEndsOfEveryConnectionAgreeOnItsRail) {
  for (const std::uint32_t pxn : {0U, 2U}) {
    Case c{32, 2, 3};
    c.drill.collectives.pxn_level = pxn;
    const Plan plan = c.good();
    const Load load = expand_load(plan);
    std::uint64_t outgoing = 0;
    for (std::uint32_t host = 0; host < 2; ++host) {
      const Connections connections = connections_of(plan, HostIndex{host});
      EXPECT_EQ(connections.outgoing.size(), load.connections[host].outgoing);
      EXPECT_EQ(connections.incoming.size(), load.connections[host].incoming);
      EXPECT_EQ(connections.local.size(), load.connections[host].local);
      outgoing += connections.outgoing.size();
    }
    EXPECT_GT(outgoing, 0U);
    std::map<std::pair<HostIndex, NicIndex>, Bytes> sent;
    FlowList list{plan};
    for (FlowLine line; list.next(line);)
      if (line.passage == Passage::wire) sent[{line.from.host, line.from.nic}] += line.bytes;
    for (const NicLoad& nic : load.nics)
      EXPECT_EQ((sent[{nic.host, nic.nic}]), nic.sent) << "pxn " << pxn;
  }
}

TEST(Nodes, TableJsonAndExplanationAreStable) {
  Case c{32, 2, 2};
  c.drill.iterations = 3;
  const Plan plan = c.good();
  const Load load = expand_load(plan);
  test::expect_golden("plan/nodes_table.txt", plan_table(plan, load));
  test::expect_golden("plan/nodes.json", plan_json(plan, load));
  test::expect_golden("plan/nodes_explain.txt", explain(plan, c.drill, c.nodes));
}

}  // namespace
}  // namespace rehearsal::plan
