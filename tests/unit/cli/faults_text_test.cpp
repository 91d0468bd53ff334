#include "cli/faults_text.hpp"

#include <gmock/gmock.h>

#include "tests/support/golden.hpp"

namespace rehearsal::cli {
namespace {

protocol::FaultsReply three_hosts() {
  protocol::FaultsReply reply;
  protocol::HostFaults& first = *reply.add_hosts();
  first.set_host("h1");
  protocol::HostFault& fault = *first.add_faults();
  fault.set_id(3);
  fault.set_what("rate 25Gbit/s on eth1, sent");
  fault.set_interface("eth1");
  fault.set_state("applied");
  fault.set_run("e1-r4-77aa");
  fault.set_fault("half-rate");
  fault.set_age_ns(12'000'000'000);
  fault.set_lease_left_ns(4'200'000'000);
  fault.set_duration_left_ns(48'000'000'000);
  reply.add_hosts()->set_host("h2");
  reply.mutable_hosts(1)->set_no_helper("no helper listens on /run/rehearsal-helper/socket");
  reply.add_hosts()->set_host("h3");
  return reply;
}

protocol::FaultsReply with_trouble() {
  protocol::FaultsReply reply = three_hosts();
  protocol::HostFaults& last = *reply.mutable_hosts(2);
  protocol::HostFault& fault = *last.add_faults();
  fault.set_id(9);
  fault.set_what("mtu 1500 on eth2, both");
  fault.set_interface("eth2");
  fault.set_state("conflict");
  fault.set_problem("the mtu is now 4000");
  last.add_undone("conflict: fault 9: the mtu is now 4000");
  return reply;
}

TEST(FaultsText, ForPeople) { test::expect_golden("cli/faults.txt", faults_text(with_trouble())); }

TEST(FaultsText, ForPrograms) {
  test::expect_golden("cli/faults.json", faults_json(with_trouble()));
}

TEST(FaultsText, ACommandIsOfNoInterface) {
  protocol::FaultsReply reply;
  protocol::HostFaults& host = *reply.add_hosts();
  host.set_host("h1");
  protocol::HostFault& fault = *host.add_faults();
  fault.set_what("external port-down --switch=leaf1 --port=7");
  fault.set_external(true);
  fault.set_state("stuck");
  fault.set_problem("undo ended with 1");
  const std::string text = faults_text(reply);
  EXPECT_THAT(text, testing::ContainsRegex("h1 +external port-down --switch=leaf1 --port=7 +–"));
  EXPECT_THAT(text, testing::HasSubstr(
                        "h1 external port-down --switch=leaf1 --port=7: undo ended with 1\n"));
  EXPECT_THAT(faults_json(reply), testing::HasSubstr("\"interface\": null"));
  EXPECT_THAT(faults_json(reply), testing::HasSubstr("\"external\": true"));
}

TEST(FaultsText, NoFaultIsSaid) {
  EXPECT_EQ(faults_text(protocol::FaultsReply{}), "no fault is on\n");
}

TEST(FaultsText, TheExitCodeIsOfTheWorst) {
  EXPECT_EQ(faults_exit_code(three_hosts()), ExitCode::pass);
  EXPECT_EQ(faults_exit_code(with_trouble()), ExitCode::warn);
  protocol::FaultsReply reply = with_trouble();
  reply.mutable_hosts(1)->set_no_answer("its agent left");
  EXPECT_EQ(faults_exit_code(reply), ExitCode::unknown);
  EXPECT_THAT(faults_text(reply), testing::HasSubstr("h2: its agent left"));
  reply.mutable_hosts(0)->set_blocked("STUCK: fault 3 could not be undone");
  EXPECT_EQ(faults_exit_code(reply), ExitCode::fail);
  EXPECT_THAT(faults_text(reply), testing::HasSubstr("h1 takes no runs: STUCK"));
}

}  // namespace
}  // namespace rehearsal::cli
