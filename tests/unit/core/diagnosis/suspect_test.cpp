#include "core/diagnosis/suspect.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace rehearsal::diagnosis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kHosts = 5;

/// Every NIC of `kHosts` hosts sends to every other; `exposed` says how long a flow takes.
template <typename Exposed>
Observations exchange(Exposed exposed, std::uint32_t windows = 4) {
  Observations observations;
  observations.windows.resize(windows, {.iterations = 10, .iteration_time = 20ms});
  for (std::uint32_t from = 0; from < kHosts; ++from) {
    observations.host_of_nic.push_back(HostIndex{from});
    for (std::uint32_t to = 0; to < kHosts; ++to) {
      if (from == to) continue;
      const std::uint32_t distance = (to + kHosts - from) % kHosts;
      Flow flow{.source = from, .destination = to, .kind = distance};
      for (std::uint32_t window = 0; window < windows; ++window) {
        // Peers that are served late take longer.
        flow.windows.push_back(
            {.messages = 10, .bytes = 1e6, .exposed = distance * exposed(from, to, window)});
      }
      observations.flows.push_back(std::move(flow));
    }
  }
  return observations;
}

const Suspect& only(const std::vector<Suspect>& suspects) {
  static const Suspect kNobody;
  EXPECT_EQ(suspects.size(), 1U);
  return suspects.empty() ? kNobody : suspects.front();
}

TEST(FindSuspects, NobodyStandsOutWhereAllAreAlike) {
  EXPECT_TRUE(find_suspects(exchange([](auto, auto, auto) { return 1ms; })).empty());
}

TEST(FindSuspects, NothingMeasuredNobodyNamed) { EXPECT_TRUE(find_suspects({}).empty()); }

TEST(FindSuspects, ASlowSenderAReceiverAndALinkLookDifferent) {
  const auto sender =
      find_suspects(exchange([](auto from, auto, auto) { return from == 3 ? 2ms : 1ms; }));
  EXPECT_EQ(only(sender).place, Place::nic_sending);
  EXPECT_EQ(only(sender).nic, 3U);
  EXPECT_NEAR(only(sender).factor, 2, 0.01);
  EXPECT_GT(only(sender).confidence, 0.8);

  const auto receiver =
      find_suspects(exchange([](auto, auto to, auto) { return to == 3 ? 2ms : 1ms; }));
  EXPECT_EQ(only(receiver).place, Place::nic_receiving);
  EXPECT_EQ(only(receiver).nic, 3U);

  const auto both = find_suspects(
      exchange([](auto from, auto to, auto) { return from == 3 || to == 3 ? 4ms : 1ms; }));
  EXPECT_EQ(only(both).place, Place::nic);
  EXPECT_EQ(only(both).nic, 3U);
  EXPECT_NEAR(only(both).factor, 4, 0.01);

  const auto link = find_suspects(
      exchange([](auto from, auto to, auto) { return from == 3 && to == 1 ? 2ms : 1ms; }));
  EXPECT_EQ(only(link).place, Place::link);
  EXPECT_EQ(only(link).nic, 3U);
  EXPECT_EQ(only(link).destination, 1U);
  EXPECT_FALSE(only(link).ends_alike);
}

TEST(FindSuspects, WhatIsSeenOnlyOnceIsNotBelieved) {
  EXPECT_TRUE(find_suspects(exchange([](auto from, auto, auto window) {
                return from == 3 && window == 0 ? 8ms : 1ms;
              })).empty());
}

TEST(FindSuspects, OfARunThatBecameSlowOnlyTheSlowPartIsLookedAt) {
  Observations observations =
      exchange([](auto from, auto, auto window) { return from == 3 && window == 3 ? 2ms : 1ms; });
  for (Window& window : observations.windows) window.iteration_time = 400us;
  observations.windows[3].iteration_time = 800us;
  const auto suspects = find_suspects(observations);
  EXPECT_EQ(only(suspects).place, Place::nic_sending);
  EXPECT_TRUE(only(suspects).slow_part);
  EXPECT_EQ(only(suspects).windows_of, 1U);
}

/// Ranks of two on each host that compute 10 ms an iteration as planned, but for some.
Observations computing(std::vector<std::uint32_t> slow_ranks, Duration more) {
  Observations observations;
  observations.windows.resize(4, {.iterations = 10, .iteration_time = 20ms});
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const bool slow = std::ranges::find(slow_ranks, rank) != slow_ranks.end();
    observations.ranks.push_back(
        {.rank = Rank{rank},
         .host = HostIndex{rank / 2},
         .planned = 10ms,
         .taken = std::vector<Duration>(4, 10 * (slow ? 10ms + more : Duration{10ms}))});
  }
  return observations;
}

TEST(FindSuspects, ARankThatComputesSlowlyIsNoPlaceOfTheNetwork) {
  const auto suspects = find_suspects(computing({5}, 5ms));
  EXPECT_EQ(only(suspects).place, Place::rank);
  EXPECT_TRUE(only(suspects).computing);
  EXPECT_EQ(only(suspects).rank, Rank{5});
  EXPECT_EQ(only(suspects).excess, Duration{5ms});
  EXPECT_NEAR(only(suspects).factor, 1.5, 1e-9);
}

TEST(FindSuspects, AHostWhoseRanksAllComputeSlowlyIsNamedItself) {
  const auto suspects = find_suspects(computing({4, 5}, 5ms));
  EXPECT_EQ(only(suspects).place, Place::host);
  EXPECT_EQ(only(suspects).host, HostIndex{2});
}

TEST(FindSuspects, WhatAnIterationHardlyFeelsIsNobodysFault) {
  EXPECT_TRUE(find_suspects(computing({5}, 500us)).empty());
}

TEST(FindSuspects, WhatAllDoIsNobodysFault) {
  EXPECT_TRUE(find_suspects(computing({0, 1, 2, 3, 4, 5, 6, 7}, 5ms)).empty());
}

TEST(Place, NamesComeBack) {
  for (const Place place : {Place::nic_sending, Place::nic_receiving, Place::nic, Place::link,
                            Place::host, Place::rank}) {
    EXPECT_EQ(place_from(to_string(place)), place);
  }
  EXPECT_FALSE(place_from("nobody"));
}

}  // namespace
}  // namespace rehearsal::diagnosis
