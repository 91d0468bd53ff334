#include "cli/status_text.hpp"

#include <gmock/gmock.h>

#include "tests/support/golden.hpp"

namespace rehearsal::cli {
namespace {

protocol::StatusReply status_of_two_agents() {
  protocol::StatusReply status;
  status.set_software("rehearsald 0.1.0");
  status.set_state("running");
  status.set_run("e3-r1-9f2c");
  status.set_iterations_done(7);
  status.set_iterations(20);
  protocol::AgentStatus& first = *status.add_agents();
  first.set_host("h1");
  first.set_address("10.77.0.11:40122");
  first.set_software("rehearsal-agent 0.1.0");
  first.set_run("e3-r1-9f2c");
  first.mutable_clock()->set_known(true);
  first.mutable_clock()->set_offset_ns(-1500);
  first.mutable_clock()->set_error_bound_ns(42'000);
  first.set_silence_ns(120'000'000);
  protocol::Nic& rail = *first.add_nics();
  rail.set_name("rail0");
  rail.set_address("10.78.0.11");
  rail.set_mtu(9000);
  protocol::Nic& other = *first.add_nics();
  other.set_name("rail1");
  other.set_address("10.78.1.11");
  other.set_line_rate_bits_per_second(100'000'000'000);
  other.set_mtu(9000);
  first.mutable_kernel()->set_helper(true);
  first.mutable_kernel()->add_faults("rate");
  first.mutable_kernel()->add_faults("mtu");
  first.mutable_kernel()->add_interfaces("rail0");
  first.mutable_kernel()->set_duration_max_ns(300'000'000'000);
  first.set_faults(1);
  protocol::AgentStatus& second = *status.add_agents();
  second.set_host("h2");
  second.set_address("10.77.0.12:51000");
  second.set_software("rehearsal-agent 0.1.0");
  second.set_silence_ns(2'400'000'000);
  return status;
}

TEST(StatusText, ForPeople) {
  test::expect_golden("cli/status.txt", status_text(status_of_two_agents()));
}

TEST(StatusText, ForPrograms) {
  test::expect_golden("cli/status.json", status_json(status_of_two_agents()));
}

TEST(StatusText, AHostThatTakesNoRunsIsStuck) {
  protocol::StatusReply status = status_of_two_agents();
  status.mutable_agents(1)->set_blocked("STUCK: fault 3 could not be undone");
  EXPECT_THAT(status_text(status), testing::HasSubstr("STUCK"));
  EXPECT_THAT(status_json(status), testing::HasSubstr("fault 3 could not be undone"));
}

TEST(StatusText, WithoutAgentsAndRun) {
  protocol::StatusReply status;
  status.set_software("rehearsald 0.1.0");
  status.set_state("idle");
  EXPECT_EQ(status_text(status), "rehearsald 0.1.0: no run, 0 agents\n");
  EXPECT_THAT(status_json(status), testing::HasSubstr("\"run\": null"));
}

}  // namespace
}  // namespace rehearsal::cli
