#include "cli/local_plan.hpp"

#include <gmock/gmock.h>

#include "cli/drill_file.hpp"
#include "core/plan/plan_json.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::cli {
namespace {

DrillFile sample(std::uint32_t ranks, std::uint32_t hosts) {
  DrillFile file;
  file.name = "drill.yaml";
  file.drill = test::sample_drill(hosts);
  file.profiles = {
      {"sample", "", std::make_shared<const profile::Profile>(test::sample_profile(ranks)), ranks}};
  return file;
}

TEST(LocalPlan, TakesTheHostsOfTheDrillAsIfTheyWereThere) {
  const auto local = plan_without_cluster(sample(8, 4));
  ASSERT_TRUE(local) << local.error().text();
  ASSERT_EQ(local->plan.hosts.size(), 4U);
  ASSERT_EQ(local->plan.hosts[3].nics.size(), 2U) << "a NIC a rank";
  EXPECT_EQ(local->plan.hosts[3].nics[1].name, "rail1");
  EXPECT_GT(local->load.nics[0].sent.count(), 0U);
}

TEST(LocalPlan, HasTheNicsThatTheDrillNames) {
  DrillFile file = sample(8, 4);
  file.drill.jobs[0].nics = {"ib0", "ib3"};
  const auto local = plan_without_cluster(file);
  ASSERT_TRUE(local) << local.error().text();
  EXPECT_EQ(local->plan.hosts[0].nics[1].name, "ib3");
}

TEST(LocalPlan, ThePlanOfACoordinatorIsMadeAgainFromItsPlanJson) {
  const plan::Plan plan = test::sample_plan(8, 4);
  const auto hosts = inventories_of(plan::plan_json(plan, plan::expand_load(plan)));
  ASSERT_TRUE(hosts) << hosts.error().text();
  EXPECT_EQ(hosts->at(2).nics, plan.hosts[2].nics);
  const auto local = plan_here(sample(8, 4), *hosts);
  ASSERT_TRUE(local) << local.error().text();
  EXPECT_EQ(plan::plan_hash(local->plan), plan::plan_hash(plan));
}

TEST(LocalPlan, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_THAT(inventories_of("nonsense").error().message, testing::HasSubstr("it is not JSON"));
  EXPECT_THAT(inventories_of("{}").error().message, testing::HasSubstr("hosts"));
  EXPECT_THAT(inventories_of("{\"hosts\": [{\"name\": 1}]}").error().code, ErrorCode::protocol);
}

}  // namespace
}  // namespace rehearsal::cli
