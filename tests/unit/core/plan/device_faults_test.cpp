#include "core/plan/device_faults.hpp"

#include <gmock/gmock.h>

#include "core/plan/plan_codec.hpp"
#include "core/plan/plan_faults.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using fault::Mechanism;
using testing::AllOf;
using testing::HasSubstr;

/// Four hosts with one NIC each, whose devices limit queue pairs to 1 Mbit/s … 10 Gbit/s.
struct Planned {
  Planned() {
    drill.transport.kind = TransportKind::rdma;
    drill.faults = {{.name = "half",
                     .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
                     .where = {.hosts = {"host1"}, .side = fault::Side::sent},
                     .when = {.iteration = 2, .length = 10s, .iterations = 3}}};
    for (Inventory& host : inventories) {
      host.transports = {TransportKind::tcp, TransportKind::rdma};
      for (Nic& nic : host.nics)
        nic.rdma =
            RdmaPort{.device = "mlx5_0",
                     .active = true,
                     .gids = {{.type = GidType::roce_v2, .address = nic.address}},
                     .rate_limits = {.min = BitRate{1'000'000}, .max = BitRate{10'000'000'000}}};
    }
  }

  fault::Fault& fault() { return drill.faults[0]; }
  RdmaPort& port(std::size_t host) { return *inventories[host].nics[0].rdma; }
  Result<Plan> make() const {
    const test::Profiles profiles = {
        {"sample", std::make_shared<const profile::Profile>(test::sample_profile(4))}};
    return make_plan(drill, inventories, profiles);
  }
  std::string error() const {
    const auto plan = make();
    return plan ? "" : plan.error().text();
  }
  Mechanism mechanism() const {
    const auto plan = make();
    EXPECT_TRUE(plan) << plan.error().text();
    return plan ? plan->faults.at(0).mechanism : Mechanism::kernel;
  }

  Drill drill = test::sample_drill(4);
  std::vector<Inventory> inventories = test::sample_inventories(4, 1);
};

TEST(DeviceFaults, TheDevicesDoItWhereAllOfThemCan) {
  Planned planned;
  EXPECT_EQ(planned.mechanism(), Mechanism::device);
  const Plan plan = planned.make().value();
  const auto sending = connections_of(plan, HostIndex{1}).outgoing.size();
  EXPECT_EQ(device_text(plan, plan.faults[0]),
            "host1 data0: " + std::to_string(sending) + " queue pairs at " +
                format_bit_rate_exact(BitRate{5'000'000'000 / sending}) + " each");
  EXPECT_THAT(faults_table(plan),
              AllOf(HasSubstr("by     the RDMA device of each NIC"), HasSubstr("host1 data0: ")));
  EXPECT_EQ(decode(encode(plan)).value().faults, plan.faults);
}

TEST(DeviceFaults, EachQueuePairHasItsPart) {
  Planned planned;
  planned.drill.transport.rdma.queue_pairs = 4;
  planned.fault().what.of = BitRate{8'000'000'000};
  const Plan plan = planned.make().value();
  const Connections here = connections_of(plan, HostIndex{1});
  const auto cuts = device_cuts(plan, plan.faults[0], HostIndex{1}, here);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].connections.size(), here.outgoing.size());
  EXPECT_EQ(cuts[0].rates, std::vector{BitRate{4'000'000'000 / (4 * here.outgoing.size())}});
  EXPECT_TRUE(
      device_cuts(plan, plan.faults[0], HostIndex{0}, connections_of(plan, HostIndex{0})).empty());
}

TEST(DeviceFaults, APlaceNarrowsWhichQueuePairs) {
  Planned planned;
  planned.fault().where.peers = {"host2"};
  const Plan plan = planned.make().value();
  EXPECT_EQ(plan.faults[0].mechanism, Mechanism::device);
  const Connections here = connections_of(plan, HostIndex{1});
  const auto cuts = device_cuts(plan, plan.faults[0], HostIndex{1}, here);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_LT(cuts[0].connections.size(), here.outgoing.size());
}

TEST(DeviceFaults, OtherwiseTheSenderDoesItAndThePlanSaysWhy) {
  Planned planned;
  planned.port(1).rate_limits = {};
  EXPECT_EQ(planned.mechanism(), Mechanism::sender);
  const Plan plan = planned.make().value();
  EXPECT_THAT(faults_table(plan),
              HasSubstr("not the RDMA devices: host 'host1', NIC data0: mlx5_0 has no limit"));
  planned = {};
  planned.fault().where.side = fault::Side::both;
  EXPECT_EQ(planned.mechanism(), Mechanism::sender);
  EXPECT_THAT(faults_table(planned.make().value()), HasSubstr("what its queue pairs send"));
  planned = {};
  planned.port(1).rate_limits.max = BitRate{100'000'000};
  EXPECT_EQ(planned.mechanism(), Mechanism::sender);
  planned = {};
  planned.fault().mechanism = Mechanism::sender;
  EXPECT_EQ(planned.mechanism(), Mechanism::sender) << "as the drill says";
  EXPECT_EQ(device_text(planned.make().value(), planned.make()->faults[0]), "");
  planned = {};
  planned.drill.transport.kind = TransportKind::tcp;
  EXPECT_EQ(planned.mechanism(), Mechanism::sender);
}

TEST(DeviceFaults, WhatTheDrillGivesThemIsRefusedWhereTheyCannot) {
  Planned planned;
  planned.fault().mechanism = Mechanism::device;
  EXPECT_EQ(planned.error(), "");
  planned.port(1).rate_limits = {};
  EXPECT_THAT(planned.error(),
              AllOf(HasSubstr("faults[0].mechanism"), HasSubstr("mlx5_0 has no limit of its own"),
                    HasSubstr("mechanism: sender")));
  planned.port(1).rate_limits = {.min = BitRate{4'000'000'000}, .max = BitRate{10'000'000'000}};
  EXPECT_THAT(planned.error(), AllOf(HasSubstr("faults[0].what.to"), HasSubstr("for each of its"),
                                     HasSubstr("mlx5_0 limits one to 4Gbit/s … 10Gbit/s")));
  planned = {};
  planned.fault().mechanism = Mechanism::device;
  planned.fault().where.side = fault::Side::received;
  EXPECT_THAT(planned.error(),
              AllOf(HasSubstr("faults[0].where.direction"), HasSubstr("not what they receive")));
  planned = {};
  planned.fault().mechanism = Mechanism::device;
  planned.fault().when = {.length = 10s, .on = 1ms, .off = 1ms};
  EXPECT_THAT(planned.error(), HasSubstr("faults[0].when.repeat"));
  planned = {};
  planned.fault().mechanism = Mechanism::device;
  planned.drill.transport.rdma.rate_limit = BitRate{1'000'000};
  EXPECT_THAT(planned.error(), HasSubstr("no less than transport.rate_limit, 1Mbit/s"));
  planned = {};
  planned.fault().mechanism = Mechanism::device;
  planned.drill.transport.kind = TransportKind::tcp;
  EXPECT_THAT(planned.error(), AllOf(HasSubstr("over tcp there are no queue pairs"),
                                     HasSubstr("mechanism: sender, or transport rdma")));
}

TEST(DeviceFaults, ADamagedPlanIsRefusedByTheAgent) {
  Plan plan = Planned().make().value();
  const Connections here = connections_of(plan, HostIndex{1});
  EXPECT_FALSE(device_cannot(plan, plan.faults[0], HostIndex{1}, here));
  plan.hosts[1].nics[0].line_rate = {};  // the level would be a part of nothing: no limit at all
  EXPECT_TRUE(device_cannot(plan, plan.faults[0], HostIndex{1}, here));
}

}  // namespace
}  // namespace rehearsal::plan
