// Histories whose truth is known: does the diagnosis name the place, from measurements alone?
#include <gtest/gtest.h>

#include <iostream>

#include "core/base/random.hpp"
#include "core/diagnosis/stretches.hpp"
#include "tests/simulation/history.hpp"

namespace rehearsal::simulation {
namespace {

using diagnosis::Place;
using diagnosis::Suspect;

/// Is this the place, or the flow between it and its only peer?
bool names(const Truth& truth, const HistoryOptions& options, const Suspect& suspect) {
  const std::uint32_t nic = truth.host * options.nics + truth.nic;
  const std::uint32_t peer = truth.peer * options.nics + truth.nic;
  const bool of_nic = suspect.place == Place::link && suspect.ends_alike;
  const bool of_one_direction =
      (suspect.place == Place::nic_sending || suspect.place == Place::nic_receiving) &&
      suspect.nic == nic;
  switch (truth.kind) {
    case Truth::Kind::none:
      return false;
    case Truth::Kind::nic:
      return (suspect.place == Place::nic && suspect.nic == nic) ||
             ((options.truth.rate > 0.5) && of_one_direction);
    case Truth::Kind::nic_sending:
      return (suspect.place == Place::nic_sending || of_nic) && suspect.nic == nic;
    case Truth::Kind::nic_receiving:
      return (suspect.place == Place::nic_receiving && suspect.nic == nic) ||
             (of_nic && suspect.destination == nic);
    case Truth::Kind::link:
    case Truth::Kind::latency:
      return suspect.place == Place::link && suspect.nic == nic && suspect.destination == peer;
    case Truth::Kind::straggler:
      return suspect.computing && suspect.host.value == truth.host;
  }
  return false;
}

HistoryOptions history_of(std::uint64_t seed, Truth::Kind kind) {
  Random random(seed);
  HistoryOptions options;
  options.seed = seed;
  options.hosts = static_cast<std::uint32_t>(random.between(3, 6));
  options.nics = static_cast<std::uint32_t>(random.between(1, 2));
  options.ranks_per_host = options.nics;
  options.workload = static_cast<Workload>(random.below(3));
  options.iterations = static_cast<std::uint32_t>(random.between(8, 24));
  options.bytes = Bytes{std::uint64_t{1} << random.between(21, 23)};
  options.jitter = std::chrono::microseconds{random.between(0, 40)};
  options.unevenness = 0.05;
  options.compute = std::chrono::microseconds{random.between(0, 3000)};
  Truth& truth = options.truth;
  truth.kind = kind;
  truth.host = static_cast<std::uint32_t>(random.below(options.hosts));
  truth.nic = static_cast<std::uint32_t>(random.below(options.nics));
  // The ring of several ranks a host leaves by the last one's NIC.
  if (options.workload == Workload::ring) truth.nic = options.nics - 1;
  truth.peer = (truth.host + 1) % options.hosts;
  truth.rate = random.chance(0.5) ? 0.5 : 0.25;
  // A link is its ends' share of the NIC wide before it is in the way.
  if (kind == Truth::Kind::link && options.workload != Workload::ring)
    truth.rate /= options.hosts - 1;
  truth.delay = std::chrono::microseconds{
      kind == Truth::Kind::latency ? random.between(2000, 8000) : random.between(1500, 4000)};
  if (random.chance(0.3)) {
    truth.first = options.iterations / 3;
    truth.last = options.iterations * 2 / 3;
  }
  return options;
}

/// Too little or too short to make an iteration take 1.25 times as long, or half of the run.
HistoryOptions mild_history_of(std::uint64_t seed, Truth::Kind kind) {
  HistoryOptions options = history_of(seed, kind);
  Random random(seed + 1);
  options.iterations = static_cast<std::uint32_t>(random.between(24, 48));
  options.bytes = Bytes{1U << 20};
  options.jitter = std::chrono::microseconds{random.between(0, 20)};
  Truth& truth = options.truth;
  truth.rate = 0.7 + 0.15 * random.fraction();
  if (kind == Truth::Kind::link && options.workload != Workload::ring)
    truth.rate /= options.hosts - 1;
  truth.delay = std::chrono::microseconds{kind == Truth::Kind::latency ? random.between(200, 500)
                                                                       : random.between(400, 900)};
  truth.first = options.iterations / 3;
  truth.last = truth.first + options.iterations / 4;
  return options;
}

/// Nothing is wrong, but the network and the hosts are noisy.
HistoryOptions clean_history_of(std::uint64_t seed) {
  HistoryOptions options = history_of(seed, Truth::Kind::none);
  Random random(seed + 1);
  options.iterations = static_cast<std::uint32_t>(random.between(16, 40));
  options.bytes = Bytes{1U << 20};
  options.jitter = std::chrono::microseconds{random.between(0, 60)};
  options.hiccup_chance = 0.3 + 0.7 * random.fraction();
  options.hiccup = std::chrono::microseconds{random.between(10, 400)};
  return options;
}

struct Tally {
  int right = 0;
  int wrong = 0;
  int silent = 0;
};

void tell(const HistoryOptions& options, const History& history) {
  const auto stretches = diagnosis::stretches_of(history.observations);
  std::cout << "seed " << options.seed << ", " << options.hosts << " hosts, " << options.nics
            << " NICs, workload " << static_cast<int>(options.workload) << ", "
            << to_string(options.truth) << ", " << (stretches ? stretches->slow.size() : 0)
            << " slow windows: " << describe(history);
}

template <typename HistoryOf>
Tally tally_of(Truth::Kind kind, int histories, HistoryOf history_of) {
  Tally tally;
  for (int i = 0; i < histories; ++i) {
    const HistoryOptions options =
        history_of(1000 * static_cast<std::uint64_t>(kind) + static_cast<std::uint64_t>(i), kind);
    const History history = live_through(options);
    if (history.suspects.empty()) {
      ++tally.silent;
      if (kind == Truth::Kind::none) continue;
    } else if (names(options.truth, options, history.suspects.front())) {
      ++tally.right;
      continue;
    } else {
      ++tally.wrong;
    }
    tell(options, history);
  }
  std::cout << "right " << tally.right << ", wrong " << tally.wrong << ", silent " << tally.silent
            << "\n";
  return tally;
}

class Suspects : public testing::TestWithParam<Truth::Kind> {};

TEST_P(Suspects, AreNamed) {
  const Tally tally = tally_of(GetParam(), 40, history_of);
  EXPECT_GE(tally.right, 37);
  EXPECT_LE(tally.wrong, 2);
}

INSTANTIATE_TEST_SUITE_P(Truths, Suspects,
                         testing::Values(Truth::Kind::nic, Truth::Kind::nic_sending,
                                         Truth::Kind::nic_receiving, Truth::Kind::link,
                                         Truth::Kind::latency, Truth::Kind::straggler));

class MildSuspects : public testing::TestWithParam<Truth::Kind> {};

TEST_P(MildSuspects, AreNamedThoughTheyHardlySlowAFewIterations) {
  const Tally tally = tally_of(GetParam(), 12, mild_history_of);
  EXPECT_GE(tally.right, 8);
  EXPECT_LE(tally.wrong, 1);
}

INSTANTIATE_TEST_SUITE_P(Truths, MildSuspects,
                         testing::Values(Truth::Kind::nic, Truth::Kind::nic_sending,
                                         Truth::Kind::nic_receiving, Truth::Kind::link,
                                         Truth::Kind::latency, Truth::Kind::straggler));

/// Hosts that get no CPU now and then, messages that are late: at most one run in forty names
/// somebody.
TEST(CleanHistories, HardlyAnybodyIsNamedWhereAllIsNoise) {
  const Tally tally = tally_of(Truth::Kind::none, 40, [](std::uint64_t seed, Truth::Kind) {
    return clean_history_of(seed);
  });
  EXPECT_LE(tally.wrong, 1);
}

TEST(CleanHistories, NobodyIsNamedWhereNothingIsWrong) {
  const Tally tally = tally_of(Truth::Kind::none, 80, history_of);
  EXPECT_EQ(tally.wrong, 0);
}

}  // namespace
}  // namespace rehearsal::simulation
