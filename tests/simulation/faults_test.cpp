// Hundreds of histories from seeds: agents that die, pause, lose their connection in any state, a
// coordinator that restarts, operators that vanish or stop. REHEARSAL_SEED=n runs just that one,
// REHEARSAL_SEEDS=n so many of each kind.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "core/report/summary.hpp"
#include "tests/simulation/cluster.hpp"

namespace rehearsal::simulation {
namespace {

std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* only = std::getenv("REHEARSAL_SEED")) {
    return {std::strtoull(only, nullptr, 10)};
  }
  if (const char* more = std::getenv("REHEARSAL_SEEDS")) count = std::strtoull(more, nullptr, 10);
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= count; ++seed) all.push_back(seed);
  return all;
}

enum class Fault { kill_agent, pause_agent, cut_agent, kill_coordinator, vanish, stop };

/// One history: a cluster, a drill, faults at random instants, and then none.
class History {
 public:
  explicit History(std::uint64_t seed)
      : random_(seed),
        drill_({.agents = static_cast<std::uint32_t>(random_.between(2, 4)),
                .iterations = static_cast<std::uint32_t>(random_.between(1, 6)),
                .mode = std::vector<std::string>{"free", "iteration", "phase"}[random_.below(3)]}),
        world_(options(seed)) {}

  void run(std::uint32_t faults) {
    ASSERT_TRUE(world_.run_until([&] { return all_joined(world_); }, 20s));
    person_ = request_run(world_, drill_);
    for (std::uint32_t i = 0; i < faults; ++i) {
      world_.run_for(Duration{static_cast<std::int64_t>(random_.below(60'000'000))});
      inflict(static_cast<Fault>(random_.below(6)));
    }
    expect_an_end();
    world_.run_for(Duration{static_cast<std::int64_t>(random_.below(3'000'000'000))});
    heal();
    expect_all_ready();
    expect_the_next_run_to_pass();
  }

  World& world() { return world_; }

 private:
  WorldOptions options(std::uint64_t seed) {
    WorldOptions made = cluster(drill_.agents, seed);
    made.control.delay_max =
        Duration{static_cast<std::int64_t>(random_.between(50'000, 5'000'000))};
    made.control.duplicate_chance = random_.chance(0.5) ? 0.2 : 0;
    return made;
  }

  void inflict(Fault fault) {
    const std::size_t agent = random_.below(world_.agents());
    const std::string host = "host" + std::to_string(agent);
    switch (fault) {
      case Fault::kill_agent:
        world_.kill_agent(agent);
        hurt_.push_back(host);
        break;
      case Fault::pause_agent:
        world_.pause_agent(agent);
        hurt_.push_back(host);
        break;
      case Fault::cut_agent:
        world_.cut_agent(agent);
        hurt_.push_back(host);
        break;
      case Fault::kill_coordinator:
        world_.kill_coordinator();
        break;
      case Fault::vanish:
        world_.close_operator(person_);
        break;
      case Fault::stop: {
        if (!world_.operator_connected(person_)) break;
        Envelope stop;
        stop.mutable_stop_request();
        world_.send(person_, stop);
        stop_asked_ = true;
        break;
      }
    }
  }

  /// Every run ends, and says with whom.
  void expect_an_end() {
    if (!world_.has_coordinator() || !world_.operator_connected(person_)) {
      // Nobody is left to be told. Without its coordinator (or its operator) a run falls silent.
      world_.run_for(5s);
      for (std::size_t i = 0; i < world_.agents(); ++i) {
        EXPECT_FALSE(world_.agent_sends(i) && !paused(i)) << "host" << i << " still sends";
      }
      return;
    }
    const bool ended = world_.run_until(
        [&] {
          return finished(world_, person_) != nullptr ||
                 last_told(world_, person_, Envelope::kFailure) != nullptr ||
                 !world_.operator_connected(person_);
        },
        6s);
    ASSERT_TRUE(ended) << "the run does not end";
    const protocol::RunFinished* end = finished(world_, person_);
    if (end == nullptr) return;
    EXPECT_TRUE(end->exit_code() == 0 || end->exit_code() == 3) << end->reason();
    if (end->exit_code() == 0) return expect_bytes_as_planned();
    EXPECT_TRUE(stop_asked_ || names_one_of(hurt_, end->reason())) << end->reason();
  }

  static bool names_one_of(const std::vector<std::string>& hosts, const std::string& text) {
    return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
      return text.find(host) != std::string::npos;
    });
  }

  bool paused(std::size_t agent) const {
    return std::find(hurt_.begin(), hurt_.end(), "host" + std::to_string(agent)) != hurt_.end();
  }

  void heal() {
    world_.start_coordinator();
    for (std::size_t i = 0; i < world_.agents(); ++i) {
      world_.resume_agent(i);
      world_.start_agent(i);
    }
  }

  /// No agent stays reserved.
  void expect_all_ready() {
    const bool ready = world_.run_until(
        [&] {
          if (!all_joined(world_) || !world_.coordinator().run.empty()) return false;
          for (std::size_t i = 0; i < world_.agents(); ++i) {
            if (!world_.agent(i).run.empty()) return false;
          }
          return true;
        },
        15s);
    ASSERT_TRUE(ready) << "an agent is not back or not free";
  }

  void expect_the_next_run_to_pass() {
    person_ = request_run(world_, drill_);
    const bool ended = world_.run_until([&] { return finished(world_, person_) != nullptr; }, 10s);
    ASSERT_TRUE(ended) << "the next run does not end";
    EXPECT_EQ(finished(world_, person_)->verdict(), "pass") << finished(world_, person_)->table();
    expect_bytes_as_planned();
  }

  void expect_bytes_as_planned() {
    const auto summary = report::read_summary(stored_file(world_, "summary.json"));
    ASSERT_TRUE(summary.has_value()) << summary.error().text();
    for (const report::JobSummary& job : summary->jobs) {
      EXPECT_GT(job.bytes_planned.count(), 0u);
      EXPECT_EQ(job.bytes_sent, job.bytes_planned);
      EXPECT_EQ(job.bytes_received, job.bytes_planned);
      EXPECT_EQ(job.ops_completed, job.ops_planned);
      EXPECT_EQ(job.iterations_completed, drill_.iterations);
    }
  }

  Random random_;
  DrillOptions drill_;
  World world_;
  std::size_t person_ = 0;
  std::vector<std::string> hurt_;
  bool stop_asked_ = false;
};

/// The states in which runs ended early, over all histories.
std::set<std::string> run_histories(std::uint64_t count, std::uint32_t faults_max) {
  std::set<std::string> ended_in;
  for (const std::uint64_t seed : seeds(count)) {
    SCOPED_TRACE("REHEARSAL_SEED=" + std::to_string(seed));
    History history(seed);
    const std::uint32_t faults = static_cast<std::uint32_t>(seed) % (faults_max + 1);
    history.run(faults);
    if (testing::Test::HasFailure()) {
      std::cerr << "REHEARSAL_SEED=" << seed << "\n" << log_tail(history.world());
      break;
    }
    for (const std::string& line : history.world().log()) {
      const std::size_t at = line.find(" state=");
      if (!line.starts_with("run ends early") || at == std::string::npos) continue;
      ended_in.insert(line.substr(at + 7, line.find(' ', at + 1) - at - 7));
    }
  }
  return ended_in;
}

TEST(Faults, WithoutAnyEveryRunPassesWithTheBytesOfThePlan) {
  EXPECT_THAT(run_histories(60, 0), testing::IsEmpty());
}
TEST(Faults, OneAtMost) { run_histories(200, 1); }

TEST(Faults, SeveralInARowInEveryState) {
  const std::set<std::string> states = run_histories(250, 3);
  if (std::getenv("REHEARSAL_SEED") != nullptr) return;
  EXPECT_THAT(states, testing::IsSupersetOf({"reserving", "preparing", "connecting", "ready",
                                             "running", "draining"}));
}

TEST(Faults, ConnectionsThatBreakAtRandomEndRunsAndNoMore) {
  for (const std::uint64_t seed : seeds(40)) {
    SCOPED_TRACE("REHEARSAL_SEED=" + std::to_string(seed));
    WorldOptions options = cluster(3, seed);
    options.control.break_chance = 0.01;
    options.control.duplicate_chance = 0.1;
    World world(options);
    for (int run = 0; run < 3; ++run) {
      if (!world.run_until([&] { return all_joined(world); }, 30s)) continue;
      const std::size_t person = request_run(world, {.agents = 3});
      const bool ended = world.run_until(
          [&] { return finished(world, person) != nullptr || !world.operator_connected(person); },
          20s);
      ASSERT_TRUE(ended || last_told(world, person, Envelope::kFailure) != nullptr)
          << log_tail(world);
      world.close_operator(person);
      ASSERT_TRUE(world.run_until([&] { return world.coordinator().run.empty(); }, 10s))
          << log_tail(world);
    }
  }
}

}  // namespace
}  // namespace rehearsal::simulation
