// `rehearse doctor --reach`: what would block a run between hosts is found and named, way by way.
#include <gmock/gmock.h>

#include "tests/system/system_cluster.hpp"

namespace rehearsal::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReachSystem : public SystemCluster {
 protected:
  std::string reach() {
    int code = -1;
    return rehearse({"doctor", "--reach"}, code);
  }
  int run(const std::vector<std::string>& command) {
    Program program(command, folder() / ("command-" + std::to_string(++commands_) + ".log"));
    return program.wait().value_or(-1);
  }

 private:
  int commands_ = 0;
};

// Addresses and ports are those of scripts/cluster.
TEST_F(ReachSystem, ABlackholeIsNamedByItsTwoEnds) {
  const std::string well = reach();
  EXPECT_THAT(well, HasSubstr("24 of 24 ways between data NICs carry messages over tcp"));
  const std::vector<std::string> route = {"blackhole", "10.78.1.13/32"};
  ASSERT_EQ(run(on_host("h2", {"ip", "route", "add", route[0], route[1]})), 0);
  const std::string output = reach();
  EXPECT_THAT(output, HasSubstr("h2 rail1 → h3 rail1"));
  EXPECT_THAT(output, HasSubstr("h3 rail1 → h2 rail1")) << "its answers do not come back";
  EXPECT_THAT(output, HasSubstr("no answer from 10.78.1.13 to 10.78.1.12"));
  EXPECT_THAT(output, HasSubstr("22 of 24 ways"));
  ASSERT_EQ(run(on_host("h2", {"ip", "route", "del", route[0], route[1]})), 0);
  EXPECT_THAT(reach(), HasSubstr("24 of 24 ways"));
}

TEST_F(ReachSystem, ASmallerMtuOnTheWayIsToldFromAFirewall) {
  // The switch's port drops what is too long and tells nobody; segments must be cut by the hosts.
  for (const std::string& host : all_hosts())
    ASSERT_EQ(run(on_host(host, {"ip", "link", "set", "rail1", "gso_max_segs", "1"})), 0);
  ASSERT_EQ(run(bridge_command({"ip", "link", "set", "d14r1", "mtu", "1500"})), 0);
  const std::string output = reach();
  EXPECT_THAT(output, HasSubstr("h1 rail1 → h4 rail1"));
  EXPECT_THAT(output, HasSubstr("but a message of full-size frames did not arrive"));
  EXPECT_THAT(output, HasSubstr("`ping -M do -s 8972 -I 10.78.1.11 10.78.1.14`"));
  EXPECT_THAT(output, Not(HasSubstr("h1 rail0 → h4 rail0")));
}

}  // namespace
}  // namespace rehearsal::test
