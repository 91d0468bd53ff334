#include "core/profile/show.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/profiles.hpp"

namespace rehearsal::profile {
namespace {

TEST(Show, TablesForPeople) {
  test::expect_golden("profile/small.txt", show(test::small_profile()));
}

TEST(Show, Json) { test::expect_golden("profile/small.json", to_json(test::small_profile())); }

TEST(Show, ManyClassesAreCutShort) {
  Profile profile;
  profile.name = "many";
  profile.ranks = 20;
  profile.streams = {"compute"};
  profile.phases = {"iteration"};
  for (std::uint32_t rank = 0; rank < 20; ++rank) {
    Op op;
    op.duration = std::chrono::microseconds{rank + 1};
    profile.classes.push_back({"c" + std::to_string(rank), {Rank{rank}}, {op}});
  }
  EXPECT_THAT(show(profile), testing::HasSubstr("and 12 more classes; --json has them all"));
}

}  // namespace
}  // namespace rehearsal::profile
