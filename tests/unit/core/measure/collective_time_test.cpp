#include "core/measure/collective_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "core/base/random.hpp"
#include "core/measure/agent_reducer.hpp"
#include "core/measure/arrival_curve.hpp"
#include "core/measure/instance_table.hpp"
#include "core/measure/iteration_table.hpp"
#include "tests/support/allocation_counter.hpp"

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;
using profile::OpKind;

const JobIndex kJob{0};

Instant at(Duration since) { return Instant{100s + since}; }

profile::Op op(OpKind kind, std::uint32_t communicator, std::uint64_t bytes,
               std::uint32_t peer = 0) {
  profile::Op result;
  result.kind = kind;
  result.communicator = CommunicatorIndex{communicator};
  result.bytes = Bytes{bytes};
  result.peer = peer;
  return result;
}

// Four ranks: compute, an all_reduce of all, an all_reduce of each half, and a message 0 → 3.
std::shared_ptr<const profile::Profile> small_job() {
  auto job = std::make_shared<profile::Profile>();
  job->name = "small";
  job->ranks = 4;
  job->streams = {"main"};
  job->phases = {"iteration"};
  job->communicators = {{"all", {Rank{0}, Rank{1}, Rank{2}, Rank{3}}},
                        {"low", {Rank{0}, Rank{1}}},
                        {"high", {Rank{2}, Rank{3}}}};
  const profile::Op compute = op(OpKind::compute, 0, 0);
  const auto reduce = [](std::uint32_t communicator, std::uint64_t bytes) {
    return op(OpKind::all_reduce, communicator, bytes);
  };
  const auto message = [](OpKind kind, std::uint32_t peer) { return op(kind, 0, 64, peer); };
  job->classes = {
      {"sender", {Rank{0}}, {compute, reduce(0, 1000), reduce(1, 500), message(OpKind::send, 3)}},
      {"low", {Rank{1}}, {compute, reduce(0, 1000), reduce(1, 500)}},
      {"high", {Rank{2}}, {compute, reduce(0, 1000), reduce(2, 500)}},
      {"receiver",
       {Rank{3}},
       {compute, reduce(0, 1000), reduce(2, 500), message(OpKind::recv, 0)}}};
  return job;
}

OpRecord record(std::uint32_t rank, std::uint32_t iteration, profile::OpIndex op, Duration ready,
                Duration done) {
  return {.job = kJob,
          .rank = Rank{rank},
          .iteration = iteration,
          .op = op,
          .instance = 0,
          .ready = at(ready),
          .done = at(done)};
}

IterationRecord iteration_record(std::uint32_t rank, std::uint32_t iteration, Duration start,
                                 Duration done, Duration waited = 0ns) {
  return {.job = kJob,
          .rank = Rank{rank},
          .iteration = iteration,
          .start = at(start),
          .appointment = at(start - 1us),
          .done = at(done),
          .waited = waited};
}

AgentReducer reducer_for(std::vector<std::uint32_t> ranks, std::uint32_t iterations,
                         bool free_running = false) {
  ReducedJob job{.job = kJob, .profile = small_job(), .ranks = {}};
  for (const std::uint32_t rank : ranks) job.ranks.push_back(Rank{rank});
  return AgentReducer(std::vector{job}, {.iterations = iterations, .free_running = free_running});
}

InstanceTable table(std::uint32_t iterations = 2) { return {{small_job()}, iterations}; }

PartialResults through_the_wire(const PartialResults& results) {
  Encoder encoder;
  encode(results, encoder);
  Decoder decoder(encoder.bytes());
  auto back = decode_partial_results(decoder);
  EXPECT_TRUE(back);
  EXPECT_EQ(decoder.remaining(), 0U);
  EXPECT_EQ(back->instances, results.instances);
  EXPECT_EQ(back->iterations, results.iterations);
  return std::move(*back);
}

TEST(CollectiveTime, IsTheShortestOverAllRanksOfAllAgents) {
  AgentReducer left = reducer_for({0, 1}, 2);
  AgentReducer right = reducer_for({2, 3}, 2);
  // All end at 10 ms; rank 3 is ready last and waits for nobody.
  left.add(std::vector{record(0, 0, 1, 1ms, 10ms), record(1, 0, 1, 2ms, 10ms)});
  right.add(std::vector{record(2, 0, 1, 3ms, 10ms), record(3, 0, 1, 8ms, 10ms)});

  InstanceTable merged = table();
  ASSERT_TRUE(merged.add(through_the_wire(left.take())));
  ASSERT_TRUE(merged.add(through_the_wire(right.take())));
  const std::vector<ClassTimes> classes = merged.classes();
  ASSERT_EQ(classes.size(), 1U);
  EXPECT_EQ(classes[0].what.kind, OpKind::all_reduce);
  EXPECT_EQ(classes[0].what.bytes, Bytes{1000});
  EXPECT_EQ(classes[0].ranks, 4U);
  EXPECT_EQ(classes[0].instances, (std::vector<InstanceTime>{{0, 2ms}}));
  EXPECT_EQ(classes[0].incomplete, 0U);
  EXPECT_EQ(classes[0].rank_times.count, 4U);
  EXPECT_EQ(classes[0].rank_times.max, Duration{9ms});
  EXPECT_EQ(merged.ops_completed(kJob), 4U);
}

TEST(CollectiveTime, AnInstanceThatSomeRankDidNotCompleteHasNoTime) {
  AgentReducer left = reducer_for({0, 1}, 2);
  left.add(std::vector{record(0, 0, 1, 1ms, 10ms), record(1, 0, 1, 2ms, 10ms)});
  InstanceTable merged = table();
  ASSERT_TRUE(merged.add(left.take()));
  const std::vector<ClassTimes> classes = merged.classes();
  ASSERT_EQ(classes.size(), 1U);
  EXPECT_TRUE(classes[0].instances.empty());
  EXPECT_EQ(classes[0].incomplete, 1U);
  EXPECT_EQ(merged.ops_completed(kJob), 2U);
}

TEST(CollectiveTime, CommunicatorsAndSizesAreClassesOfTheirOwnInProfileOrder) {
  AgentReducer all = reducer_for({0, 1, 2, 3}, 1);
  std::vector<OpRecord> records;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    records.push_back(record(rank, 0, 2, 5ms, 7ms));
    records.push_back(record(rank, 0, 1, 1ms, 4ms));
  }
  all.add(records);
  InstanceTable merged = table();
  ASSERT_TRUE(merged.add(all.take()));
  const std::vector<ClassTimes> classes = merged.classes();
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].what.communicator, CommunicatorIndex{0});
  EXPECT_EQ(classes[1].what.communicator, CommunicatorIndex{1});
  EXPECT_EQ(classes[2].what.communicator, CommunicatorIndex{2});
  EXPECT_EQ(classes[1].ranks, 2U);
}

TEST(CollectiveTime, ASendBelongsToItsRecv) {
  AgentReducer left = reducer_for({0, 1}, 1);
  AgentReducer right = reducer_for({2, 3}, 1);
  left.add(std::vector{record(0, 0, 3, 1ms, 3ms)});
  right.add(std::vector{record(3, 0, 3, 2ms, 3500us)});
  InstanceTable merged = table();
  ASSERT_TRUE(merged.add(through_the_wire(left.take())));
  ASSERT_TRUE(merged.add(through_the_wire(right.take())));
  const std::vector<ClassTimes> classes = merged.classes();
  ASSERT_EQ(classes.size(), 1U);
  EXPECT_EQ(classes[0].what.kind, OpKind::send);
  EXPECT_EQ(classes[0].ranks, 2U);
  EXPECT_EQ(classes[0].instances, (std::vector<InstanceTime>{{0, 1500us}}));
}

TEST(CollectiveTime, HowRecordsWereDividedDoesNotMatter) {
  const std::uint64_t seed = 7;
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  std::vector<OpRecord> records;
  for (std::uint32_t iteration = 0; iteration < 5; ++iteration) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const Duration ready{static_cast<std::int64_t>(random.below(1'000'000))};
      records.push_back(record(rank, iteration, 1, ready, 2ms));
    }
  }
  InstanceTable at_once = table(5);
  AgentReducer one = reducer_for({0, 1, 2, 3}, 5);
  one.add(records);
  ASSERT_TRUE(at_once.add(one.take()));

  InstanceTable in_parts = table(5);
  AgentReducer other = reducer_for({0, 1, 2, 3}, 5);
  for (std::size_t i = records.size(); i > 1; --i) {
    std::swap(records[i - 1], records[random.below(i)]);
  }
  for (const OpRecord& one_record : records) {
    other.add(std::span(&one_record, 1));
    if (random.chance(0.3)) {
      ASSERT_TRUE(in_parts.add(other.take()));
    }
  }
  ASSERT_TRUE(in_parts.add(other.take()));
  EXPECT_EQ(at_once.classes()[0].instances, in_parts.classes()[0].instances);
  EXPECT_EQ(at_once.classes()[0].instances.size(), 5U);
  EXPECT_EQ(at_once.classes()[0].rank_times, in_parts.classes()[0].rank_times);
}

TEST(CollectiveTime, TakeForgets) {
  AgentReducer reducer = reducer_for({0}, 1);
  reducer.add(std::vector{record(0, 0, 1, 1ms, 2ms)});
  reducer.add(std::vector{iteration_record(0, 0, 1ms, 2ms)});
  EXPECT_EQ(reducer.take().instances.size(), 1U);
  const PartialResults rest = reducer.take();
  EXPECT_TRUE(rest.instances.empty());
  EXPECT_TRUE(rest.iterations.empty());
  EXPECT_TRUE(rest.rank_times.empty());
}

TEST(CollectiveTime, AnAgentThatContradictsThePlanIsRefusedAsAWhole) {
  const auto refused = [](auto change) {
    PartialResults results;
    InstancePartial good{.key = {.job = kJob},
                         .what = {.job = kJob, .kind = OpKind::all_reduce, .bytes = Bytes{1000}},
                         .ranks = 2,
                         .shortest = 1ms,
                         .longest = 2ms};
    results.instances = {good, good};
    results.instances[1].key.iteration = 1;
    change(results.instances[1]);
    InstanceTable merged = table();
    const bool failed = !merged.add(results);
    if (failed) {
      EXPECT_EQ(merged.ops_completed(kJob), 0U);
    }
    return failed;
  };
  EXPECT_FALSE(refused([](InstancePartial&) {}));
  EXPECT_TRUE(refused([](InstancePartial& partial) { partial.key.job = JobIndex{1}; }));
  EXPECT_TRUE(
      refused([](InstancePartial& partial) { partial.key.communicator = CommunicatorIndex{3}; }));
  EXPECT_TRUE(refused([](InstancePartial& partial) { partial.key.iteration = 2; }));
  EXPECT_TRUE(refused([](InstancePartial& partial) { partial.ranks = 5; }));
}

TEST(CollectiveTime, MoreResultsThanRanksAreRefused) {
  AgentReducer reducer = reducer_for({0, 1, 2, 3}, 1);
  std::vector<OpRecord> records;
  for (std::uint32_t rank = 0; rank < 4; ++rank) records.push_back(record(rank, 0, 1, 1ms, 2ms));
  reducer.add(records);
  const PartialResults results = reducer.take();
  InstanceTable merged = table();
  ASSERT_TRUE(merged.add(results));
  EXPECT_FALSE(merged.add(results));
}

TEST(CollectiveTime, AddingRecordsDoesNotAllocate) {
  AgentReducer reducer = reducer_for({0, 1}, 100);
  ByteBins bins(at(0s), 64, 10us);
  const std::uint64_t before = rehearsal::test::allocations();
  for (std::uint32_t iteration = 0; iteration < 100; ++iteration) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const OpRecord op_done = record(rank, iteration, 1, 1ms, 2ms);
      reducer.add(std::span(&op_done, 1));
      const IterationRecord done = iteration_record(rank, iteration, 1ms, 2ms);
      reducer.add(std::span(&done, 1));
      bins.add(at(iteration * 1ms), 1);  // widens again and again
    }
  }
  EXPECT_EQ(rehearsal::test::allocations(), before);
  EXPECT_TRUE(bins.widened());
  EXPECT_EQ(reducer.take().instances.size(), 100U);
  EXPECT_GT(rehearsal::test::allocations(), before) << "the counter counts";
}

TEST(ClassBytes, OfPerPeerSizesIsTheLargestSendBuffer) {
  profile::Profile job = *small_job();
  job.peer_bytes = {{"uneven", 2, {Bytes{1}, Bytes{2}, Bytes{30}, Bytes{4}}}};
  profile::Op uneven = op(OpKind::all_to_all, 0, 0);
  uneven.peer_bytes = 0;
  EXPECT_EQ(class_bytes(job, uneven), Bytes{34});
}

TEST(IterationTime, IsTheLongestOverRanksWithoutWaiting) {
  AgentReducer left = reducer_for({0, 1}, 1);
  AgentReducer right = reducer_for({2, 3}, 1);
  left.add(std::vector{iteration_record(0, 0, 0ms, 10ms), iteration_record(1, 0, 0ms, 15ms, 4ms)});
  right.add(std::vector{iteration_record(2, 0, 1ms, 10ms), iteration_record(3, 0, 2ms, 14ms, 2ms)});
  IterationTable merged({4}, 1);
  ASSERT_TRUE(merged.add(HostIndex{0}, through_the_wire(left.take()).iterations, {}));
  EXPECT_TRUE(merged.complete(kJob).empty()) << "two ranks are missing";
  ASSERT_TRUE(merged.add(HostIndex{1}, through_the_wire(right.take()).iterations, {}));
  EXPECT_EQ(merged.complete(kJob), (std::vector<IterationTime>{{kJob, 0, 11ms, 4ms}}));
  EXPECT_TRUE(merged.start_skews().empty()) << "no clock is known";
  EXPECT_EQ(merged.span_of(HostIndex{1}), (std::pair{at(1ms), at(14ms)}));
  EXPECT_FALSE(merged.span_of(HostIndex{2}));
}

TEST(IterationTime, FreeRunningCountsFromTheLastEnd) {
  AgentReducer reducer = reducer_for({0, 1, 2, 3}, 2, true);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    reducer.add(std::vector{iteration_record(rank, 0, 1ms, 10ms + rank * 1us),
                            iteration_record(rank, 1, 12ms, 25ms)});
  }
  IterationTable merged({4}, 2);
  ASSERT_TRUE(merged.add(HostIndex{0}, reducer.take().iterations, {}));
  EXPECT_EQ(merged.complete(kJob),
            (std::vector<IterationTime>{{kJob, 0, 9ms + 3us, 0ns}, {kJob, 1, 15ms, 0ns}}));
}

TEST(StartSkew, IsTakenOnTheCoordinatorsClockWithItsBound) {
  AgentReducer left = reducer_for({0, 1}, 1);
  AgentReducer right = reducer_for({2, 3}, 1);
  left.add(std::vector{iteration_record(0, 0, 50us, 1ms), iteration_record(1, 0, 20us, 1ms)});
  right.add(std::vector{iteration_record(2, 0, 5s, 6s), iteration_record(3, 0, 6s, 7s)});
  IterationTable merged({4}, 1);
  const std::vector<ClockOffset> left_clock = {{at(0s), 0ns, 2us}};
  // The right host's clock is 5 s − 70 µs ahead; an estimate from far away must not be taken.
  const std::vector<ClockOffset> right_clock = {
      {at(-100s), 1h, 1h}, {at(5s), -5s + 70us, 3us}, {at(100s), 1h, 1h}};
  ASSERT_TRUE(merged.add(HostIndex{0}, left.take().iterations, left_clock));
  ASSERT_TRUE(merged.add(HostIndex{1}, right.take().iterations, right_clock));
  const std::vector<StartSkew> skews = merged.start_skews();
  ASSERT_EQ(skews.size(), 1U);
  EXPECT_EQ(skews[0].skew, Duration{50us}) << "20 µs against 70 µs";
  EXPECT_EQ(skews[0].error_bound, Duration{5us});
}

TEST(IterationTable, RefusesWhatIsNotInThePlan) {
  IterationTable merged({4}, 2);
  const IterationPartial good{.job = kJob, .iteration = 1, .ranks = 4};
  IterationPartial behind = good;
  behind.iteration = 2;
  EXPECT_FALSE(merged.add(HostIndex{0}, std::vector{behind}, {}));
  EXPECT_TRUE(merged.add(HostIndex{0}, std::vector{good}, {}));
  EXPECT_FALSE(merged.add(HostIndex{0}, std::vector{good}, {})) << "eight results of four ranks";
}

}  // namespace
}  // namespace rehearsal::measure
