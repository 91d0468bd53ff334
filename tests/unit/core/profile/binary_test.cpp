#include "core/profile/binary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "core/base/encoding.hpp"
#include "core/profile/limits.hpp"
#include "tests/support/profiles.hpp"

namespace rehearsal::profile {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view bytes) {
  const auto profile = from_binary(bytes);
  return profile ? std::string() : profile.error().text();
}

/// Bytes with the checksum that belongs to them.
std::string sealed(std::string bytes) { return bytes + sha256_hex(bytes); }

TEST(Binary, GivesBackWhatWasWritten) {
  const Profile profile = test::small_profile();
  const auto read = from_binary(to_binary(profile));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, profile);
}

TEST(Binary, GivesBackRandomProfiles) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %lu\n", static_cast<unsigned long>(seed));
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const Profile profile = test::random_profile(random);
    const auto read = from_binary(to_binary(profile));
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(*read, profile);
  }
}

TEST(Binary, IsToldFromText) {
  EXPECT_TRUE(is_binary(to_binary(test::small_profile())));
  EXPECT_FALSE(is_binary("profile: x\n"));
  EXPECT_FALSE(is_binary(""));
}

TEST(Binary, EveryTruncationIsAnErrorWithTheByte) {
  const std::string bytes = to_binary(test::small_profile());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(error_of(std::string_view(bytes).substr(0, size)), HasSubstr("byte ")) << size;
  }
}

TEST(Binary, EveryFlippedBitIsAnErrorWithTheByte) {
  const std::string bytes = to_binary(test::small_profile());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_THAT(error_of(damaged), HasSubstr("byte ")) << at << " bit " << bit;
    }
  }
}

TEST(Binary, MoreBytesAfterTheEndAreRefused) {
  std::string bytes = to_binary(test::small_profile());
  bytes.resize(bytes.size() - 64);
  EXPECT_THAT(error_of(sealed(bytes + "x")), HasSubstr("bytes after the end"));
}

TEST(Binary, AnotherVersionIsNamed) {
  Encoder encoder;
  encoder.text("rehearsal-profile");
  encoder.number(2);
  EXPECT_THAT(error_of(sealed(encoder.take())), HasSubstr("version 2 of the binary form"));
}

TEST(Binary, CountsBeyondTheDataAreRefusedBeforeMemoryIsTaken) {
  Encoder encoder;
  encoder.text("rehearsal-profile");
  encoder.number(1);
  for (int i = 0; i < 3; ++i) encoder.text("");  // provenance
  encoder.number(0);
  encoder.text("huge");
  encoder.number(4);                       // ranks
  encoder.number(0);                       // streams
  encoder.number(0);                       // phases
  encoder.number(std::uint64_t{1} << 62);  // communicators
  EXPECT_THAT(error_of(sealed(encoder.take())), HasSubstr("communicators"));
}

TEST(Binary, ListsOfRanksHaveABudget) {
  Encoder encoder;
  encoder.text("rehearsal-profile");
  encoder.number(1);
  for (int i = 0; i < 3; ++i) encoder.text("");
  encoder.number(0);
  encoder.text("huge");
  encoder.number(kRanksMax);
  encoder.number(0);
  encoder.number(0);
  encoder.number(100);  // communicators of a million ranks each, in a few bytes
  for (int i = 0; i < 100; ++i) {
    encoder.text("c");
    encoder.number(1);
    encoder.number(0);
    encoder.number(kRanksMax);
  }
  EXPECT_THAT(error_of(sealed(encoder.take())), HasSubstr("lists of ranks"));
}

TEST(Identity, IsThatOfTheContentAlone) {
  Profile profile = test::small_profile();
  const std::string before = identity(profile);
  EXPECT_EQ(before.size(), 64U);
  profile.provenance = {};
  EXPECT_EQ(identity(profile), before) << "provenance is left out";
  profile.name = "another file";
  EXPECT_EQ(identity(profile), before) << "so is the name";
  profile.classes[0].ops[3].bytes += Bytes{1};
  EXPECT_NE(identity(profile), before);
}

// Plans made by other hosts and versions name profiles by this; it must not drift.
TEST(Identity, IsPinned) {
  EXPECT_EQ(identity(test::small_profile()),
            "d70018fbcd1ad5345e85ee0cb0139698b48d8b51ff92ceb62fea09c217b091a7");
}

}  // namespace
}  // namespace rehearsal::profile
