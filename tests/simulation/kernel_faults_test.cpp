// Faults of hosts' kernels, and operators' commands, in a whole cluster: that they come and go as
// planned, and that, whoever dies or pauses when, all is soon what it was. REHEARSAL_SEED=n runs
// just that history.
#include <gmock/gmock.h>

#include <cstdlib>
#include <iostream>

#include "core/fault/kernel_runner.hpp"
#include "core/report/summary.hpp"
#include "tests/simulation/cluster.hpp"

namespace rehearsal::simulation {
namespace {

using testing::HasSubstr;

constexpr Duration kMargin = 2s;

/// A rate on host1's first NIC from the second iteration on, for three of them.
constexpr const char* kFault =
    "faults:\n"
    "  - name: cut\n"
    "    what: {kind: rate, to: [50%, 25%, 10%]}\n"
    "    where: {hosts: host1, nics: data0, direction: sent}\n"
    "    when: {iteration: 1, iterations: 3, for: 6s}\n"
    "    mechanism: kernel\n";

/// A command of host1 in their place.
constexpr const char* kCommand =
    "faults:\n"
    "  - name: cut\n"
    "    what: {kind: external, command: cut, arguments: {port: 7}}\n"
    "    where: {hosts: host1}\n"
    "    when: {iteration: 1, iterations: 3, for: 6s}\n";

WorldOptions with_helpers(std::uint32_t agents, std::uint64_t seed, bool commands) {
  WorldOptions options = cluster(agents, seed);
  options.helpers = true;
  options.commands = commands;
  return options;
}

class KernelFaultsOfARun : public testing::Test {
 protected:
  void join(std::uint32_t agents = 2, std::uint64_t seed = 1) {
    world_ = std::make_unique<World>(with_helpers(agents, seed, commands_));
    for (std::size_t i = 0; i < world_->agents(); ++i)
      clean_.push_back(world_->host(i).interfaces());
    ASSERT_TRUE(world_->run_until([&] { return all_joined(*world_) && helpers_are_up(); }, 20s));
    world_->run_for(100ms);  // the coordinator hears of it
  }
  bool helpers_are_up() const {
    for (std::size_t i = 0; i < world_->agents(); ++i)
      if (!(commands_ ? world_->agent(i).external : world_->agent(i).helper)) return false;
    return true;
  }
  void start(std::uint32_t iterations) { start(iterations, commands_ ? kCommand : kFault); }
  void start(std::uint32_t iterations, const std::string& more) {
    drill_.agents = static_cast<std::uint32_t>(world_->agents());
    drill_.iterations = iterations;
    drill_.more = more;
    person_ = request_run(*world_, drill_);
  }
  bool ended() const { return finished(*world_, person_) != nullptr; }
  bool fault_is_on() const { return world_->agent(1).faults_applied > 0; }
  bool all_clean() const {
    for (std::size_t i = 0; i < world_->agents(); ++i)
      if (world_->host(i).interfaces() != clean_[i] || !world_->host(i).commands_on().empty())
        return false;
    return true;
  }
  report::Summary summary() const {
    auto read = report::read_summary(stored_file(*world_, "summary.json"));
    EXPECT_TRUE(read) << read.error().text();
    return read ? *read : report::Summary{};
  }

  void whoever_dies();

  bool commands_ = false;  ///< instead of faults of the kernel
  std::unique_ptr<World> world_;
  std::vector<std::map<std::uint32_t, fault::InterfaceState>> clean_;
  DrillOptions drill_;
  std::size_t person_ = 0;
};

TEST_F(KernelFaultsOfARun, ComeAndGoAndTheirTrueTimesAreReported) {
  join();
  start(20);
  ASSERT_TRUE(world_->run_until([&] { return fault_is_on(); }, 10s)) << log_tail(*world_);
  EXPECT_FALSE(all_clean());
  ASSERT_TRUE(world_->run_until([&] { return ended(); }, 20s)) << log_tail(*world_);
  EXPECT_EQ(finished(*world_, person_)->verdict(), "pass") << finished(*world_, person_)->table();
  EXPECT_TRUE(all_clean());
  const report::Summary made = summary();
  ASSERT_EQ(made.faults.size(), 1U);
  ASSERT_FALSE(made.faults[0].spells.empty());
  EXPECT_EQ(made.faults[0].spells[0].host, "host1");
  EXPECT_GT(made.faults[0].spells[0].ended, made.faults[0].spells[0].began);
  EXPECT_TRUE(made.faults[0].problems.empty());
}

TEST_F(KernelFaultsOfARun, AnApplyThatIsRefusedEndsTheRunWithItsName) {
  join();
  world_->host(1).put_foreign_root("data0");
  start(20);
  ASSERT_TRUE(world_->run_until([&] { return ended(); }, 20s)) << log_tail(*world_);
  EXPECT_EQ(finished(*world_, person_)->exit_code(), 3U);
  EXPECT_THAT(finished(*world_, person_)->reason(),
              testing::AllOf(HasSubstr("host1"), HasSubstr("fault 'cut'"), HasSubstr("htb 5:")));
}

TEST_F(KernelFaultsOfARun, WhatSomebodyElseChangedMeanwhileIsAConflictAndTheirs) {
  join();
  start(40);
  ASSERT_TRUE(world_->run_until([&] { return fault_is_on(); }, 10s));
  world_->host(1).put_foreign_root("data0");
  const auto theirs = world_->host(1).interfaces();
  ASSERT_TRUE(world_->run_until([&] { return ended(); }, 20s)) << log_tail(*world_);
  EXPECT_THAT(finished(*world_, person_)->table(), HasSubstr("CONFLICT"));
  EXPECT_EQ(finished(*world_, person_)->exit_code(), 3U);
  EXPECT_EQ(world_->host(1).interfaces(), theirs);
}

TEST_F(KernelFaultsOfARun, WhatCannotBeUndoneIsLoudAndBlocksTheHost) {
  join();
  start(40);
  ASSERT_TRUE(world_->run_until([&] { return fault_is_on(); }, 10s));
  world_->host(1).refuse_changes(true);
  ASSERT_TRUE(world_->run_until([&] { return ended(); }, 20s)) << log_tail(*world_);
  EXPECT_THAT(finished(*world_, person_)->table(), HasSubstr("STUCK"));
  world_->run_for(3s);
  start(2, "");
  ASSERT_TRUE(world_->run_until(
      [&] { return last_told(*world_, person_, Envelope::kFailure) != nullptr; }, 5s));
  EXPECT_THAT(last_told(*world_, person_, Envelope::kFailure)->failure().message(),
              testing::AllOf(HasSubstr("'host1' takes no runs"), HasSubstr("STUCK")));
  // The kernel gives in: the helper tries every second.
  world_->host(1).refuse_changes(false);
  world_->run_for(5s);
  EXPECT_TRUE(all_clean());
  start(2, "");
  ASSERT_TRUE(world_->run_until([&] { return ended(); }, 20s));
  EXPECT_EQ(finished(*world_, person_)->verdict(), "pass");
}

TEST_F(KernelFaultsOfARun, AnOperatorListsAndClearsThem) {
  join();
  start(100'000);
  ASSERT_TRUE(world_->run_until([&] { return fault_is_on(); }, 10s));
  const std::size_t other = world_->open_operator();
  const auto ask = [&](bool clear) {
    Envelope request;
    request.mutable_faults_request()->set_clear(clear);
    world_->send(other, request);
    const auto answers = [&] {
      return std::ranges::count_if(world_->told(other),
                                   [](const Envelope& e) { return e.has_faults_reply(); });
    };
    const auto before = answers();
    EXPECT_TRUE(world_->run_until([&] { return answers() > before; }, 5s));
    return last_told(*world_, other, Envelope::kFaultsReply)->faults_reply();
  };
  const auto listed = ask(false);
  ASSERT_EQ(listed.hosts_size(), 2);
  ASSERT_EQ(listed.hosts(1).faults_size(), 1);
  EXPECT_EQ(listed.hosts(1).faults(0).fault(), "cut");
  EXPECT_EQ(listed.hosts(1).faults(0).state(), "applied");
  EXPECT_GT(listed.hosts(1).faults(0).lease_left_ns(), 0U);
  const auto cleared = ask(true);
  EXPECT_EQ(cleared.hosts(1).faults_size(), 0);
  EXPECT_TRUE(all_clean());
  ASSERT_TRUE(world_->run_until([&] { return ended(); }, 10s));
  EXPECT_THAT(finished(*world_, person_)->reason(), HasSubstr("an operator had it undone"));
}

enum class Death { agent, coordinator, helper, link, pause, agent_and_helper, operator_gone, last };

std::vector<std::uint64_t> seeds() {
  if (const char* only = std::getenv("REHEARSAL_SEED")) return {std::strtoull(only, nullptr, 10)};
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) all.push_back(seed);
  return all;
}

void KernelFaultsOfARun::whoever_dies() {
  std::size_t died_while_on = 0;
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE("REHEARSAL_SEED=" + std::to_string(seed));
    Random random(seed);
    clean_.clear();
    join(2, seed);
    start(100'000);
    if (random.chance(0.8)) world_->run_until([&] { return fault_is_on(); }, 10s);
    world_->run_for(Duration{static_cast<std::int64_t>(random.below(20'000'000))});
    died_while_on += all_clean() ? 0 : 1;
    const auto death = static_cast<Death>(random.below(static_cast<std::uint64_t>(Death::last)));
    switch (death) {
      case Death::agent:
        world_->kill_agent(1);
        break;
      case Death::coordinator:
        world_->kill_coordinator();
        break;
      case Death::helper:
        world_->kill_helper(1);
        world_->run_for(Duration{static_cast<std::int64_t>(random.below(1'000'000'000))});
        world_->start_helper(1);
        break;
      case Death::link:
        world_->cut_agent(1);
        break;
      case Death::pause:
        world_->pause_agent(1);
        break;
      case Death::agent_and_helper:
        world_->kill_agent(1);
        world_->kill_helper(1);
        world_->start_helper(1);
        break;
      case Death::operator_gone:
      case Death::last:
        world_->close_operator(person_);
        break;
    }
    EXPECT_TRUE(world_->run_until([&] { return all_clean(); }, fault::kRunLease + kMargin))
        << "death " << static_cast<int>(death) << "\n"
        << log_tail(*world_);
    world_->run_for(5s);
    EXPECT_TRUE(all_clean()) << "and nobody begins it again";
    // All back: the next run, with the fault, passes.
    world_->start_coordinator();
    world_->start_agent(1);
    world_->resume_agent(1);
    const bool ready = world_->run_until(
        [&] {
          return all_joined(*world_) && helpers_are_up() && world_->coordinator().run.empty() &&
                 world_->agent(1).run.empty() && world_->agent(0).run.empty();
        },
        20s);
    ASSERT_TRUE(ready) << log_tail(*world_);
    world_->run_for(3s);
    start(8);
    ASSERT_TRUE(world_->run_until([&] { return ended(); }, 20s))
        << (last_told(*world_, person_, Envelope::kFailure)
                ? last_told(*world_, person_, Envelope::kFailure)->failure().message()
                : "no end")
        << "\n"
        << log_tail(*world_);
    EXPECT_EQ(finished(*world_, person_)->verdict(), "pass") << finished(*world_, person_)->table();
    EXPECT_TRUE(all_clean());
    if (HasFailure()) return;
  }
  if (seeds().size() > 1) {
    EXPECT_GT(died_while_on, seeds().size() / 2);
  }
}

TEST_F(KernelFaultsOfARun, WhoeverDiesEveryKernelIsSoonWhatItWas) { whoever_dies(); }

TEST_F(KernelFaultsOfARun, WhoeverDiesEveryCommandIsSoonUndone) {
  commands_ = true;
  whoever_dies();
}

TEST_F(KernelFaultsOfARun, ACommandThatCannotBeUndoneIsLoudAndBlocksTheHost) {
  commands_ = true;
  join();
  start(40);
  ASSERT_TRUE(world_->run_until([&] { return fault_is_on(); }, 10s)) << log_tail(*world_);
  EXPECT_EQ(world_->host(1).commands_on(), std::set<std::string>{"cut --port=7"});
  world_->host(1).refuse_changes(true);
  ASSERT_TRUE(world_->run_until([&] { return ended(); }, 20s)) << log_tail(*world_);
  EXPECT_THAT(finished(*world_, person_)->table(), HasSubstr("STUCK"));
  EXPECT_EQ(finished(*world_, person_)->exit_code(), 3U);
  world_->host(1).refuse_changes(false);
  world_->run_for(5s);
  EXPECT_TRUE(all_clean());
}

}  // namespace
}  // namespace rehearsal::simulation
