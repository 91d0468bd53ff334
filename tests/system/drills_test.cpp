// The shipped drills, live.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/system/system_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Drills : public SystemCluster {
 protected:
  /// A shipped drill with these words put in the place of others.
  std::filesystem::path shipped(const std::string& name,
                                const std::vector<std::pair<std::string, std::string>>& words) {
    int code = -1;
    std::string text = rehearse({"drill", "show", name}, code);
    EXPECT_EQ(code, 0) << text;
    for (const auto& [old, put] : words) {
      const std::size_t at = text.find(old);
      EXPECT_NE(at, std::string::npos) << old;
      if (at != std::string::npos) text.replace(at, old.size(), put);
    }
    const std::filesystem::path path = folder() / (name + ".yaml");
    std::ofstream{path} << text;
    return path;
  }
};

/// A rate that two busy cores can carry for all hosts at once, and a job that the network bounds.
TEST_F(Drills, HalfANicIsSlowDuringRecoversAndIsFound) {
  if (!shape("100mbit")) GTEST_SKIP() << "SKIP: this kernel has no tbf";
  std::ofstream{folder() / "ring.yaml"}
      << "profile: ring\nranks: 4\nstreams: [communication]\n"
         "communicators:\n  world: {ranks: 0-3}\nclasses:\n  worker:\n    ranks: all\n    ops:\n"
         "      - all_reduce: {name: gradients, communicator: world, bytes: 2MiB}\n";
  const auto drill =
      shipped("nic-half-rate", {{"ddp-resnet50", "ring.yaml"},
                                {"iterations: 60", "iterations: 24"},
                                {"iteration: 20, iterations: 20", "iteration: 8, iterations: 8"},
                                {"of: 1Gbit/s", "of: 100Mbit/s"}});
  int code = -1;
  const std::string output = rehearse({"run", drill, "--out", folder() / "out"}, code);
  EXPECT_EQ(code, 0) << output;
  const json report = summary(folder() / "out");
  EXPECT_EQ(report["verdict"], "pass");

  const json& stages = report["jobs"][0]["stages"];
  ASSERT_EQ(stages["figures"].size(), 3U);
  EXPECT_EQ(stages["figures"][1]["begin"], 8);
  EXPECT_EQ(stages["figures"][1]["end"], 16);
  EXPECT_NEAR(stages["figures"][1]["times_before"].get<double>(), 2, 0.5);
  EXPECT_NEAR(stages["figures"][2]["times_before"].get<double>(), 1, 0.25);
  EXPECT_FALSE(stages["figures"][1]["waits"].empty());
  EXPECT_FALSE(stages["recovered"].is_null());
  EXPECT_EQ(report["bursts"][0]["stages"].size(), 3U);

  const json& fault = report["faults"][0];
  EXPECT_EQ(fault["found"], "yes") << fault["finding"];
  const json& suspect = report["suspects"].at(fault["suspect"].get<std::size_t>());
  EXPECT_EQ(suspect["host"], "h2");
  EXPECT_EQ(suspect["nic"], "rail0");
  EXPECT_THAT(output, HasSubstr("is the suspect that was named"));
  EXPECT_THAT(output, HasSubstr("stages of resnet50"));
}

}  // namespace
}  // namespace rehearsal::test
