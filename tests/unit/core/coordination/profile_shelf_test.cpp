#include "core/coordination/profile_shelf.hpp"

#include <gmock/gmock.h>

#include "core/profile/binary.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::coordination {
namespace {

using testing::HasSubstr;

Result<std::optional<std::string>> upload(ProfileShelf& shelf, const std::string& name,
                                          const std::string& bytes) {
  Result<std::optional<std::string>> last;
  for (const protocol::Part& part : protocol::parts_of(bytes)) {
    last = shelf.add(name, part);
    if (!last) break;
  }
  return last;
}

TEST(ProfileShelf, KeepsAProfileUnderItsNameAndTellsItsIdentity) {
  ProfileShelf shelf({.profiles_max = 4, .bytes_max = 1 << 20});
  const profile::Profile sample = test::sample_profile(4);
  const auto identity = upload(shelf, "jobs/sample.profile", profile::to_binary(sample));
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(*identity, profile::identity(sample));
  EXPECT_EQ(shelf.profiles().at("jobs/sample.profile")->ranks, 4u);
}

TEST(ProfileShelf, TheSameNameAgainReplaces) {
  ProfileShelf shelf({.profiles_max = 1, .bytes_max = 1 << 20});
  ASSERT_TRUE(upload(shelf, "p", profile::to_binary(test::sample_profile(4))).has_value());
  ASSERT_TRUE(upload(shelf, "p", profile::to_binary(test::sample_profile(8))).has_value());
  EXPECT_EQ(shelf.profiles().at("p")->ranks, 8u);
}

TEST(ProfileShelf, DamageAndNonsenseAreRefusedWithTheName) {
  ProfileShelf shelf({.profiles_max = 4, .bytes_max = 1 << 20});
  std::string bytes = profile::to_binary(test::sample_profile(4));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const auto damaged = upload(shelf, "p", bytes);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_THAT(damaged.error().text(), HasSubstr("profile 'p'"));

  profile::Profile wrong = test::sample_profile(4);
  wrong.classes[0].ranks.pop_back();
  EXPECT_FALSE(upload(shelf, "p", profile::to_binary(wrong)).has_value());
  EXPECT_TRUE(shelf.profiles().empty());
}

TEST(ProfileShelf, AnEmptyUploadIsNoProfile) {
  ProfileShelf shelf({.profiles_max = 4, .bytes_max = 1 << 20});
  EXPECT_FALSE(upload(shelf, "p", "").has_value());
}

TEST(ProfileShelf, CapsHoldForAllUploadsTogetherAndBeforeTheyCome) {
  ProfileShelf shelf({.profiles_max = 2, .bytes_max = 1000});
  ASSERT_TRUE(shelf.add("a", {.size = 600, .offset = 0, .bytes = "x"}).has_value());
  const auto over = shelf.add("b", {.size = 600, .offset = 0, .bytes = "x"});
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::too_large);
  EXPECT_EQ(shelf.add("b", {.size = 600, .offset = 1, .bytes = "x"}), std::nullopt)
      << "the rest of a failed upload is passed over";
  ASSERT_TRUE(shelf.add("b", {.size = 400, .offset = 0, .bytes = "x"}).has_value());
  EXPECT_FALSE(shelf.add("c", {.size = 0, .offset = 0, .bytes = ""}).has_value()) << "a third one";
}

}  // namespace
}  // namespace rehearsal::coordination
