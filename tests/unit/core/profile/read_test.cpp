#include "core/profile/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/profile/binary.hpp"
#include "core/profile/text.hpp"
#include "tests/support/captures.hpp"
#include "tests/support/profiles.hpp"

namespace rehearsal::profile {
namespace {

using testing::HasSubstr;

TEST(Read, TellsTheFormsApart) {
  const Profile profile = test::small_profile();
  EXPECT_EQ(*read(to_binary(profile), "a"), profile);
  EXPECT_EQ(*read(to_text(profile), "a"), profile);
}

TEST(Read, NamesTheFile) {
  EXPECT_THAT(read("", "empty.profile").error().text(), HasSubstr("empty.profile: it is empty"));
  const std::string cut = to_binary(test::small_profile()).substr(0, 100);
  EXPECT_THAT(read(cut, "cut.profile").error().text(), HasSubstr("cut.profile: byte "));
}

TEST(Read, LoadRefusesAnInvalidProfile) {
  Profile profile = test::small_profile();
  EXPECT_TRUE(load_profile(to_binary(profile), "good"));
  profile.classes.pop_back();
  EXPECT_TRUE(read(to_binary(profile), "bad"));
  const auto loaded = load_profile(to_binary(profile), "bad.profile");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().text(), HasSubstr("bad.profile: rank 3 in no class"));
}

TEST(Read, ShippedProfilesAreValid) {
  const std::filesystem::path folder = std::filesystem::path(REHEARSAL_SOURCE_DIR) / "profiles";
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".md") continue;
    const auto profile =
        load_profile(test::read_whole(entry.path()), entry.path().filename().string());
    EXPECT_TRUE(profile) << profile.error().text();
    ++found;
  }
  EXPECT_GE(found, 2);
}

TEST(Read, ShippedResNetHasAllItsGradients) {
  const auto profile = load_profile(
      test::read_whole(std::filesystem::path(REHEARSAL_SOURCE_DIR) / "profiles/ddp-resnet50.yaml"),
      "ddp-resnet50.yaml");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->ranks, 4U);
  Bytes total;
  for (const Op& op : profile->classes.at(0).ops) total += op.bytes;
  EXPECT_EQ(total, Bytes{102'228'128}) << "25,557,032 parameters of 4 bytes";
}

}  // namespace
}  // namespace rehearsal::profile
