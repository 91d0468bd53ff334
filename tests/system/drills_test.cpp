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

/// A rate that two busy cores can carry for all hosts at once …
constexpr const char* kRate = "100mbit";
/// … and a job that the network bounds at it, "ring.yaml".
void write_ring(const std::filesystem::path& folder, const std::string& compute) {
  std::ofstream{folder / "ring.yaml"}
      << "profile: ring\nranks: 4\nstreams: [compute, communication]\n"
         "communicators:\n  world: {ranks: 0-3}\nclasses:\n  worker:\n    ranks: all\n    ops:\n"
         "      - compute: {name: think, duration: "
      << compute
      << "}\n      - all_reduce: {name: gradients, communicator: world, bytes: 2MiB, after: "
         "think}\n";
}

TEST_F(Drills, HalfANicIsSlowDuringRecoversAndIsFound) {
  if (!shape(kRate)) GTEST_SKIP() << "SKIP: this kernel has no tbf";
  write_ring(folder(), "1ms");
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

using Words = std::vector<std::pair<std::string, std::string>>;

/// A drill made short by other words.
struct Short {
  std::string drill;
  std::string host = {};        ///< where the report must see the fault; empty: anywhere or nowhere
  bool fault = true;            ///< from the eighth iteration on
  double times_before_min = 0;  ///< iterations take at least so many times as long with it
  Words words = {};

  friend void PrintTo(const Short& tested, std::ostream* out) { *out << tested.drill; }
};

std::vector<Short> short_drills() {
  const std::pair<std::string, std::string> ring{"ddp-resnet50", "ring.yaml"};
  // Bursts in one iteration, so that few of them tell enough.
  const std::pair<std::string, std::string> in_step{"synchronisation: free",
                                                    "synchronisation: iteration"};
  const Words in_thirds = {ring,
                           {"iterations: 60", "iterations: 24"},
                           {"iteration: 20, iterations: 20", "iteration: 8, iterations: 8"}};
  return {
      {.drill = "straggler", .host = "h2", .words = in_thirds},
      {.drill = "incast", .host = "h1", .times_before_min = 1.2, .words = in_thirds},
      {.drill = "flap",
       .words = {ring,
                 {"iterations: 200", "iterations: 24"},
                 {"iteration: 50, iterations: 100", "iteration: 8, iterations: 8"},
                 in_step,
                 {"on: 500ms, off: 2500ms", "on: 300ms, off: 700ms"}}},
      {.drill = "lossy-optic",
       .times_before_min = 1.2,
       .words = {ring,
                 {"iterations: 90", "iterations: 24"},
                 {"iteration: 30, iterations: 30", "iteration: 8, iterations: 8"},
                 in_step,
                 {"[0.1%, 1%], retransmission: 200ms", "[20%, 40%], retransmission: 200ms"}}},
      {.drill = "aligned-bursts",
       .fault = false,
       .words = {ring,
                 ring,
                 ring,
                 {"iterations: 40", "iterations: 6"},
                 {"at_most: 5ms", "at_most: 200ms"}}},
  };
}

/// Only what holds on a busy machine too. That expectations are met and faults found is tested in
/// virtual time (simulation/shipped_drills_test), here only where the fault is a strong one.
class ShortDrills : public Drills, public testing::WithParamInterface<Short> {
 protected:
  void check_stages(const json& stages) {
    ASSERT_EQ(stages["figures"].size(), 3U);
    const json& during = stages["figures"][1];
    EXPECT_EQ(during["begin"], 8);
    EXPECT_GE(during["times_before"].get<double>(), GetParam().times_before_min);
  }

  void check_fault(const json& report, const std::string& output) {
    const json& fault = report["faults"][0];
    EXPECT_FALSE(fault["spells"].empty());
    for (const json& spell : fault["spells"])
      EXPECT_LT(spell["began_seconds"].get<double>(), spell["ended_seconds"].get<double>());
    EXPECT_THAT(output, HasSubstr(fault["name"].get<std::string>()));
    if (GetParam().host.empty()) return;
    ASSERT_EQ(fault["found"], "yes") << output;
    const json& suspect = report["suspects"].at(fault["suspect"].get<std::size_t>());
    EXPECT_TRUE(suspect["host"] == GetParam().host || suspect["peer_host"] == GetParam().host)
        << output;
  }
};

TEST_P(ShortDrills, RunToTheirEndAndTellWhatWasWrong) {
  if (!shape(kRate)) GTEST_SKIP() << "SKIP: this kernel has no tbf";
  write_ring(folder(), "60ms");
  int code = -1;
  const std::string output = rehearse(
      {"run", shipped(GetParam().drill, GetParam().words), "--out", folder() / "out"}, code);
  if (std::getenv("SHOW_REPORTS") != nullptr) std::cout << output << "\n";
  EXPECT_LT(code, 3) << output;
  const json report = summary(folder() / "out");
  EXPECT_NE(report["verdict"], "unknown") << output;
  if (!GetParam().fault) return;
  check_stages(report["jobs"][0]["stages"]);
  check_fault(report, output);
}

INSTANTIATE_TEST_SUITE_P(Shipped, ShortDrills, testing::ValuesIn(short_drills()),
                         [](const auto& tested) {
                           std::string name = tested.param.drill;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace rehearsal::test
