#include "core/fault/host_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::fault {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::string_view kText = R"(agent: rehearsal-agent
faults: [rate, delay]
interfaces: [eth1, eth2]
control_interfaces: [eth0]
duration_max: 5min
)";

LinkTable table() {
  return {.links = {{.index = 1, .name = "lo", .is_loopback = true},
                    {.index = 2, .name = "eth0"},
                    {.index = 3, .name = "eth1"},
                    {.index = 4, .name = "eth2"}},
          .default_route = {}};
}

FaultRequest rate_on(const std::string& interface) {
  return {.fault = {interface, Direction::sent, RateCap{BitRate{1'000'000'000}}},
          .lease = seconds{5},
          .duration = seconds{60}};
}

std::string refusal(const HostPolicy& policy, const FaultRequest& request,
                    const LinkTable& links = table()) {
  const auto decided = decide(policy, request, links);
  return decided ? "" : decided.error().text();
}

TEST(HostPolicy, IsRead) {
  const auto policy = read_host_policy(kText, "policy.yaml");
  ASSERT_TRUE(policy) << policy.error().text();
  EXPECT_EQ(policy->agent, "rehearsal-agent");
  EXPECT_EQ(policy->faults, (std::vector{FaultKind::rate, FaultKind::delay}));
  EXPECT_EQ(policy->interfaces, (std::vector<std::string>{"eth1", "eth2"}));
  EXPECT_EQ(policy->duration_max, std::chrono::minutes{5});
  EXPECT_FALSE(policy->test_stops);
}

TEST(HostPolicy, WrongFilesAreRefusedWithThePlace) {
  const auto problem = [](std::string_view text) {
    const auto policy = read_host_policy(text, "policy.yaml");
    return policy ? std::string() : policy.error().text();
  };
  EXPECT_THAT(problem("faults: [rate, shout]"), HasSubstr("policy.yaml:1:16"));
  EXPECT_THAT(problem("faults: [rate, rate]"), HasSubstr("twice"));
  EXPECT_THAT(problem("duration_max: 25h"), HasSubstr("24h"));
  EXPECT_THAT(problem("duration_max: 5"), HasSubstr("duration"));
  EXPECT_THAT(problem("interface: [eth1]"), HasSubstr("interface"));
  EXPECT_THAT(problem("interfaces: [eth0]\ncontrol_interfaces: [eth0]"),
              HasSubstr("control interface"));
}

TEST(HostPolicy, AllowsWhatItNames) {
  const HostPolicy policy = read_host_policy(kText, "policy.yaml").value();
  EXPECT_EQ(decide(policy, rate_on("eth1"), table()).value(), 3U);
}

TEST(HostPolicy, RefusesAllElse) {
  const HostPolicy policy = read_host_policy(kText, "policy.yaml").value();
  FaultRequest lossy = rate_on("eth1");
  lossy.fault.effect = Impairment{.delay = seconds{1}, .loss = Share{10}};
  EXPECT_THAT(refusal(policy, lossy), HasSubstr("does not allow loss"));
  EXPECT_THAT(refusal(policy, rate_on("eth3")), HasSubstr("eth3"));
  FaultRequest endless = rate_on("eth1");
  endless.duration = Duration::zero();
  EXPECT_THAT(refusal(policy, endless), HasSubstr("longest duration"));
  endless.duration = std::chrono::minutes{6};
  EXPECT_THAT(refusal(policy, endless), HasSubstr("5min"));
  FaultRequest long_lease = rate_on("eth1");
  long_lease.lease = seconds{11};
  EXPECT_THAT(refusal(policy, long_lease), HasSubstr("lease"));
  FaultRequest backwards = rate_on("eth1");
  backwards.fault.direction = Direction::received;
  EXPECT_EQ(decide(policy, backwards, table()).error().code, ErrorCode::unsupported);
}

TEST(HostPolicy, WithoutOneNothingIsAllowed) {
  EXPECT_NE(refusal(HostPolicy{}, rate_on("eth1")), "");
  EXPECT_NE(refusal(read_host_policy("{}", "policy.yaml").value(), rate_on("eth1")), "");
}

TEST(HostPolicy, ControlAndDefaultRouteAreNeverTouchedWhateverThePolicySays) {
  HostPolicy policy = read_host_policy(kText, "policy.yaml").value();
  policy.interfaces = {"lo", "eth0", "eth1", "eth2", "bond0", "vlan5"};
  EXPECT_THAT(refusal(policy, rate_on("eth0")), HasSubstr("control"));
  EXPECT_THAT(refusal(policy, rate_on("lo")), HasSubstr("loopback"));
  LinkTable links = table();
  links.default_route = {3};
  EXPECT_THAT(refusal(policy, rate_on("eth1"), links), HasSubstr("default route"));
  EXPECT_EQ(refusal(policy, rate_on("eth2"), links), "");
}

TEST(HostPolicy, WhatTheyStandOnIsNotTouchedEither) {
  HostPolicy policy = read_host_policy(kText, "policy.yaml").value();
  policy.control_interfaces = {"vlan5"};
  LinkTable links = table();
  links.links[2].master = 10;  // eth1 is a port of bond0, on which vlan5 stands
  links.links.push_back({.index = 10, .name = "bond0"});
  links.links.push_back({.index = 11, .name = "vlan5", .lower = 10});
  EXPECT_EQ(protected_interfaces(links, policy.control_interfaces),
            (std::set<std::uint32_t>{1, 3, 10, 11}));
  EXPECT_THAT(refusal(policy, rate_on("eth1"), links), HasSubstr("no fault may touch it"));
  EXPECT_EQ(refusal(policy, rate_on("eth2"), links), "");
}

}  // namespace
}  // namespace rehearsal::fault
