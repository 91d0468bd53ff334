// problems(): each test breaks one thing of a valid profile and expects a line that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "core/profile/profile.hpp"
#include "tests/support/profiles.hpp"

namespace rehearsal::profile {
namespace {

using testing::Contains;
using testing::HasSubstr;

void expect_problem(const std::function<void(Profile&)>& spoil, const std::string& line) {
  Profile profile = test::small_profile();
  ASSERT_THAT(problems(profile), testing::IsEmpty());
  spoil(profile);
  EXPECT_THAT(problems(profile), Contains(HasSubstr(line)));
}

TEST(Problems, AValidProfileHasNone) {
  EXPECT_THAT(problems(test::small_profile()), testing::IsEmpty());
}

TEST(Problems, RandomValidProfilesHaveNone) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %lu\n", static_cast<unsigned long>(seed));
  Random random(seed);
  for (int i = 0; i < 200; ++i) {
    EXPECT_THAT(problems(test::random_profile(random)), testing::IsEmpty());
  }
}

TEST(Problems, Frame) {
  expect_problem([](Profile& p) { p.phases.clear(); }, "phases: there is none");
  expect_problem([](Profile& p) { p.ranks = 0; }, "ranks: the job has none");
  expect_problem([](Profile& p) { p.streams[1] = "compute"; }, "stream 'compute' is there twice");
  expect_problem([](Profile& p) { p.communicators[0].name.clear(); },
                 "communicator without a name");
}

TEST(Problems, Communicators) {
  expect_problem([](Profile& p) { p.communicators[1].ranks[0] = Rank{4}; },
                 "communicator 'ends': rank 4 does not exist; the job has 4 ranks");
  expect_problem([](Profile& p) { p.communicators[1].ranks[0] = Rank{0}; },
                 "communicator 'ends': rank 0 is there twice");
  expect_problem(
      [](Profile& p) {
        p.communicators.push_back({"none", {}});
      },
      "communicator 'none': it has no ranks");
}

TEST(Problems, EveryRankHasJustOneClass) {
  expect_problem([](Profile& p) { p.classes[0].ranks.pop_back(); }, "rank 2 in no class");
  expect_problem([](Profile& p) { p.classes[1].ranks.push_back(Rank{1}); },
                 "class 'first': rank 1 is also in class 'middle'");
  expect_problem([](Profile& p) { std::swap(p.classes[0].ranks[0], p.classes[0].ranks[1]); },
                 "class 'middle': its ranks are not ascending");
  expect_problem([](Profile& p) { p.ranks = 5; }, "rank 4 in no class");
}

TEST(Problems, IndicesOutOfRange) {
  expect_problem([](Profile& p) { p.classes[0].ops[0].stream = 2; }, "stream number 2 of 2");
  expect_problem([](Profile& p) { p.classes[0].ops[0].phase = 9; }, "phase number 9 of 2");
  expect_problem([](Profile& p) { p.classes[0].ops[3].communicator.value = 7; },
                 "class 'middle', op 3 (all_reduce 'bucket'): communicator number 7 of 2");
  expect_problem([](Profile& p) { p.classes[0].ops[1].peer_bytes = 1; },
                 "per_peer_bytes number 1 of 1");
  expect_problem([](Profile& p) { p.classes[0].ops[4].peer = 4; },
                 "position 4 of communicator 'world', which has 4 ranks");
}

TEST(Problems, AfterGoesOnlyBackwards) {
  expect_problem([](Profile& p) { p.classes[0].ops[1].after = {1}; },
                 "after op 1; an op can only wait for earlier ones");
  expect_problem([](Profile& p) { p.classes[0].ops[1].after = {4'000'000'000U}; },
                 "after op 4000000000");
  expect_problem([](Profile& p) { p.classes[0].ops[3].after = {2, 1}; }, "not ascending");
}

TEST(Problems, SizesAndDurations) {
  expect_problem([](Profile& p) { p.classes[0].ops[0].duration = Duration{-1}; },
                 "a duration of -1 ns");
  expect_problem([](Profile& p) { p.classes[0].ops[3].bytes = Bytes{~0ULL}; }, "over 1 PiB");
  expect_problem([](Profile& p) { p.classes[0].ops[1].bytes = Bytes{1}; },
                 "both bytes and per-peer sizes");
  expect_problem([](Profile& p) { p.classes[0].ops[3].peer_bytes = 0; },
                 "which only an all_to_all has");
  expect_problem([](Profile& p) { p.peer_bytes[0].bytes.pop_back(); },
                 "per_peer_bytes 'skewed': 15 sizes; a table of 4 positions has 16");
  expect_problem([](Profile& p) { p.classes[0].ops[1].communicator.value = 1; },
                 "is for 4 ranks, communicator 'ends' has 2");
  expect_problem([](Profile& p) { p.classes[0].ops[4].kind = OpKind::barrier; },
                 "a barrier has no bytes");
}

TEST(Problems, OnlyMembersUseACommunicator) {
  expect_problem([](Profile& p) { p.classes[0].ops[4].communicator.value = 1; },
                 "rank 1 of the class is no member of communicator 'ends'");
}

TEST(Problems, PhasesDoNotRunBackwards) {
  expect_problem([](Profile& p) { p.classes[0].ops[0].phase = 1; },
                 "it waits for op 0, which belongs to a later phase");
}

TEST(Problems, AllRanksIssueTheSameCollectives) {
  expect_problem([](Profile& p) { p.classes[1].ops[3].bytes = Bytes{8}; },
                 "communicator 'world', collective 1: class 'middle' has all_reduce of 1000003 B");
  expect_problem([](Profile& p) { p.classes[1].ops[4].peer = 1; }, "root 1");
  expect_problem([](Profile& p) { p.classes[2].ops.erase(p.classes[2].ops.begin() + 4); },
                 "class 'middle' issues 3 collectives, class 'last' issues 2");
  expect_problem([](Profile& p) { std::swap(p.classes[1].ops[3], p.classes[1].ops[4]); },
                 "must issue the same in the same order");
}

TEST(Problems, EverySendHasItsRecv) {
  expect_problem([](Profile& p) { p.classes[2].ops.pop_back(); },
                 "communicator 'ends', rank 0 to rank 3: 1 send, 0 recv");
  expect_problem([](Profile& p) { p.classes[2].ops.back().bytes = Bytes{1}; },
                 "the send has 4096 B in phase 'backward', the recv 1 B");
  expect_problem([](Profile& p) { p.classes[1].ops.back().peer = 1; }, "its peer is its own rank");
}

TEST(Problems, AreListedUpToACap) {
  Profile profile = test::small_profile();
  for (int i = 0; i < 500; ++i) profile.communicators.push_back({"c" + std::to_string(i), {}});
  const auto lines = problems(profile);
  EXPECT_EQ(lines.size(), 101U);
  EXPECT_THAT(lines.back(), HasSubstr("and more"));
}

}  // namespace
}  // namespace rehearsal::profile
