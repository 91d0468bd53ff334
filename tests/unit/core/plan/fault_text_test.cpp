#include "core/plan/fault_text.hpp"

#include <gmock/gmock.h>

#include "core/plan/drill_text.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using fault::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Line 6 is the fault's first.
std::string drill_with(const std::string& fault) {
  return "drill: d\njobs:\n  - {name: j, profile: p, hosts: \"h[1-4]\"}\niterations: "
         "50\nfaults:\n" +
         fault;
}

fault::Fault read(const std::string& text) {
  const auto drill = parse_drill(drill_with(text), "d.yaml");
  EXPECT_TRUE(drill) << drill.error().text();
  return drill ? drill->faults.at(0) : fault::Fault{};
}

std::string error_of(const std::string& what, const std::string& where, const std::string& when,
                     const std::string& more = "") {
  const auto drill = parse_drill(drill_with("  - name: f\n    what: {" + what + "}\n    where: {" +
                                            where + "}\n    when: {" + when + "}\n" + more),
                                 "d.yaml");
  return drill ? "" : drill.error().text();
}

TEST(FaultText, EveryPartIsRead) {
  const fault::Fault fault = read(R"(
  - name: half-rate
    what: {kind: rate, to: [50%, 1/4], of: 400Mbit/s}
    where: {hosts: "h[2-3]", nics: data0, direction: received, peers: h1}
    when: {iteration: 10, phase: backward, iterations: 6, for: 30s,
           repeat: {on_iterations: 2, off_iterations: 1}}
    mechanism: sender
)");
  EXPECT_EQ(fault.name, "half-rate");
  EXPECT_EQ(fault.what.kind, Kind::rate);
  EXPECT_EQ(fault.what.of, BitRate{400'000'000});
  ASSERT_EQ(fault.what.levels.size(), 2U);
  EXPECT_EQ(fault.what.levels[0].rate.millionths, 500'000U);
  EXPECT_EQ(fault.what.levels[1].rate.millionths, 250'000U);
  EXPECT_THAT(fault.where.hosts, ElementsAre("h2", "h3"));
  EXPECT_THAT(fault.where.nics, ElementsAre("data0"));
  EXPECT_THAT(fault.where.peers, ElementsAre("h1"));
  EXPECT_EQ(fault.where.side, fault::Side::received);
  EXPECT_EQ(fault.when.iteration, 10U);
  EXPECT_EQ(fault.when.phase, "backward");
  EXPECT_EQ(fault.when.iterations, 6U);
  EXPECT_EQ(fault.when.length, 30s);
  EXPECT_EQ(fault.when.on_iterations, 2U);
  EXPECT_EQ(fault.mechanism, fault::Mechanism::sender);
}

TEST(FaultText, EveryKindHasItsKeys) {
  const auto what = [](const std::string& text) {
    return read("  - {name: f, what: {" + text +
                "}, where: {hosts: h1}, when: {after: 1s, for: 3s}}\n")
        .what;
  };
  EXPECT_EQ(what("kind: delay, by: 20ms, jitter: 1ms").levels[0].delay, 20ms);
  EXPECT_EQ(what("kind: delay, by: 20ms, jitter: 1ms").jitter, 1ms);
  EXPECT_EQ(what("kind: loss, share: 0.1%, retransmission: 200ms").levels[0].share.millionths,
            1000U);
  EXPECT_EQ(what("kind: loss, share: 0.1%, retransmission: 200ms").retransmission, 200ms);
  EXPECT_EQ(what("kind: straggler, compute: 150%").levels[0].compute.millionths, 1'500'000U);
  EXPECT_EQ(what("kind: mtu, to: 1400B").levels[0].mtu, 1400U);
  EXPECT_TRUE(what("kind: flow_control, to: on").levels[0].pause_frames);
  EXPECT_FALSE(what("kind: flow_control, to: off").levels[0].pause_frames);
  const fault::What jam =
      what("kind: incast, rate: [10%, 40Gbit/s], of: 100Gbit/s, message: 256KiB");
  ASSERT_EQ(jam.levels.size(), 2U);
  EXPECT_EQ(jam.levels[0].rate.millionths, 100'000U);
  EXPECT_EQ(jam.levels[1].traffic, BitRate{40'000'000'000});
  EXPECT_EQ(jam.of, BitRate{100'000'000'000});
  EXPECT_EQ(jam.message, Bytes{256U << 10});
  EXPECT_EQ(jam.credits, 4U);
  const fault::What background = what("kind: background, credits: 2");
  EXPECT_EQ(background.levels, std::vector<fault::Level>{{}});
  EXPECT_EQ(background.message, Bytes{1U << 20});
  EXPECT_EQ(background.credits, 2U);
  for (const Kind kind : {Kind::blackhole, Kind::pause, Kind::crash, Kind::link_down})
    EXPECT_EQ(what("kind: " + std::string(to_string(kind))).kind, kind);
  for (const Kind kind : {Kind::duplicate, Kind::corrupt})
    EXPECT_EQ(what("share: 1%, kind: " + std::string(to_string(kind))).levels.size(), 1U);
  const auto reorder = what("kind: reorder, share: [1%, 2%], by: 5ms").levels;
  ASSERT_EQ(reorder.size(), 2U);
  EXPECT_EQ(reorder[1].share.millionths, 20'000U);
  EXPECT_EQ(reorder[1].delay, 5ms);
}

TEST(FaultText, ALossIsHeldBackByTheAgentAndTrueInTheKernel) {
  const auto error = [](const std::string& keys) {
    const auto drill = parse_drill(
        "drill: d\njobs: [{name: j, profile: p, hosts: h1}]\nfaults:\n  - {name: f, what: {kind: "
        "loss, share: 1%" +
            keys + ", where: {hosts: h1}, when: {after: 1s, for: 3s}}\n",
        "d.yaml");
    return drill ? "" : drill.error().text();
  };
  EXPECT_EQ(error(", retransmission: 5ms}"), "");
  EXPECT_EQ(error("}, mechanism: kernel"), "");
  EXPECT_THAT(error("}"), HasSubstr("key 'retransmission' is missing"));
  EXPECT_THAT(error(", retransmission: 5ms}, mechanism: kernel"),
              HasSubstr("leave retransmission out"));
}

TEST(FaultText, AFaultWithoutADeadlineIsRefused) {
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1", "iteration: 5"),
              testing::AllOf(StartsWith("d.yaml:9:"), HasSubstr("faults[0].when"),
                             HasSubstr("'for' is missing"), HasSubstr("30s")));
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1", "iteration: 5, for: 0s"),
              HasSubstr("above 0s"));
  EXPECT_EQ(error_of("kind: crash", "hosts: h1", "iteration: 5"), "");
}

TEST(FaultText, WhenItBeginsIsSaidOnce) {
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1", "for: 5s"), HasSubstr("either 'iteration'"));
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1", "for: 5s, iteration: 1, after: 1s"),
              HasSubstr("both"));
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1", "for: 5s, after: 1s, phase: p"),
              HasSubstr("a phase of no iteration"));
}

TEST(FaultText, KeysOfOtherKindsAreRefused) {
  EXPECT_THAT(error_of("kind: delay, to: 50%", "hosts: h1", "after: 0s, for: 5s"),
              testing::AllOf(StartsWith("d.yaml:7:"), HasSubstr("faults[0].what.to: unknown key")));
  EXPECT_THAT(error_of("kind: dealy, by: 5ms", "hosts: h1", "after: 0s, for: 5s"),
              HasSubstr("did you mean 'delay'?"));
  EXPECT_THAT(error_of("kind: rate, to: 0.5", "hosts: h1", "after: 0s, for: 5s"),
              HasSubstr("is no share"));
}

TEST(FaultText, ValuesOutOfRangeAreRefused) {
  const std::string now = "after: 0s, for: 5s";
  EXPECT_THAT(error_of("kind: rate, to: 0%", "hosts: h1", now), HasSubstr("above 0% up to 100%"));
  EXPECT_THAT(error_of("kind: rate, to: 150%", "hosts: h1", now), HasSubstr("up to 100%"));
  EXPECT_THAT(error_of("kind: straggler, compute: 50%", "hosts: h1", now), HasSubstr("or more"));
  EXPECT_THAT(error_of("kind: delay, by: 2min", "hosts: h1", now), HasSubstr("up to 1min"));
  EXPECT_THAT(error_of("kind: mtu, to: 100B", "hosts: h1", now), HasSubstr("1280B"));
  EXPECT_THAT(error_of("kind: blackhole", "direction: sent", now), HasSubstr("where"));
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1, share: 10%", now), HasSubstr("one of share"));
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1, nics: a, rail: 0", now), HasSubstr("rail"));
  EXPECT_THAT(error_of("kind: pause", "hosts: h1, direction: sent", now), HasSubstr("direction"));
  EXPECT_THAT(error_of("kind: pause", "hosts: h1", "iteration: 1, iterations: 3, for: 5s"),
              HasSubstr("do not pass while a rank pauses"));
  EXPECT_THAT(
      error_of("kind: rate, to: [50%, 25%]", "hosts: h1", "iteration: 1, iterations: 3, for: 5s"),
      HasSubstr("a multiple of 2"));
  EXPECT_THAT(error_of("kind: blackhole", "hosts: h1", now + ", repeat: {on: 1s}"),
              HasSubstr("a time off"));
  EXPECT_THAT(error_of("kind: link_down", "hosts: h1", now, "    mechanism: sender\n"),
              HasSubstr("for the kernel alone"));
  EXPECT_THAT(error_of("kind: delay, by: 1ms", "hosts: h1", now, "    mechanism: device\n"),
              HasSubstr("delay is nothing that an RDMA device can do"));
  EXPECT_EQ(error_of("kind: rate, to: 50%", "hosts: h1", now, "    mechanism: device\n"), "");
}

TEST(FaultText, NamesAreUnique) {
  const std::string one =
      "  - {name: f, what: {kind: pause}, where: {hosts: h1}, when: {after: 0s, for: 1s}}\n";
  const auto drill = parse_drill(drill_with(one + one), "d.yaml");
  ASSERT_FALSE(drill);
  EXPECT_THAT(drill.error().text(), HasSubstr("two faults are named 'f'"));
}

TEST(FaultText, TrafficIsOfHostsAndNicsAndHasARate) {
  const std::string when = "iteration: 1, for: 10s";
  EXPECT_THAT(error_of("kind: incast, rate: 0%", "hosts: h1", when), HasSubstr("is no traffic"));
  EXPECT_THAT(error_of("kind: incast, rate: 0Gbit/s", "hosts: h1", when),
              HasSubstr("is no traffic"));
  EXPECT_THAT(error_of("kind: incast, rate: 101%", "hosts: h1", when), HasSubstr("up to 100%"));
  EXPECT_THAT(error_of("kind: incast, rate: 40Gbit", "hosts: h1", when),
              HasSubstr("'40Gbit' is neither a share nor a rate"));
  EXPECT_THAT(error_of("kind: background, message: 0B", "hosts: h1", when),
              HasSubstr("up to 64MiB"));
  EXPECT_THAT(error_of("kind: background, credits: 0", "hosts: h1", when), HasSubstr("credits"));
  EXPECT_THAT(error_of("kind: background", "ranks: 1", when), HasSubstr("of hosts and NICs"));
  EXPECT_THAT(error_of("kind: incast", "hosts: h1, direction: sent", when),
              HasSubstr("kind: background"));
  EXPECT_THAT(error_of("kind: incast", "hosts: h1", when, "    mechanism: kernel\n"),
              HasSubstr("nothing that the kernel can do"));
  EXPECT_THAT(error_of("kind: incast", "hosts: h1", "iteration: 1"), HasSubstr("no deadline"));
}

TEST(FaultText, OnePathIsRefusedWithTheReason) {
  EXPECT_THAT(error_of("kind: one_path", "hosts: h1", "iteration: 1, for: 10s"),
              testing::AllOf(HasSubstr("d.yaml:7"), HasSubstr("no host can force flows"),
                             HasSubstr("transport.rdma.flow_label")));
}

}  // namespace
}  // namespace rehearsal::plan
