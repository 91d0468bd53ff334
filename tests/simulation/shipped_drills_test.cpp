// The shipped drills, whole, in virtual time: four hosts of one NIC each, on a switch without
// limits.
#include <gmock/gmock.h>

#include <filesystem>

#include "core/profile/read.hpp"
#include "core/report/summary.hpp"
#include "core/report/table.hpp"
#include "tests/simulation/cluster.hpp"
#include "tests/support/captures.hpp"

namespace rehearsal::simulation {
namespace {

using report::Found;
using report::Summary;
using report::Verdict;

constexpr std::uint32_t kHosts = 4;
constexpr BitRate kRate{1'000'000'000};
constexpr const char* kProfile = "ddp-resnet50";

std::filesystem::path source(const std::string& name) {
  return std::filesystem::path(REHEARSAL_SOURCE_DIR) / name;
}

/// h1 … with one NIC of `kRate`, and messages that are late by some.
WorldOptions four_hosts(std::uint64_t seed) {
  WorldOptions options = cluster(kHosts, seed);
  options.inventories = test::sample_inventories(kHosts, 1);
  for (std::uint32_t i = 0; i < kHosts; ++i) {
    options.inventories[i].host = "h" + std::to_string(i + 1);
    options.inventories[i].nics[0].line_rate = kRate;
  }
  options.nics = NicNetwork::Options{.rate = kRate, .latency = 5us, .jitter = 20us, .seed = seed};
  return options;
}

Summary live_through(const std::string& drill) {
  World world(four_hosts(41));
  const auto profile =
      profile::load_profile(test::read_whole(source("profiles/ddp-resnet50.yaml")), kProfile);
  EXPECT_TRUE(profile.has_value());
  return live_through(world, *profile, test::read_whole(source("drills/" + drill + ".yaml")),
                      kProfile, 1h);
}

/// Where each drill's fault is: in the suspect that names it.
struct Place {
  const char* drill;
  const char* host;
};

class ShippedDrills : public testing::TestWithParam<Place> {};

TEST_P(ShippedDrills, PassAndFindTheirFault) {
  const Place place = GetParam();
  const Summary summary = live_through(place.drill);
  const std::string table = report::summary_table(summary, /*colour=*/false);
  EXPECT_EQ(summary.verdict, Verdict::pass) << table;
  ASSERT_EQ(summary.faults.size(), 1U);
  const report::FaultSummary& fault = summary.faults[0];
  ASSERT_EQ(fault.found, Found::yes) << table;
  const report::SuspectSummary& suspect = summary.suspects->at(*fault.suspect);
  EXPECT_TRUE(suspect.host == place.host || suspect.peer_host == place.host) << table;
  if (testing::Test::HasFailure() || std::getenv("SHOW_REPORTS") != nullptr)
    std::cout << table << "\n";
}

INSTANTIATE_TEST_SUITE_P(All, ShippedDrills,
                         testing::Values(Place{"nic-half-rate", "h2"}, Place{"flap", "h2"},
                                         Place{"lossy-optic", "h2"}, Place{"straggler", "h2"},
                                         Place{"incast", "h1"}),
                         [](const auto& tested) {
                           std::string name = tested.param.drill;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ShippedDrillsWithoutFaults, AlignedBurstsPassAndNobodyIsNamed) {
  const Summary summary = live_through("aligned-bursts");
  const std::string table = report::summary_table(summary, /*colour=*/false);
  EXPECT_EQ(summary.verdict, Verdict::pass) << table;
  ASSERT_TRUE(summary.suspects);
  EXPECT_TRUE(summary.suspects->empty()) << table;
  if (std::getenv("SHOW_REPORTS") != nullptr) std::cout << table << "\n";
}

}  // namespace
}  // namespace rehearsal::simulation
