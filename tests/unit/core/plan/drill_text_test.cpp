#include "core/plan/drill_text.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/random.hpp"
#include "core/plan/host_list.hpp"
#include "core/yaml/yaml.hpp"
#include "tests/support/golden.hpp"

namespace rehearsal::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kFull = R"(drill: dlrm-smoke
jobs:
  - name: dlrm
    profile: dlrm8-v100
    hosts: [host0, host1, host2, host3]
    ranks_per_host: 2
    nics: [data0, data1]
  - name: ring
    profile: ring.yaml
    hosts: host[2-3]
transport: {kind: tcp, congestion_control: reno, receive: discard}
synchronisation: phase
iterations: 7
seed: 18446744073709551615
limits: {duration: 2min, progress: 10s, start_skew: 1ms}
collectives:
  channels: 4
  chunk: 1MiB
  slices_per_chunk: 4
  pipeline_chunk: 256KiB
  point_to_point_chunk: 64KiB
  point_to_point_channels: 1
  credits: 5
  channel_bytes_min: 16KiB
  cross_nic: 1
  pxn_level: 0
local: {rate: 100Gbit/s, latency: 5us}
expectations:
  - {metric: iteration_p50, at_most: 20ms}
  - {metric: all_to_all_busbw, at_least: 5Gbit/s}
)";

constexpr std::string_view kLeast = "drill: d\njobs: [{name: j, profile: p, hosts: [h]}]\n";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The full drill with one piece of its text replaced.
std::string with(std::string_view part, std::string_view replacement) {
  std::string text(kFull);
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::runtime_error("not in the drill: " + std::string(part));
  return text.replace(at, part.size(), replacement);
}

std::string failure_of(std::string_view text) {
  const auto drill = parse_drill(text, "drill.yaml");
  return drill ? "(no failure)" : drill.error().message;
}

TEST(DrillText, ReadsEveryKey) {
  const auto drill = parse_drill(kFull, "drill.yaml");
  ASSERT_TRUE(drill) << drill.error().text();
  Drill expected;
  expected.name = "dlrm-smoke";
  expected.jobs = {{.name = "dlrm",
                    .profile = "dlrm8-v100",
                    .hosts = {"host0", "host1", "host2", "host3"},
                    .ranks_per_host = 2,
                    .nics = {"data0", "data1"}},
                   {.name = "ring",
                    .profile = "ring.yaml",
                    .hosts = {"host2", "host3"},
                    .ranks_per_host = 0,
                    .nics = {}}};
  expected.transport = {TransportKind::tcp, "reno", ReceiveMode::discard};
  expected.synchronisation = SyncMode::phase;
  expected.iterations = 7;
  expected.seed = 18446744073709551615ULL;
  expected.limits = {std::chrono::minutes{2}, std::chrono::seconds{10},
                     std::chrono::milliseconds{1}};
  expected.collectives = {.channels = 4,
                          .chunk = Bytes{1U << 20},
                          .slices_per_chunk = 4,
                          .pipeline_chunk = Bytes{256U << 10},
                          .point_to_point_chunk = Bytes{64U << 10},
                          .point_to_point_channels = 1,
                          .credits = 5,
                          .channel_bytes_min = Bytes{16U << 10},
                          .cross_nic = 1,
                          .pxn_level = 0};
  expected.forced.nccl.channels_min = expected.forced.nccl.channels_max = 4;
  expected.forced.chunk = Bytes{1U << 20};
  expected.forced.slices_per_chunk = 4;
  expected.forced.pipeline_chunk = Bytes{256U << 10};
  expected.forced.point_to_point_channels = 1;
  expected.forced.credits = 5;
  expected.local = {BitRate{100'000'000'000}, std::chrono::microseconds{5}};
  expected.expectations = {{"iteration_p50", std::chrono::milliseconds{20}, {}},
                           {"all_to_all_busbw", {}, BitRate{5'000'000'000}}};
  EXPECT_EQ(*drill, expected);
}

constexpr std::string_view kOnNodes =
    "drill: d\njobs: [{name: j, profile: p, hosts: [h1, h2], node: h100, ranks_per_node: 4, "
    "nodes_per_host: 2}]\n";

TEST(DrillText, ReadsHowAJobStandsOnNodes) {
  const auto drill = parse_drill(kOnNodes, "drill.yaml");
  ASSERT_TRUE(drill) << drill.error().text();
  EXPECT_EQ(drill->jobs[0].node, "h100");
  EXPECT_EQ(drill->jobs[0].ranks_per_node, 4U);
  EXPECT_EQ(drill->jobs[0].nodes_per_host, 2U);
}

TEST(DrillText, ReadsWhatIsForcedInOurWordsAndInNccls) {
  using collective::Algorithm;
  using profile::OpKind;
  const auto ours = parse_drill(std::string(kOnNodes) +
                                    "collectives: {algorithm: tree, protocol: ll128, "
                                    "channels_min: 2, channels_max: 8}\n",
                                "drill.yaml");
  ASSERT_TRUE(ours) << ours.error().text();
  const collective::Forced& nccl = ours->forced.nccl;
  EXPECT_TRUE(nccl.algorithm(OpKind::all_reduce, Algorithm::tree));
  EXPECT_FALSE(nccl.algorithm(OpKind::all_reduce, Algorithm::ring));
  EXPECT_TRUE(nccl.algorithm(OpKind::all_gather, Algorithm::ring)) << "which has no tree";
  EXPECT_EQ(nccl.protocol(OpKind::all_reduce, collective::Protocol::simple),
            collective::Forced::Use::no);
  EXPECT_EQ(nccl.channels_max, 8U);

  const auto theirs = parse_drill(
      std::string(kOnNodes) +
          "collectives:\n  nccl:\n    NCCL_ALGO: 'allreduce:Ring'\n    NCCL_MAX_NCHANNELS: 4\n"
          "    NCCL_CROSS_NIC: 1\n    NCCL_PXN_DISABLE: 1\n    NCCL_P2P_NET_CHUNKSIZE: 65536\n",
      "drill.yaml");
  ASSERT_TRUE(theirs) << theirs.error().text();
  EXPECT_FALSE(theirs->forced.nccl.algorithm(OpKind::all_reduce, Algorithm::tree));
  EXPECT_EQ(theirs->forced.nccl.channels_max, 4U);
  EXPECT_EQ(theirs->collectives.cross_nic, 1U);
  EXPECT_EQ(theirs->collectives.pxn_level, 0U);
  EXPECT_EQ(theirs->collectives.point_to_point_chunk, Bytes{65536});
}

TEST(DrillText, SaysWhatIsWrongWithNodesAndWhatIsForced) {
  const auto failure = [](const std::string& more) {
    return failure_of(std::string(kOnNodes) + more);
  };
  EXPECT_THAT(failure("collectives: {algorithm: collnet_direct}\n"),
              HasSubstr("drill.yaml:3:26: collectives.algorithm: collnet_direct needs a network "
                        "plugin that reduces in the switches (SHARP)"));
  EXPECT_THAT(failure("collectives: {nccl: {NCCL_COLLNET_ENABLE: 1}}\n"), HasSubstr("SHARP"));
  EXPECT_THAT(failure("collectives: {nccl: {NCCL_ALOG: Ring}}\n"), HasSubstr("is not known"));
  EXPECT_THAT(failure("collectives: {channels_min: 9, channels_max: 8}\n"),
              HasSubstr("more than channels_max"));
  EXPECT_THAT(failure_of(std::string(kLeast) + "collectives: {algorithm: ring}\n"),
              HasSubstr("algorithm means something on known nodes alone"));
  EXPECT_THAT(
      failure_of("drill: d\njobs: [{name: j, profile: p, hosts: [h], ranks_per_node: 4}]\n"),
      HasSubstr("jobs[0].ranks_per_node: needs node"));
  EXPECT_THAT(failure_of("drill: d\njobs: [{name: j, profile: p, hosts: [h], node: h100, "
                         "ranks_per_host: 4}]\n"),
              HasSubstr("jobs[0].ranks_per_host: does not go with node"));
}

TEST(DrillText, LeavesDefaultsWhereNothingIsWritten) {
  const auto drill = parse_drill(kLeast, "drill.yaml");
  ASSERT_TRUE(drill) << drill.error().text();
  Drill expected;
  expected.name = "d";
  expected.jobs = {{.name = "j", .profile = "p", .hosts = {"h"}, .ranks_per_host = 0, .nics = {}}};
  EXPECT_EQ(*drill, expected);
}

TEST(DrillText, EveryExampleOfTheDocumentationIsADrill) {
  int found = 0;
  const auto folder = std::filesystem::path(REHEARSAL_SOURCE_DIR) / "docs/examples";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++found;
    const auto drill = parse_drill(read_file(entry.path()), entry.path().filename());
    EXPECT_TRUE(drill) << drill.error().text();
    EXPECT_EQ(drill ? drill->name : "", entry.path().stem());
  }
  EXPECT_GE(found, 3);
}

TEST(DrillText, EveryYamlBlockOfTheFormatsPageIsADrill) {
  const std::string page =
      read_file(std::filesystem::path(REHEARSAL_SOURCE_DIR) / "docs/drill-format.md");
  int found = 0;
  for (std::size_t at = page.find("```yaml\n"); at != std::string::npos;
       at = page.find("```yaml\n", at)) {
    at += std::string_view("```yaml\n").size();
    const auto drill = parse_drill(page.substr(at, page.find("```", at) - at), "drill-format.md");
    EXPECT_TRUE(drill) << drill.error().text();
    ++found;
  }
  EXPECT_GE(found, 1);
}

// What a person sees for each kind of mistake.
TEST(DrillText, ErrorsNamePlaceAndRemedy) {
  const std::vector<std::string> mistakes = {
      "",
      "drill: x\n",
      "- drill: x\n",
      "drill: [x\n",
      std::string(kFull.substr(0, 60)),
      with("drill: dlrm-smoke", "drill: two words"),
      with("drill: dlrm-smoke", "drlil: dlrm-smoke"),
      with("iterations: 7", "iterations: 0"),
      with("iterations: 7", "iterations: 1e3"),
      with("iterations: 7", "iterations: 010"),
      with("iterations: 7", "iterations: '7'"),
      with("iterations: 7", "iterations: [7]"),
      with("iterations: 7", "iterations: 7\niterations: 8"),
      with("iterations: 7", "iterations: &n 7"),
      with("iterations: 7", "iterations: *n"),
      with("iterations: 7", "iterations: !!int 7"),
      with("iterations: 7", "<<: {iterations: 7}"),
      with("iterations: 7", "---\niterations: 7"),
      with("ranks_per_host: 2", "ranks_per_host: 0"),
      with("    ranks_per_host: 2", "    rank_per_host: 2"),
      with("[host0, host1, host2, host3]", "[host0, host1, host0]"),
      with("[host0, host1, host2, host3]", "[]"),
      with("[host0, host1, host2, host3]", "host0,host1"),
      with("[host0, host1, host2, host3]", "CHANGEME"),
      with("host[2-3]", "host[3-2]"),
      with("host[2-3]", "host[0-9999]"),
      with("host[2-3]", "host[2-3"),
      with("name: ring", "name: dlrm"),
      with("profile: ring.yaml", "profile:"),
      with("kind: tcp", "kind: quic"),
      with("kind: tcp", "kind: tpc"),
      with("kind: tcp, ", ""),
      with("congestion_control: reno", "congestion_control: Reno!"),
      with("kind: tcp", "kind: loopback"),
      with("synchronisation: phase", "synchronisation: phases"),
      with("duration: 2min", "duration: 120"),
      with("duration: 2min", "duration: 0s"),
      with("progress: 10s", "progress: 1ms"),
      with("chunk: 1MiB", "chunk: 1000001B"),
      with("chunk: 1MiB", "chunk: 1048576"),
      with("chunk: 1MiB", "chunk: 1GiB"),
      with("credits: 5", "credits: 4"),
      with("  credits: 5\n", ""),
      with("rate: 100Gbit/s", "rate: 0bit/s"),
      with("metric: iteration_p50", "metric: iteration_p95"),
      with("metric: iteration_p50, at_most: 20ms", "metric: iteration_p50, at_least: 1Gbit/s"),
      with("metric: all_to_all_busbw, at_least: 5Gbit/s", "metric: all_to_all_busbw"),
      with("seed: 18446744073709551615", "seed: 18446744073709551616"),
  };
  std::string shown;
  for (const std::string& mistake : mistakes) {
    const std::string failure = failure_of(mistake);
    EXPECT_THAT(failure, StartsWith("drill.yaml:")) << mistake;
    shown += failure + "\n";
  }
  test::expect_golden("plan/drill_errors.txt", shown);
}

TEST(DrillText, CongestionControlIsANameTheKernelCouldKnow) {
  for (const char* name : {"reno", "bbr", "dctcp", "a23456789012345", "my_cc"}) {
    EXPECT_TRUE(parse_drill(with("control: reno", std::string("control: ") + name), "d.yaml"));
  }
  for (const char* name : {"a234567890123456", "Reno", "a-b", "../x", "\"a b\"", "''"}) {
    EXPECT_FALSE(parse_drill(with("control: reno", std::string("control: ") + name), "d.yaml"));
  }
}

TEST(DrillText, TruncatedAnywhereItNeverReadsMoreThanIsThere) {
  for (std::size_t size = 0; size < kFull.size(); ++size) {
    const auto drill = parse_drill(kFull.substr(0, size), "drill.yaml");
    const std::string place = drill ? "drill.yaml:" : drill.error().message;
    EXPECT_THAT(place, StartsWith("drill.yaml:")) << size;
  }
}

TEST(DrillText, DamagedTextIsADrillOrAnErrorWithAPlace) {
  constexpr std::uint64_t kSeed = 20240229;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    std::string text(kFull);
    for (std::uint64_t i = 0, times = random.between(1, 4); i < times; ++i) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    const auto drill = parse_drill(text, "drill.yaml");
    const std::string place = drill ? "drill.yaml:" : drill.error().message;
    EXPECT_THAT(place, StartsWith("drill.yaml:"));
  }
}

TEST(HostList, ExpandsRanges) {
  EXPECT_THAT(*expand_host_list("host7"), ElementsAre("host7"));
  EXPECT_THAT(*expand_host_list("host[0-2,7]"), ElementsAre("host0", "host1", "host2", "host7"));
  EXPECT_THAT(*expand_host_list("n[08-11].rack2"),
              ElementsAre("n08.rack2", "n09.rack2", "n10.rack2", "n11.rack2"));
  EXPECT_EQ(expand_host_list("h[0-4095]")->size(), 4096U);
}

TEST(HostList, RefusesWhatIsNoRange) {
  for (const char* text : {"h[", "h[]", "h[a]", "h[1-]", "h[-1]", "h[1,]", "h[2-1]", "h[0-4096]",
                           "h[1][2]", "h[0-99999999999]", "h[1-2-3]"}) {
    EXPECT_FALSE(expand_host_list(text)) << text;
  }
  EXPECT_EQ(
      expand_host_list("h[1-x]").error().message,
      "'h[1-x]' has '1-x' where a range should be; write it like host[0-3] or host[0-3,8], or "
      "list the names");
}

}  // namespace
}  // namespace rehearsal::plan
