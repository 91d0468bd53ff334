#include "cli/shipped_drills.hpp"

#include <gmock/gmock.h>

#include "cli/drill_file.hpp"
#include "cli/local_plan.hpp"

namespace rehearsal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ShippedDrill> shipped() {
  const auto drills = shipped_drills({std::filesystem::path{REHEARSAL_SOURCE_DIR} / "drills"});
  EXPECT_TRUE(drills);
  return drills ? *drills : std::vector<ShippedDrill>{};
}

TEST(ShippedDrills, AreThese) {
  std::vector<std::string> names;
  for (const ShippedDrill& drill : shipped()) names.push_back(drill.name);
  EXPECT_THAT(names, ElementsAre("aligned-bursts", "flap", "incast", "lossy-optic", "nic-half-rate",
                                 "straggler"));
}

TEST(ShippedDrills, EachCanBePlannedAndSaysWhatHappens) {
  for (const ShippedDrill& drill : shipped()) {
    SCOPED_TRACE(drill.name);
    EXPECT_GT(drill.about.size(), 20U);
    EXPECT_THAT(list_text({drill}), HasSubstr(drill.name));
    const auto file = load_drill_text(drill.text, drill.name + ".yaml",
                                      std::filesystem::path{REHEARSAL_SOURCE_DIR} / "profiles");
    ASSERT_TRUE(file) << file.error().text();
    const auto plan = plan_without_cluster(*file);
    EXPECT_TRUE(plan) << plan.error().text();
  }
}

TEST(ShippedDrills, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_TRUE(text_of(shipped(), "flap"));
  const auto wrong = text_of(shipped(), "stragler");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("did you mean 'straggler'?"));
  EXPECT_THAT(text_of({}, "flap").error().text(), HasSubstr("none is here"));
}

}  // namespace
}  // namespace rehearsal::cli
