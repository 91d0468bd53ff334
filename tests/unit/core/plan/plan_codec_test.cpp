#include "core/plan/plan_codec.hpp"

#include <gmock/gmock.h>

#include "core/base/random.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Plan rich_plan() {
  Plan plan = test::sample_plan(5, 3);
  plan.transport = {TransportKind::tcp, "reno", ReceiveMode::discard};
  plan.synchronisation = SyncMode::phase;
  plan.seed = 18446744073709551615ULL;
  plan.limits.start_skew = std::chrono::microseconds{10};
  plan.expectations = {
      {"iteration_p50", std::chrono::milliseconds{1}, {}},
      {"all_reduce_busbw", {}, BitRate{1'000'000}},
      {.metric = "iteration_p99", .stage = Stage::after, .at_most_of_before = {1'100'000}},
      {.metric = "recovery", .within = {250'000}, .iterations = 4},
      {.metric = "found", .of_fault = "cut"}};
  plan.collectives.cross_nic = 0;
  plan.collectives.pxn_level = 1;
  plan.hosts[1].shared_nics = true;
  plan.hosts[1].transports = {TransportKind::loopback, TransportKind::tcp};
  plan.hosts[1].nics[0].rdma = RdmaPort{.device = "mlx5_1",
                                        .port = 2,
                                        .active = true,
                                        .ethernet = true,
                                        .rate = BitRate{100'000'000'000},
                                        .mtu = 4096,
                                        .gids = {{.type = GidType::roce_v1, .address = "10.0.0.1"},
                                                 {.type = GidType::roce_v2, .address = "fe80::1"}}};
  plan.jobs.push_back(plan.jobs[0]);
  plan.jobs[1].name = "again";
  return plan;
}

TEST(PlanCodec, APlanIsASeedOfTheFuzzTarget) {
  test::expect_seed("plan_codec/rich.plan", encode(rich_plan()));
}

TEST(PlanCodec, ReadsBackWhatItWrote) {
  const Plan plan = rich_plan();
  const std::string bytes = encode(plan);
  const auto read = decode(bytes);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->drill, plan.drill);
  EXPECT_EQ(read->hosts, plan.hosts);
  ASSERT_EQ(read->jobs.size(), 2U);
  EXPECT_EQ(read->jobs[1].name, "again");
  EXPECT_EQ(*read->jobs[0].profile, *plan.jobs[0].profile);
  EXPECT_EQ(read->jobs[0].profile, read->jobs[1].profile) << "a shared profile stays shared";
  EXPECT_EQ(read->jobs[0].profile_identity, plan.jobs[0].profile_identity);
  EXPECT_EQ(read->jobs[0].bindings, plan.jobs[0].bindings);
  EXPECT_EQ(read->transport, plan.transport);
  EXPECT_EQ(read->collectives, plan.collectives);
  EXPECT_EQ(read->local, plan.local);
  EXPECT_EQ(read->synchronisation, plan.synchronisation);
  EXPECT_EQ(read->iterations, plan.iterations);
  EXPECT_EQ(read->seed, plan.seed);
  EXPECT_EQ(read->limits, plan.limits);
  EXPECT_EQ(read->expectations, plan.expectations);
  EXPECT_EQ(plan_hash(*read), plan_hash(plan));
  EXPECT_EQ(encode(*read), bytes);
}

TEST(PlanCodec, ReadsBackTheSettingsOfRdma) {
  Plan plan = test::sample_plan(5, 3);
  plan.transport = {.kind = TransportKind::rdma,
                    .verify_payload = true,
                    .rdma = {.operation = RdmaOperation::send,
                             .queue_pairs = 3,
                             .completions = CompletionMode::event,
                             .traffic_class = 106,
                             .service_level = 2,
                             .hop_limit = 7,
                             .flow_label = 99,
                             .ack_timeout = 14,
                             .retry_count = 1,
                             .rnr_retry = 2,
                             .rnr_timer = 3,
                             .path_mtu = 512,
                             .rate_limit = BitRate{5'000'000},
                             .ece = false}};
  const auto read = decode(encode(plan));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->transport, plan.transport);
  const std::string hash = plan_hash(plan);
  EXPECT_EQ(plan_hash(*read), hash);
  plan.transport.rdma.ece = true;
  EXPECT_NE(plan_hash(plan), hash);
  plan.transport.rdma.ece = false;
  plan.transport.rdma.flow_label = 98;
  EXPECT_NE(plan_hash(plan), hash);
}

TEST(PlanCodec, TruncatedAnywhereIsAnError) {
  const std::string bytes = encode(rich_plan());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = decode(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, ErrorCode::protocol);
    EXPECT_THAT(read.error().message, StartsWith("plan: "));
  }
  EXPECT_THAT(decode(bytes + '\0').error().message, HasSubstr("bytes after the end"));
}

TEST(PlanCodec, OtherVersionsAndOtherBytesAreNamed) {
  std::string bytes = encode(rich_plan());
  EXPECT_EQ(decode("").error().message, "plan: byte 0: the data ends inside a number (truncated?)");
  EXPECT_THAT(decode("\x03"
                     "abc")
                  .error()
                  .message,
              HasSubstr("this is no plan"));
  bytes[15] = 9;
  EXPECT_THAT(decode(bytes).error().message, HasSubstr("version 9; this program reads 4"));
}

TEST(PlanCodec, ChecksWhatPlanningWouldHaveChecked) {
  const auto failure = [](auto change) {
    Plan plan = rich_plan();
    change(plan);
    const auto read = decode(encode(plan));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(failure([](Plan&) {}), "");
  EXPECT_THAT(failure([](Plan& plan) { plan.collectives.cross_nic = 3; }),
              StartsWith("plan: collectives.cross_nic: is 3"));
  EXPECT_THAT(failure([](Plan& plan) { plan.collectives.pxn_level = 3; }),
              StartsWith("plan: collectives.pxn_level: is 3"));
  EXPECT_THAT(failure([](Plan& plan) { plan.collectives.credits = 2; }),
              StartsWith("plan: collectives.credits: is 2 with 2 slices"));
  EXPECT_THAT(failure([](Plan& plan) { plan.jobs[0].bindings[1].host.value = 3; }),
              HasSubstr("a rank on a host that is not there"));
  EXPECT_THAT(failure([](Plan& plan) { plan.jobs[0].bindings[1].nic.value = 2; }),
              HasSubstr("a rank on a NIC that is not there"));
  EXPECT_THAT(failure([](Plan& plan) { plan.jobs[0].bindings.pop_back(); }),
              HasSubstr("not as many bindings"));
  EXPECT_THAT(failure([](Plan& plan) { plan.transport.congestion_control = "../x"; }),
              HasSubstr("transport.congestion_control"));
  EXPECT_THAT(failure([](Plan& plan) { plan.iterations = 0; }), HasSubstr("iterations: is 0"));
  EXPECT_THAT(failure([](Plan& plan) { plan.jobs.clear(); }), HasSubstr("0 jobs"));
  EXPECT_THAT(failure([](Plan& plan) {
                auto broken = std::make_shared<profile::Profile>(*plan.jobs[0].profile);
                broken->classes[0].ops[2].after = {2};
                plan.jobs[0].profile = broken;
              }),
              HasSubstr("the profile is not valid"));
}

TEST(PlanCodec, DamagedBytesNeverDoMoreThanFail) {
  constexpr std::uint64_t kSeed = 77;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  const std::string bytes = encode(rich_plan());
  int failures = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = bytes;
    damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    const auto read = decode(damaged);
    if (!read) ++failures;
    EXPECT_TRUE(!read || !plan_hash(*read).empty());
  }
  EXPECT_GT(failures, 1000);
}

}  // namespace
}  // namespace rehearsal::plan
