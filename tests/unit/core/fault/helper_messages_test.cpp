#include "core/fault/helper_messages.hpp"

#include <gtest/gtest.h>

namespace rehearsal::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<KernelFault> every_fault() {
  return {{"eth1", Direction::sent, RateCap{BitRate{25'000'000'000}}},
          {"eth1", Direction::sent,
           Impairment{milliseconds{20}, milliseconds{1}, {1}, {2}, {3}, {Share::kAll}}},
          {"eth1", Direction::received, Blackhole{}},
          {"eth1", Direction::both, LinkDown{}},
          {"eth1", Direction::both, SmallerMtu{1500}},
          {"eth1", Direction::received, PauseFrames{true}},
          {"", Direction::both, ExternalCall{"cut", {{"port", "7"}, {"switch", "leaf1"}}}}};
}

TEST(HelperMessages, RequestsAreReadAsTheyWereWritten) {
  std::vector<HelperRequest> requests = {HelloRequest{},      RenewRequest{{}, seconds{3}},
                                         RenewRequest{7, {}}, UndoRequest{},
                                         UndoRequest{9},      ListRequest{},
                                         ClearRequest{true}};
  for (KernelFault& fault : every_fault()) {
    requests.emplace_back(ApplyRequest{{std::move(fault), seconds{5}, seconds{60}}});
  }
  for (const HelperRequest& request : requests) {
    const auto read = decode_request(encode(request));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, request);
  }
}

TEST(HelperMessages, RepliesAreReadAsTheyWereWritten) {
  const std::vector<HelperReply> replies = {
      WelcomeReply{3,
                   {FaultKind::rate, FaultKind::mtu},
                   {"eth1"},
                   seconds{60},
                   {"lo", "eth0"},
                   {{"cut",
                     {{"port", IntegerArgument{INT64_MIN, INT64_MAX}},
                      {"switch", WordArgument{{"leaf1", "leaf2"}}},
                      {"label", NameArgument{8}}},
                     seconds{60},
                     seconds{12},
                     "it is not there"}},
                   "STUCK: x"},
      AppliedReply{7},
      RenewedReply{2},
      UndoneReply{{{1, UndoOutcome::conflict, "text"}}, "blocked"},
      ListReply{{{3, every_fault()[1], FaultState::stuck, seconds{4}, {}, seconds{1}, "why"}}, {}},
      RefusedReply{ErrorCode::not_found, "there is no eth9"}};
  for (const HelperReply& reply : replies) {
    const auto read = decode_reply(encode(reply));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, reply);
  }
}

TEST(HelperMessages, TheLongestListFits) {
  std::vector<ExternalArgument> longest;
  for (int i = 0; i < 5; ++i)
    longest.push_back({"a" + std::to_string(i), std::string(kArgumentValueMax, 'a')});
  ListReply list;
  for (std::size_t i = 0; i < kFaultsMax; ++i) {
    list.faults.push_back({.id = UINT64_MAX - i,
                           .fault = {"", Direction::both, ExternalCall{"cut", longest}},
                           .state = FaultState::stuck,
                           .lease_left = seconds{10},
                           .duration_left = seconds{86400},
                           .problem = std::string(5000, 'x')});
  }
  const std::string bytes = encode(HelperReply{list});
  EXPECT_LE(bytes.size(), kMessageBytesMax);
  EXPECT_TRUE(decode_reply(bytes));
}

TEST(HelperMessages, WhatIsCutOrHasMoreIsRefused) {
  const std::string bytes =
      encode(HelperRequest{ApplyRequest{{every_fault()[1], seconds{5}, seconds{60}}}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_request(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_request(bytes + "x"));
  EXPECT_FALSE(decode_request(std::string(kMessageBytesMax + 1, 'x')));
}

}  // namespace
}  // namespace rehearsal::fault
