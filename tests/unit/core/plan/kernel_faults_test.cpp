#include "core/plan/kernel_faults.hpp"

#include <gmock/gmock.h>

#include "core/plan/plan_codec.hpp"
#include "core/plan/plan_table.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using fault::Fault;
using fault::Kind;
using fault::Mechanism;
using testing::AllOf;
using testing::HasSubstr;

/// Four hosts whose helpers allow everything on data0 and data1 for a minute; one fault of the
/// kernel on host1.
struct Planned {
  Planned() {
    for (Inventory& inventory : inventories)
      inventory.kernel = {.helper = true,
                          .faults = {fault::kFaultKinds.begin(), fault::kFaultKinds.end()},
                          .interfaces = {"data0", "data1"},
                          .duration_max = 1min};
    drill.faults = {{.name = "cut",
                     .what = {.kind = Kind::rate, .levels = {{.rate = {500'000}}}},
                     .where = {.hosts = {"host1"}, .nics = {"data0"}, .side = fault::Side::sent},
                     .when = {.iteration = 2, .length = 10s, .iterations = 3},
                     .mechanism = Mechanism::kernel}};
  }
  Fault& fault() { return drill.faults.front(); }
  Inventory& host() { return inventories[1]; }
  Result<Plan> make() const { return make_plan(drill, inventories, profiles); }
  std::string error() const {
    const auto plan = make();
    return plan ? "" : plan.error().text();
  }
  std::vector<fault::KernelPart> parts() const {
    const auto plan = make();
    EXPECT_TRUE(plan) << plan.error().text();
    const auto parts = kernel_parts(*plan, HostIndex{1}, inventories[1]);
    EXPECT_TRUE(parts) << parts.error().text();
    return *parts;
  }

  Drill drill = test::sample_drill(4);
  std::vector<Inventory> inventories = test::sample_inventories(4);
  test::Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(test::sample_profile(8))}};
};

TEST(KernelFaultsOfAPlan, BecomeWhatTheHelperIsAskedFor) {
  Planned planned;
  planned.fault().what.levels.push_back({.rate = {250'000}});
  planned.fault().when.iterations = 4;
  const auto parts = planned.parts();
  ASSERT_EQ(parts.size(), 1U);
  ASSERT_EQ(parts[0].levels.size(), 2U);
  EXPECT_EQ(parts[0].levels[0], (fault::KernelFault{"data0", fault::Direction::sent,
                                                    fault::RateCap{BitRate{5'000'000'000}}}));
  EXPECT_EQ(parts[0].levels[1].effect, fault::Effect{fault::RateCap{BitRate{2'500'000'000}}});
  const auto plan = planned.make();
  EXPECT_TRUE(kernel_parts(*plan, HostIndex{0}, planned.inventories[0])->empty());
}

TEST(KernelFaultsOfAPlan, EachKindHasItsOwnEffect) {
  Planned planned;
  const auto effect = [&](fault::What what, fault::Side side = fault::Side::sent) {
    planned.fault().what = std::move(what);
    planned.fault().where.side = side;
    return planned.parts().at(0).levels.at(0).effect;
  };
  using fault::Effect;
  using fault::Impairment;
  EXPECT_EQ(effect({.kind = Kind::delay, .levels = {{.delay = 5ms}}, .jitter = 1ms}),
            (Effect{Impairment{.delay = 5ms, .jitter = 1ms}}));
  EXPECT_EQ(effect({.kind = Kind::loss, .levels = {{.share = {1000}}}}),
            (Effect{Impairment{.loss = {1000}}}));
  EXPECT_EQ(effect({.kind = Kind::duplicate, .levels = {{.share = {1000}}}}),
            (Effect{Impairment{.duplicate = {1000}}}));
  EXPECT_EQ(effect({.kind = Kind::reorder, .levels = {{.delay = 2ms, .share = {1000}}}}),
            (Effect{Impairment{.delay = 2ms, .reorder = {1000}}}));
  EXPECT_EQ(effect({.kind = Kind::corrupt, .levels = {{.share = {1000}}}}),
            (Effect{Impairment{.corrupt = {1000}}}));
  EXPECT_EQ(effect({.kind = Kind::blackhole, .levels = {{}}}), Effect{fault::Blackhole{}});
  EXPECT_EQ(effect({.kind = Kind::link_down, .levels = {{}}}, fault::Side::both),
            Effect{fault::LinkDown{}});
  EXPECT_EQ(effect({.kind = Kind::mtu, .levels = {{.mtu = 1500}}}, fault::Side::both),
            Effect{fault::SmallerMtu{1500}});
}

TEST(KernelFaultsOfAPlan, PauseFramesAreOfOneDirectionOrBothAndOfAnyTransport) {
  Planned planned;
  planned.fault().what = {.kind = Kind::flow_control, .levels = {{.pause_frames = true}}};
  for (const auto& [side, direction] : {std::pair{fault::Side::sent, fault::Direction::sent},
                                        {fault::Side::received, fault::Direction::received},
                                        {fault::Side::both, fault::Direction::both}}) {
    planned.fault().where.side = side;
    const auto parts = planned.parts();
    EXPECT_EQ(parts.at(0).levels.at(0),
              (fault::KernelFault{"data0", direction, fault::PauseFrames{true}}));
  }
}

TEST(KernelFaultsOfAPlan, WithoutANicEachThatTheDrillUses) {
  Planned planned;
  planned.fault().where.nics = {};
  EXPECT_EQ(planned.parts().size(), 2U);
  planned.drill.jobs[0].nics = {"data1"};
  ASSERT_EQ(planned.parts().size(), 1U);
  EXPECT_EQ(planned.parts()[0].levels[0].interface, "data1");
}

TEST(KernelFaultsOfAPlan, WhatTheHostDoesNotAllowIsRefusedWithWhoCould) {
  Planned planned;
  planned.host().kernel.helper = false;
  EXPECT_THAT(planned.error(),
              AllOf(HasSubstr("faults[0].mechanism"), HasSubstr("'host1' has no rehearsal-helper"),
                    HasSubstr("rate (mechanism: sender)")));
  planned = {};
  planned.host().kernel.faults = {fault::FaultKind::mtu};
  EXPECT_THAT(planned.error(), HasSubstr("policy of host 'host1' does not allow rate"));
  planned = {};
  planned.host().kernel.interfaces = {"data1"};
  EXPECT_THAT(planned.error(),
              AllOf(HasSubstr("faults[0].where:"), HasSubstr("does not allow faults on 'data0'"),
                    HasSubstr("mechanism: sender")));
  planned = {};
  planned.host().kernel.duration_max = 5s;
  EXPECT_THAT(planned.error(),
              AllOf(HasSubstr("faults[0].when.for: is 10s"), HasSubstr("allows at most 5s")));
  planned = {};
  planned.host().control_interfaces = {"data0"};
  EXPECT_THAT(planned.error(), HasSubstr("carries its control connection or default route"));
}

TEST(KernelFaultsOfAPlan, WhatNoKernelCanDoIsRefusedWithWhoCould) {
  Planned planned;
  planned.fault().where.side = fault::Side::both;
  EXPECT_THAT(planned.error(),
              AllOf(HasSubstr("faults[0].where.direction"), HasSubstr("not what it receives"),
                    HasSubstr("direction: sent")));
  planned = {};
  planned.fault().where.peers = {"host2"};
  EXPECT_THAT(planned.error(), AllOf(HasSubstr("where.peers"), HasSubstr("mechanism: sender")));
  planned = {};
  planned.fault().where.hosts = {};
  planned.fault().where.ranks = {2};
  EXPECT_THAT(planned.error(), HasSubstr("where.ranks"));
  planned = {};
  planned.fault().where.communicator = "world";
  EXPECT_THAT(planned.error(), HasSubstr("where.communicator"));
  planned = {};
  planned.fault().what = {.kind = Kind::link_down, .levels = {{}}};
  EXPECT_THAT(planned.error(), HasSubstr("meets both directions"));
  planned = {};
  planned.fault().what = {.kind = Kind::delay, .levels = {{.delay = 11s}}};
  EXPECT_THAT(planned.error(), AllOf(HasSubstr("faults[0].what"), HasSubstr("at most 10s")));
  planned = {};
  planned.fault().when.iterations = 0;
  planned.fault().when.on = 10ms;
  planned.fault().when.off = 1s;
  EXPECT_THAT(planned.error(), AllOf(HasSubstr("when.repeat"), HasSubstr("at least 100ms")));
}

TEST(KernelFaultsOfAPlan, AreNotForRdmaUnlessTheyAreOfTheInterface) {
  Planned planned;
  auto plan = planned.make();
  ASSERT_TRUE(plan);
  plan->transport.kind = TransportKind::rdma;
  EXPECT_THAT(
      kernel_parts(*plan, HostIndex{1}, planned.host()).error().text(),
      AllOf(HasSubstr("does not pass the kernel's queues"), HasSubstr("mechanism: sender")));
  plan->hosts[1].nics[0].rdma =
      RdmaPort{.device = "mlx5_0",
               .gids = {},
               .rate_limits = {.min = BitRate{1'000'000}, .max = BitRate{10'000'000'000}}};
  EXPECT_THAT(kernel_parts(*plan, HostIndex{1}, planned.host()).error().text(),
              HasSubstr("mechanism: device (mlx5_0 limits rates), or sender"));
  plan->faults[0].what = {.kind = Kind::link_down, .levels = {{}}};
  plan->faults[0].places[0].side = fault::Side::both;
  EXPECT_TRUE(kernel_parts(*plan, HostIndex{1}, planned.host()));
}

TEST(KernelFaultsOfAPlan, AreLookedAtAgainByTheHostItself) {
  const Planned planned;
  const auto plan = decode(encode(*planned.make()));
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->hosts[1], without_kernel(planned.inventories[1]));
  EXPECT_EQ(kernel_parts(*plan, HostIndex{1}, planned.inventories[1])->size(), 1U);
  Inventory now = planned.inventories[1];
  now.kernel.faults.clear();
  EXPECT_THAT(kernel_parts(*plan, HostIndex{1}, now).error().text(),
              AllOf(HasSubstr("fault 'cut'"), HasSubstr("does not allow rate")));
  Plan broken = *plan;
  broken.faults[0].places[0].nic.reset();
  EXPECT_FALSE(kernel_parts(broken, HostIndex{1}, planned.inventories[1]));
}

TEST(KernelFaultsOfAPlan, SayWhoDoesThemAndForWhom) {
  const auto plan = Planned{}.make();
  EXPECT_THAT(plan_table(*plan, expand_load(*plan)),
              AllOf(HasSubstr("by rehearsal-helper"), HasSubstr("not for rdma"),
                    HasSubstr("undone 5s after the coordinator's last word")));
}

}  // namespace
}  // namespace rehearsal::plan
