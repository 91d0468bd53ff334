// Faults inside the agent over every transport: they act, and nothing is lost by them.
#include <gtest/gtest.h>

#include "tests/conformance/transports.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::test {
namespace {

using namespace std::chrono_literals;
using fault::Kind;

constexpr std::uint32_t kRanks = 3;

plan::Plan healthy_plan() {
  plan::Plan plan =
      plan_of(profile_of(kRanks, {op_of(profile::OpKind::all_reduce, 5000)}), 1, small_settings());
  plan.iterations = 2;
  return plan;
}

plan::Plan plan_with(Kind kind, fault::Level level) {
  plan::Plan plan = healthy_plan();
  fault::PlannedFault fault{
      .name = "fault",
      .what = {.kind = kind, .levels = {level}, .of = BitRate{10'000'000}, .retransmission = 1ms},
      .when = {.length = 1h},
      .seed = 1};
  for (std::uint32_t host = 0; host < kRanks; ++host)
    fault.places.push_back({.host = HostIndex{host}});
  plan.faults = {fault};
  return plan;
}

class MessageFaults : public testing::TestWithParam<std::size_t> {
 protected:
  /// Plays the plan to its end; what each host's transport said it is bound to.
  std::vector<std::vector<std::string>> play(const plan::Plan& plan) {
    std::vector<std::vector<std::string>> bound;
    const auto clock = under_test_.make_clock();
    const auto make = under_test_.make(plan);
    Cluster cluster{plan, *clock, make};
    EXPECT_EQ(cluster.connect(), "");
    EXPECT_EQ(cluster.run(), "");
    const plan::Load load = plan::expand_load(plan);
    for (std::uint32_t host = 0; host < kRanks; ++host) {
      EXPECT_EQ(cluster.replayers()[host]->counters().received.count(),
                load.nics[host].received.count() * plan.iterations);
      bound.push_back(cluster.transport(HostIndex{host}).bound());
      hit_ += plan.faults.empty() ? 0 : cluster.faulted(HostIndex{host})->counts()[0].hit;
    }
    return bound;
  }

  TransportUnderTest under_test_ = transports_under_test()[GetParam()];
  std::uint64_t hit_ = 0;
};

TEST_P(MessageFaults, ActOverEveryTransportAndLoseNothing) {
  const auto bound = play(healthy_plan());
  for (const auto& [kind, level] :
       {std::pair(Kind::rate, fault::Level{.rate = {fault::Fraction::kWhole / 2}}),
        std::pair(Kind::delay, fault::Level{.delay = 200us}),
        std::pair(Kind::loss, fault::Level{.share = {fault::Fraction::kWhole / 4}})}) {
    SCOPED_TRACE(to_string(kind));
    hit_ = 0;
    EXPECT_EQ(play(plan_with(kind, level)), bound) << "the transport's own words";
    EXPECT_GT(hit_, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, MessageFaults,
                         testing::Range(std::size_t{0}, transports_under_test().size()),
                         [](const auto& instance) {
                           return transports_under_test()[instance.param].name;
                         });

}  // namespace
}  // namespace rehearsal::test
