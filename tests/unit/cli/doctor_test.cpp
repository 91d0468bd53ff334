#include "cli/doctor.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace rehearsal::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

protocol::StatusReply healthy() {
  protocol::StatusReply status;
  for (const std::string host : {"h1", "h2"}) {
    protocol::AgentStatus& agent = *status.add_agents();
    agent.set_host(host);
    agent.set_software("rehearsal-agent 0.1.0");
    agent.mutable_clock()->set_known(true);
    agent.mutable_clock()->set_error_bound_ns(20'000);
    protocol::Nic& nic = *agent.add_nics();
    nic.set_name("eth2");
    nic.set_address("10.0.0." + host.substr(1));
    nic.set_mtu(9000);
    protocol::RdmaPort& port = *nic.mutable_rdma();
    port.set_device("mlx5_0");
    port.set_port(1);
    port.set_active(true);
    port.set_ethernet(true);
    port.set_mtu(4096);
    protocol::RdmaGid& gid = *port.add_gids();
    gid.set_type("RoCE v2");
    gid.set_address(nic.address());
  }
  return status;
}

std::size_t count(const std::vector<Finding>& findings, Finding::Health health) {
  return static_cast<std::size_t>(std::ranges::count(findings, health, &Finding::health));
}

std::string text(const protocol::StatusReply& status) {
  return host::findings_text(diagnose(status));
}

TEST(DoctorTest, WhatIsWellIsSaidToo) {
  const auto findings = diagnose(healthy());
  EXPECT_EQ(count(findings, Finding::Health::good), findings.size());
  EXPECT_THAT(host::findings_text(findings),
              HasSubstr("ok   h1 eth2: mlx5_0 port 1 active, GID 10.0.0.1 (RoCE v2)"));
  EXPECT_THAT(host::findings_json(findings), HasSubstr("\"fix\": null"));
}

TEST(DoctorTest, EveryFindingThatIsNotWellHasAFix) {
  protocol::StatusReply status = healthy();
  auto& first = *status.mutable_agents(0);
  auto& second = *status.mutable_agents(1);
  first.mutable_clock()->set_error_bound_ns(5'000'000);
  first.set_silence_ns(2'000'000'000);
  first.mutable_nics(0)->mutable_rdma()->set_mtu(1024);
  first.mutable_nics(0)->set_mtu(1500);
  second.set_software("rehearsal-agent 0.0.9");
  second.mutable_nics(0)->mutable_rdma()->mutable_gids(0)->set_type("RoCE v1");
  for (const Finding& finding : diagnose(status))
    EXPECT_EQ(finding.health == Finding::Health::good, finding.fix.empty()) << finding.what;
  const std::string all = text(status);
  EXPECT_THAT(all, HasSubstr("note h1: clock known to ±5.00 ms"));
  EXPECT_THAT(all, HasSubstr("BAD  h1: silent for 2.00 s"));
  EXPECT_THAT(all, HasSubstr("note h1 eth2: path MTU 1024 B"));
  EXPECT_THAT(all, HasSubstr("the interface has an MTU of 1500"));
  EXPECT_THAT(all, HasSubstr("the program's version differs"));
  EXPECT_THAT(all, HasSubstr("BAD  cluster: the kind of GID differs: RoCE v1 over IPv4 on h2 eth2; "
                             "RoCE v2 over IPv4 on h1 eth2"));
  EXPECT_THAT(all, HasSubstr("the path MTU differs: 1024 B on h1 eth2; 4096 B on h2 eth2"));
}

TEST(DoctorTest, WhatAHelperAllowsIsSaidAndWhatItCouldNotUndoIsBad) {
  protocol::StatusReply status = healthy();
  protocol::KernelOffer& offer = *status.mutable_agents(0)->mutable_kernel();
  offer.set_helper(true);
  offer.add_faults("rate");
  offer.add_faults("mtu");
  offer.add_interfaces("eth2");
  offer.set_duration_max_ns(60'000'000'000);
  status.mutable_agents(1)->mutable_kernel();
  status.mutable_agents(1)->set_blocked("STUCK: fault 3 could not be undone");
  EXPECT_THAT(text(status), HasSubstr("ok   h1: rehearsal-helper allows rate, mtu on eth2 for 60"));
  EXPECT_THAT(text(status), HasSubstr("ok   h2: no rehearsal-helper"));
  EXPECT_THAT(text(status), HasSubstr("BAD  h2: takes no runs: STUCK: fault 3"));
  EXPECT_THAT(text(status), HasSubstr("rehearse faults clear --host h2"));
}

TEST(DoctorTest, CommandsThatAHostRunsAreNamedAndThoseThatItCannotRun) {
  protocol::StatusReply status = healthy();
  EXPECT_THAT(text(status), Not(HasSubstr("rehearsal-external")));
  protocol::ExternalOffer& offer = *status.mutable_agents(0)->mutable_external();
  offer.set_runner(true);
  for (const char* name : {"port-down", "drain", "reload"}) offer.add_commands()->set_name(name);
  offer.mutable_commands(2)->set_problem("/usr/bin/reload must belong to root");
  EXPECT_THAT(text(status), HasSubstr("ok   h1: rehearsal-external allows port-down, drain\n"));
  EXPECT_THAT(text(status), HasSubstr("note h1: cannot run its command reload: /usr/bin/reload"));
}

TEST(DoctorTest, PortsThatCannotBeUsedAreNamedWithTheirError) {
  protocol::StatusReply status = healthy();
  status.mutable_agents(0)->mutable_nics(0)->mutable_rdma()->set_active(false);
  status.mutable_agents(1)->mutable_nics(0)->set_address("10.9.9.9");
  const std::string all = text(status);
  EXPECT_THAT(all, HasSubstr("BAD  h1 eth2: [REHEARSAL-RDMA-005]"));
  EXPECT_THAT(all, HasSubstr("BAD  h2 eth2: [REHEARSAL-RDMA-006]"));
}

TEST(DoctorTest, WhatAgentsFindOnTheirHostsStandsBesideIt) {
  protocol::StatusReply status = healthy();
  protocol::HostFinding& finding = *status.mutable_agents(0)->add_findings();
  finding.set_health("BAD");
  finding.set_subject("h1");
  finding.set_what("may lock 8 MiB of memory (memlock)");
  finding.set_fix("LimitMEMLOCK=infinity");
  EXPECT_THAT(text(status), HasSubstr("BAD  h1: may lock 8 MiB of memory (memlock)\n"
                                      "       LimitMEMLOCK=infinity\n"));
}

TEST(DoctorTest, HostsWithoutRdmaOrNicsOrNoHostsAtAll) {
  protocol::StatusReply status = healthy();
  status.mutable_agents(0)->mutable_nics(0)->clear_rdma();
  status.mutable_agents(1)->clear_nics();
  EXPECT_THAT(text(status), HasSubstr("note h1 eth2: no RDMA port: transport tcp only"));
  EXPECT_THAT(text(status), HasSubstr("BAD  h2: has no data NIC"));
  EXPECT_THAT(text({}), HasSubstr("BAD  cluster: no agent is connected"));
  EXPECT_THAT(text({}), Not(HasSubstr("ok ")));
}

}  // namespace
}  // namespace rehearsal::cli
