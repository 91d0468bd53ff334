#include "core/plan/instance_estimate.hpp"

#include <gmock/gmock.h>

#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using testing::Each;
using testing::HasSubstr;

TEST(InstanceEstimate, ACollectiveCountsOnceAHostAndAMessageOnceARank) {
  Plan plan = test::sample_plan(4, 2);
  auto profile = std::make_shared<profile::Profile>(*plan.jobs[0].profile);
  const std::uint32_t size = profile->communicators[0].size();
  ASSERT_GE(size, 2U);
  for (profile::RankClass& ranks : profile->classes) {
    ranks.ops.clear();
    for (const auto kind : {profile::OpKind::all_reduce, profile::OpKind::barrier}) {
      profile::Op op;
      op.kind = kind;
      ranks.ops.push_back(op);
    }
  }
  plan.jobs.resize(1);
  plan.jobs[0].profile = profile;
  EXPECT_THAT(instances_per_iteration(plan), Each(2U));

  for (profile::RankClass& ranks : profile->classes) {
    profile::Op op;
    op.kind = profile::OpKind::send;
    ranks.ops.push_back(op);
  }
  std::vector<std::uint64_t> expected(plan.hosts.size(), 2);
  for (const Binding& binding : plan.jobs[0].bindings) ++expected[binding.host.value];
  EXPECT_EQ(instances_per_iteration(plan), expected);
}

TEST(InstanceEstimate, SaysHowManyIterationsFit) {
  Plan plan = test::sample_plan(4, 2);
  const auto each = instances_per_iteration(plan);
  const std::uint64_t most = *std::ranges::max_element(each);
  plan.iterations = static_cast<std::uint32_t>(kInstancesPerHostMax / most);
  EXPECT_TRUE(check_instances(plan));
  ++plan.iterations;
  const auto refused = check_instances(plan);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("at most " + std::to_string(plan.iterations - 1) + " iterations"));
}

}  // namespace
}  // namespace rehearsal::plan
