#include "core/profile/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/support/golden.hpp"
#include "tests/support/profiles.hpp"

namespace rehearsal::profile {
namespace {

using testing::HasSubstr;

constexpr const char* kHead =
    "profile: p\n"
    "ranks: 4\n"
    "communicators: {world: {ranks: 0-3}, pair: {ranks: [3, 0]}}\n"
    "per_peer_bytes: {even: [[1B, 1B], [1B, 1B]]}\n"
    "classes:\n"
    "  all:\n"
    "    ranks: all\n"
    "    ops:\n";

Result<Profile> read(const std::string& ops) { return from_text(kHead + ops, "p.yaml"); }

std::string error_of(const std::string& text) {
  const auto profile = from_text(text, "p.yaml");
  return profile ? "(read)" : profile.error().text();
}

std::string op_error(const std::string& op) { return error_of(kHead + ("      - " + op + "\n")); }

TEST(Text, GivesBackWhatWasWritten) {
  const Profile profile = test::small_profile();
  const auto read = from_text(to_text(profile), "small.yaml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, profile);
}

TEST(Text, GivesBackRandomProfiles) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %lu\n", static_cast<unsigned long>(seed));
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Profile profile = test::random_profile(random);
    const auto read = from_text(to_text(profile), "random.yaml");
    ASSERT_TRUE(read) << read.error().text() << "\n" << to_text(profile);
    ASSERT_EQ(*read, profile) << to_text(profile);
  }
}

TEST(Text, LooksAsItShould) {
  test::expect_golden("profile/small.yaml", to_text(test::small_profile()));
}

TEST(Text, WhatPeopleLeaveOutIsFilledIn) {
  const auto profile = read(
      "      - compute: {name: fwd, duration: 20ms}\n"
      "      - all_reduce: {communicator: world, bytes: 64MiB, phase: backward, after: fwd}\n"
      "      - barrier: {communicator: world}\n");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_THAT(profile->streams, testing::ElementsAre("compute", "communication"));
  EXPECT_THAT(profile->phases, testing::ElementsAre("iteration", "backward"));
  const auto& ops = profile->classes.at(0).ops;
  EXPECT_EQ(ops.at(0).duration, std::chrono::milliseconds{20});
  EXPECT_EQ(ops[1].bytes, Bytes{64U << 20});
  EXPECT_THAT(ops[1].after, testing::ElementsAre(0U));
  EXPECT_EQ(ops[2].phase, 1U) << "that of the op before";
  EXPECT_EQ(profile->classes[0].ranks.size(), 4U);
  EXPECT_THAT(profile->communicators[1].ranks, testing::ElementsAre(Rank{3}, Rank{0}));
}

TEST(Text, PlaceAndRemedyOfEachMistake) {
  const std::pair<const char*, const char*> cases[] = {
      {"all_reduce: {communicator: world, bytes: 64}", "p.yaml:9:"},
      {"all_reduce: {communicator: world, bytes: 64}", "has no unit; write it like 64MiB"},
      {"compute: {duration: 20}", "duration: '20' has no unit; write it like 250us"},
      {"compute: {time: 20ms}", "unknown key"},
      {"compute: {duration: 1ms, duration: 2ms}", "duration"},
      {"compute: {duration: -1ms}", "does not start with a number"},
      {"compute: {duration: 25h}", "is too long; at most 24h"},
      {"compute: {}", "key 'duration' is missing"},
      {"allreduce: {communicator: world, bytes: 1B}",
       "'allreduce' is no kind of op; compute, all_reduce"},
      {"all_reduce: {bytes: 1B}", "key 'communicator' is missing"},
      {"all_reduce: {communicator: wrld, bytes: 1B}",
       "'wrld' is not among 'communicators'; one of 'world', 'pair'"},
      {"all_reduce: {communicator: world}", "key 'bytes' is missing"},
      {"all_reduce: {communicator: world, bytes: 2000TiB}", "is too large; at most 1024TiB"},
      {"barrier: {communicator: world, bytes: 1B}", "unknown key"},
      {"broadcast: {communicator: world, bytes: 1B, root: 4}", "from 0 to 3"},
      {"broadcast: {communicator: world, bytes: 1B}", "key 'root' is missing"},
      {"send: {communicator: pair, bytes: 1B, to: 2}", "from 0 to 1"},
      {"all_to_all: {communicator: world, per_peer: odd}",
       "'odd' is not among 'per_peer_bytes'; one of 'even'"},
      {"all_to_all: {communicator: pair, per_peer: even, bytes: 1B}",
       "both 'bytes' and 'per_peer'"},
      {"compute: {duration: 1ms, after: [later]}", "no earlier op of this class is called 'later'"},
      {"compute: {duration: 1ms, after: [0]}", "op 0 does not stand before this one"},
      {"{compute: {duration: 1ms}, barrier: {communicator: world}}", "an op has one key, its kind"},
  };
  for (const auto& [op, expected] : cases) EXPECT_THAT(op_error(op), HasSubstr(expected)) << op;
}

TEST(Text, MistakesOfTheFrame) {
  EXPECT_THAT(error_of("profile: p\nranks: 4\n"), HasSubstr("key 'communicators' is missing"));
  EXPECT_THAT(error_of("profile: p\nranks: 0\n"), HasSubstr("p.yaml:2:8: ranks"));
  EXPECT_THAT(error_of("profile: p\nranks: 4\ncommunicators: {w: {ranks: 0-4}}\nclasses: {}\n"),
              HasSubstr("rank 4 does not exist; the job has 4 ranks"));
  EXPECT_THAT(error_of("profile: p\nranks: 2\nper_peer_bytes: {m: [[1B, 2B], [1B]]}\n"
                       "communicators: {}\nclasses: {}\n"),
              HasSubstr("this row has 1 sizes; as many as there are rows, 2"));
  EXPECT_THAT(error_of("[1, 2]"), HasSubstr("p.yaml:1:1"));
  EXPECT_THAT(error_of(""), HasSubstr("p.yaml"));
  EXPECT_THAT(error_of("profile: [\n"), HasSubstr("p.yaml:"));
  EXPECT_THAT(error_of(std::string(2 << 20, '#')), testing::Not(HasSubstr("(read)")));
}

TEST(Text, DeclaredStreamsAndPhasesAreTheOnlyOnes) {
  const std::string text =
      "profile: p\nranks: 1\nstreams: [compute]\nphases: [a]\ncommunicators: {}\nclasses:\n"
      "  all: {ranks: all, ops: [compute: {duration: 1ms, ";
  EXPECT_THAT(error_of(text + "stream: other}]}\n"),
              HasSubstr("'other' is no stream of this profile; one of 'compute'"));
  EXPECT_THAT(error_of(text + "phase: b}]}\n"),
              HasSubstr("'b' is no phase of this profile; one of 'a'"));
}

TEST(Text, AnAmbiguousNameIsRefusedAndANumberHelps) {
  const std::string two =
      "      - compute: {name: x, duration: 1ms}\n      - compute: {name: x, duration: 1ms}\n";
  EXPECT_THAT(error_of(kHead + two + "      - barrier: {communicator: world, after: x}\n"),
              HasSubstr("several ops of this class are called 'x'"));
  const auto profile = read(two + "      - barrier: {communicator: world, after: [1]}\n");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_THAT(profile->classes[0].ops[2].after, testing::ElementsAre(1U));
}

}  // namespace
}  // namespace rehearsal::profile
