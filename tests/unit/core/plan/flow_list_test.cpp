#include "core/plan/flow_list.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/random.hpp"
#include "core/plan/flow_list_text.hpp"
#include "tests/support/cluster/plans.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using profile::Op;
using profile::OpKind;
using test::op_of;
using test::plan_of;
using test::profile_of;

/// A line that outlives the next one.
struct Kept {
  FlowLine line;
  std::vector<std::string> after;
};

std::map<std::string, Kept> all_lines(const Plan& plan) {
  std::map<std::string, Kept> lines;
  FlowList list{plan};
  for (FlowLine line; list.next(line);) {
    Kept kept{line, {}};
    for (const MessageId& id : line.after) kept.after.push_back(to_string(id));
    kept.line.after = {};
    kept.line.after_ops = {};
    EXPECT_TRUE(lines.emplace(to_string(line.id), kept).second)
        << to_string(line.id) << " is there twice";
  }
  return lines;
}

profile::Profile every_kind(std::uint32_t ranks, Random& random) {
  std::vector<Op> ops;
  for (const OpKind kind :
       {OpKind::all_reduce, OpKind::all_gather, OpKind::reduce_scatter, OpKind::all_to_all,
        OpKind::broadcast, OpKind::reduce, OpKind::gather, OpKind::scatter, OpKind::barrier})
    for (int i = 0; i < 2; ++i)
      ops.push_back(
          op_of(kind, random.below(6000), static_cast<std::uint32_t>(random.below(ranks))));
  return profile_of(ranks, ops);
}

/// True if the messages can be sent in some order in which each follows those it waits for.
bool has_an_order(const std::map<std::string, Kept>& lines) {
  std::map<std::string, std::vector<std::string>> waiting;
  std::map<std::string, std::size_t> left;
  std::vector<std::string> ready;
  for (const auto& [id, kept] : lines) {
    left[id] = kept.after.size();
    if (kept.after.empty()) ready.push_back(id);
    for (const std::string& earlier : kept.after) waiting[earlier].push_back(id);
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const std::string id = ready.back();
    ready.pop_back();
    ++done;
    for (const std::string& next : waiting[id])
      if (--left[next] == 0) ready.push_back(next);
  }
  return done == lines.size();
}

TEST(FlowList, AddsUpToTheLoadAndWaitsOnlyForWhatItsRankReceives) {
  const std::uint64_t seed = 11;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random{seed};
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U})
    for (const std::uint32_t per_host : {1U, 2U}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << per_host << " a host");
      const Plan plan = plan_of(every_kind(ranks, random), per_host, test::small_settings());
      const Load load = expand_load(plan);
      const auto lines = all_lines(plan);
      std::map<std::pair<HostIndex, NicIndex>, std::pair<Bytes, Bytes>> nics;
      Bytes local;
      for (const auto& [id, kept] : lines) {
        const FlowLine& line = kept.line;
        for (const std::string& earlier : kept.after) {
          ASSERT_TRUE(lines.contains(earlier)) << earlier;
          EXPECT_EQ(lines.at(earlier).line.id.destination, line.id.source);
          EXPECT_EQ(lines.at(earlier).line.destination_op, line.id.op);
        }
        if (line.passage != Passage::wire) {
          local += line.bytes;
          continue;
        }
        nics[{line.from.host, line.from.nic}].first += line.bytes;
        nics[{line.to.host, line.to.nic}].second += line.bytes;
      }
      for (const NicLoad& nic : load.nics) {
        const auto total = nics[{nic.host, nic.nic}];
        EXPECT_EQ(total.first, nic.sent);
        EXPECT_EQ(total.second, nic.received);
      }
      EXPECT_EQ(local, load.jobs[0].local);
      EXPECT_TRUE(has_an_order(lines));
    }
}

TEST(FlowList, SendsAndReceivesMeetAcrossRankClasses) {
  profile::Profile profile = profile_of(2, {});
  const Op compute = test::compute_of(std::chrono::milliseconds{1});
  profile.classes = {
      {"first", {Rank{0}}, {compute, op_of(OpKind::send, 100, 1), op_of(OpKind::send, 200, 1)}},
      {"second", {Rank{1}}, {op_of(OpKind::recv, 100, 0), compute, op_of(OpKind::recv, 200, 0)}}};
  const auto lines = all_lines(plan_of(profile, 1));
  std::map<profile::OpIndex, std::set<profile::OpIndex>> met;
  for (const auto& [id, kept] : lines) met[kept.line.id.op].insert(kept.line.destination_op);
  const std::map<profile::OpIndex, std::set<profile::OpIndex>> expected = {{1, {0}}, {2, {2}}};
  EXPECT_EQ(met, expected);
}

TEST(FlowList, AnOpWaitsForItsStreamItsCommunicatorAndWhatItNames) {
  profile::Profile profile = profile_of(
      2, {op_of(OpKind::all_reduce, 100), test::compute_of(std::chrono::milliseconds{1}, 1),
          op_of(OpKind::all_reduce, 100)});
  profile.classes[0].ops[2].stream = 1;
  const Plan plan = plan_of(profile, 1);
  FlowList list{plan};
  for (FlowLine line; list.next(line);) {
    const std::vector<profile::OpIndex> after(line.after_ops.begin(), line.after_ops.end());
    const std::vector<profile::OpIndex> both = {0, 1};
    EXPECT_EQ(after, line.id.op == 0 ? std::vector<profile::OpIndex>{} : both);
  }
}

std::string text_of(const Plan& plan, FlowFormat format) {
  std::string text = flow_header(format);
  FlowList list{plan};
  for (FlowLine line; list.next(line);) append_flow(plan, line, format, text);
  return text;
}

TEST(FlowListText, IsStable) {
  Plan plan = plan_of(profile_of(3, {op_of(OpKind::all_reduce, 700)}), 2, test::small_settings());
  plan.jobs[0].name = "a,\"b\"";
  test::expect_golden("plan/flows.jsonl", text_of(plan, FlowFormat::jsonl));
  test::expect_golden("plan/flows.csv", text_of(plan, FlowFormat::csv));
  const Load load = expand_load(plan);
  test::expect_golden("plan/flows_per_nic.jsonl", nic_totals(plan, load, FlowFormat::jsonl));
  test::expect_golden("plan/flows_per_nic.csv", nic_totals(plan, load, FlowFormat::csv));
}

}  // namespace
}  // namespace rehearsal::plan
