// The importer on real captures; skipped where those are not to be had.
#include "tests/support/captures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "core/import/import.hpp"
#include "core/import/inflate.hpp"
#include "core/import/kineto.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/traces.hpp"

namespace rehearsal::importer {
namespace {

using profile::Op;
using profile::OpKind;
using profile::Profile;

std::vector<CaptureFile> dlrm_files(const std::filesystem::path& traces) {
  auto files = test::read_folder<CaptureFile>(traces / "kineto/dlrm8_v100", ".json.gz");
  for (CaptureFile& file :
       test::read_folder<CaptureFile>(traces / "pytorch_et/dlrm8_v100", ".json.gz")) {
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<const Op*> communication_of(const profile::RankClass& rank_class) {
  std::vector<const Op*> ops;
  for (const Op& op : rank_class.ops) {
    if (is_communication(op.kind)) ops.push_back(&op);
  }
  return ops;
}

/// When each rank is done if every compute op takes its duration and every collective starts when
/// its last rank is ready and takes its captured time.
std::vector<Duration> replayed(const Profile& profile) {
  struct State {
    const profile::RankClass* ops = nullptr;
    std::vector<Duration> done;
    std::map<std::uint32_t, Duration> stream;
    Duration ready(const Op& op) {
      Duration at = stream[op.stream];
      for (const auto index : op.after) at = std::max(at, done[index]);
      return at;
    }
    void finish(const Op& op, Duration at) {
      done.push_back(at);
      stream[op.stream] = at;
    }
  };
  std::vector<State> states(profile.ranks);
  for (std::uint32_t rank = 0; rank < profile.ranks; ++rank) {
    states[rank].ops = &profile.class_of(Rank{rank});
  }
  bool moved = true;
  while (moved) {
    moved = false;
    bool all_at_collective = true;
    for (State& state : states) {
      while (state.done.size() < state.ops->ops.size() &&
             !is_communication(state.ops->ops[state.done.size()].kind)) {
        const Op& op = state.ops->ops[state.done.size()];
        state.finish(op, state.ready(op) + op.duration);
        moved = true;
      }
      if (state.done.size() == state.ops->ops.size()) all_at_collective = false;
    }
    if (!all_at_collective) continue;
    Duration start{0};
    for (State& state : states) {
      start = std::max(start, state.ready(state.ops->ops[state.done.size()]));
    }
    for (State& state : states) {
      const Op& op = state.ops->ops[state.done.size()];
      state.finish(op, start + op.captured);
    }
    moved = true;
  }
  std::vector<Duration> ends;
  for (const State& state : states) {
    ends.push_back(*std::max_element(state.done.begin(), state.done.end()));
  }
  return ends;
}

TEST(Captures, DlrmCommunicationIsRight) {
  SKIP_WITHOUT_TRACES(traces);
  const auto profile = import_capture(dlrm_files(traces), "dlrm8-v100");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->ranks, 8U);
  const std::vector<std::pair<std::string, OpKind>> expected = {
      {"0 all_to_allv 6144 fp32", OpKind::all_to_all},
      {"1 all_to_all 24 int64", OpKind::all_to_all},
      {"2 all_to_allv 384 int32", OpKind::all_to_all},
      {"3 all_to_allv 3392 int32", OpKind::all_to_all},
      {"4 allreduce 394241 fp32", OpKind::all_reduce},
      {"5 all_to_allv 6144 fp32", OpKind::all_to_all},
      {"6 allreduce 112 fp32", OpKind::all_reduce},
      {"7 allreduce 226960 fp32", OpKind::all_reduce}};
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const auto ops = communication_of(profile->class_of(Rank{rank}));
    ASSERT_EQ(ops.size(), expected.size()) << "rank " << rank;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      EXPECT_EQ(ops[i]->name, expected[i].first);
      EXPECT_EQ(ops[i]->kind, expected[i].second);
      EXPECT_GT(ops[i]->captured, Duration{0});
    }
    EXPECT_EQ(ops[1]->bytes, Bytes{24 * 8});
    EXPECT_EQ(ops[4]->bytes, Bytes{394241 * 4});
    EXPECT_EQ(ops[6]->bytes, Bytes{112 * 4});
    EXPECT_EQ(ops[7]->bytes, Bytes{226960 * 4});
  }
}

TEST(Captures, DlrmThirdExchangeIsSkewed) {
  SKIP_WITHOUT_TRACES(traces);
  const auto profile = import_capture(dlrm_files(traces), "dlrm8-v100");
  ASSERT_TRUE(profile) << profile.error().text();
  const auto ops = communication_of(profile->class_of(Rank{0}));
  ASSERT_TRUE(ops.at(3)->peer_bytes);
  const profile::PeerBytes& matrix = profile->peer_bytes[*ops[3]->peer_bytes];
  const std::vector<std::uint64_t> received = {768, 1792, 2304, 13312, 4736, 768, 1536, 1920};
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(matrix.sent_by(rank), Bytes{3392 * 4});
    EXPECT_EQ(matrix.received_by(rank), Bytes{received[rank] * 4}) << "rank " << rank;
  }
}

// The ranks of the capture began their step up to 7.4 ms apart (the profiler had just been started)
// and waited for the last one in the first collective; a replay starts all at once. So the captured
// time to compare with runs from the last rank's begin to the rank's own end; all ranks share a
// host clock.
TEST(Captures, DlrmReplayedIterationIsAboutAsLongAsTheCapturedOne) {
  SKIP_WITHOUT_TRACES(traces);
  const auto profile = import_capture(dlrm_files(traces), "dlrm8-v100");
  ASSERT_TRUE(profile) << profile.error().text();
  const std::vector<Duration> ends = replayed(*profile);
  std::vector<Span> spans(8);
  for (const CaptureFile& file : dlrm_files(traces)) {
    if (!file.name.starts_with("worker")) continue;
    const auto iteration = read_kineto(file.name, *gunzip(file.name, file.content, kFileBytesMax));
    ASSERT_TRUE(iteration) << iteration.error().text();
    spans[iteration->rank.value] = iteration->span;
  }
  std::int64_t last_begin = 0;
  for (const Span& span : spans) last_begin = std::max(last_begin, span.begin);
  int near = 0;
  for (std::size_t rank = 0; rank < spans.size(); ++rank) {
    const Duration step{spans[rank].end - spans[rank].begin};
    const Duration together{spans[rank].end - last_begin};
    const double ratio = to_seconds(ends[rank]) / to_seconds(together);
    std::printf("rank %zu: step %s, from the last begin %s, replayed %s, ratio %.3f\n", rank,
                format_duration(step).c_str(), format_duration(together).c_str(),
                format_duration(ends[rank]).c_str(), ratio);
    if (ratio > 0.9 && ratio < 1.1) ++near;
  }
  EXPECT_GE(near, 6) << "most ranks within 10 %";
}

TEST(Captures, DlrmImportIsTheSameInAnyOrderOfFiles) {
  SKIP_WITHOUT_TRACES(traces);
  auto files = dlrm_files(traces);
  std::sort(files.begin(), files.end(), [](auto& a, auto& b) { return a.name < b.name; });
  auto reversed = files;
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(*import_capture(files, "dlrm"), *import_capture(reversed, "dlrm"));
}

TEST(Captures, DlrmMissingRankIsNamed) {
  SKIP_WITHOUT_TRACES(traces);
  auto files = dlrm_files(traces);
  std::erase_if(files, [](const auto& file) { return file.name.starts_with("worker5"); });
  const auto profile = import_capture(files, "dlrm");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), testing::HasSubstr("the Kineto trace of rank 5 missing"));
}

struct MicroCase {
  const char* folder;
  std::uint32_t ranks;
  OpKind kind;
};

TEST(Captures, ChakraMicroSetsAreOneCollectiveOfOneMebibyte) {
  SKIP_WITHOUT_TRACES(traces);
  for (const MicroCase& micro : {MicroCase{"micro_all_reduce_8npus_1MB", 8, OpKind::all_reduce},
                                 {"micro_all_to_all_8npus_1MB", 8, OpKind::all_to_all},
                                 {"micro_reduce_scatter_16npus_1MB", 16, OpKind::reduce_scatter}}) {
    const auto profile = import_capture(
        test::read_folder<CaptureFile>(traces / "chakra" / micro.folder, ".et"), micro.folder);
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->ranks, micro.ranks);
    ASSERT_EQ(profile->classes.size(), 1U) << "identical ranks fold into one class";
    ASSERT_EQ(profile->classes[0].ops.size(), 1U);
    EXPECT_EQ(profile->classes[0].ops[0].kind, micro.kind);
    EXPECT_EQ(profile->classes[0].ops[0].bytes, Bytes{1U << 20});
  }
}

TEST(Captures, ChakraWithoutMetadataFrame) {
  SKIP_WITHOUT_TRACES(traces);
  const test::TemporaryFolder folder;
  const std::string command = "tar -xzf '" +
                              (traces / "chakra/resnet50_dp64_no_metadata_frame.tar.gz").string() +
                              "' -C '" + folder.path().string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto profile =
      import_capture(test::read_folder<CaptureFile>(folder.path(), ".et"), "resnet50");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->ranks, 64U);
  ASSERT_EQ(profile->classes.size(), 1U);
  const auto ops = communication_of(profile->classes[0]);
  ASSERT_EQ(ops.size(), 54U);
  Bytes total;
  for (const Op* op : ops) {
    EXPECT_EQ(op->kind, OpKind::all_reduce);
    total += op->bytes;
  }
  EXPECT_EQ(total, Bytes{102'011'648});
  EXPECT_THAT(profile->provenance.format, testing::HasSubstr("no metadata frame"));
}

TEST(Captures, ChakraRingOfSendsAndReceives) {
  SKIP_WITHOUT_TRACES(traces);
  const auto profile = import_capture(
      test::read_folder<CaptureFile>(traces / "chakra/custom_ring_allreduce_8npus_1MB", ".et"),
      "ring");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->classes.size(), 8U);
  for (const profile::RankClass& rank_class : profile->classes) {
    const std::uint32_t rank = rank_class.ranks.at(0).value;
    Bytes sent;
    Bytes received;
    for (const Op& op : rank_class.ops) {
      if (op.kind == OpKind::send) {
        EXPECT_EQ(op.peer, (rank + 1) % 8);
        sent += op.bytes;
      }
      if (op.kind == OpKind::recv) {
        EXPECT_EQ(op.peer, (rank + 7) % 8);
        received += op.bytes;
      }
    }
    EXPECT_EQ(sent, Bytes{14 * 131'072});  // 2 (n − 1) / n of 1 MiB
    EXPECT_EQ(received, sent);
  }
}

TEST(Captures, OtherVintagesAreRefusedWithAReason) {
  SKIP_WITHOUT_TRACES(traces);
  for (const auto& entry : std::filesystem::directory_iterator(traces / "kineto")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    const auto profile = import_capture({{name, test::read_whole(entry.path())}}, "one");
    ASSERT_FALSE(profile) << name;
    EXPECT_THAT(profile.error().text(),
                testing::AnyOf(testing::HasSubstr(name), testing::HasSubstr("missing")));
    std::printf("%s\n", profile.error().text().c_str());
  }
}

}  // namespace
}  // namespace rehearsal::importer
