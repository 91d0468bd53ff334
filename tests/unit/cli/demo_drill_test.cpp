#include "cli/demo_drill.hpp"

#include <gtest/gtest.h>

#include "core/plan/drill_text.hpp"

namespace rehearsal::cli {
namespace {

TEST(DemoDrill, EveryProfileMakesAValidJob) {
  const std::pair<const char*, const char*> cases[] = {
      {"dlrm8-v100", "dlrm8-v100"},
      {"/data/my jobs/llama 70b.profile", "llama-70b"},
      {"../it's: #1.yaml", "it-s---1"},
      {"v1.5", "v1.5"},
      {"./-.yaml", "demo"},
      {"_x", "x"},
  };
  for (const auto& [profile, name] : cases) {
    const auto drill = plan::parse_drill(demo_drill(profile, 3, {"demo1", "demo2"}), "demo");
    ASSERT_TRUE(drill) << drill.error().text();
    EXPECT_EQ(drill->jobs.at(0).name, name);
    EXPECT_EQ(drill->jobs.at(0).profile, profile);
    EXPECT_EQ(drill->jobs.at(0).hosts, (std::vector<std::string>{"demo1", "demo2"}));
    EXPECT_EQ(drill->iterations, 3U);
  }
}

TEST(DemoDrill, LongNamesAreCut) {
  const auto drill = plan::parse_drill(demo_drill(std::string(100, 'a'), 1, {"demo1"}), "demo");
  ASSERT_TRUE(drill) << drill.error().text();
  EXPECT_EQ(drill->jobs.at(0).name, std::string(64, 'a'));
}

}  // namespace
}  // namespace rehearsal::cli
