// The importer as a whole, on the hand-made capture of two ranks in tests/fixtures/import/pair.
#include "core/import/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/captures.hpp"

namespace rehearsal::importer {
namespace {

using profile::Op;
using profile::OpKind;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<CaptureFile> pair_files() {
  return test::read_folder<CaptureFile>(
      std::filesystem::path(REHEARSAL_SOURCE_DIR) / "tests/fixtures/import/pair", ".json");
}

/// The capture with the first `from` in the file `name` made `to`.
std::vector<CaptureFile> changed(const std::string& name, const std::string& from,
                                 const std::string& to) {
  auto files = pair_files();
  for (CaptureFile& file : files) {
    if (file.name != name) continue;
    const std::size_t at = file.content.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    file.content.replace(at, from.size(), to);
  }
  return files;
}

std::string error_of(std::vector<CaptureFile> files) {
  const auto profile = import_capture(std::move(files), "pair");
  return profile ? "(imported)" : profile.error().text();
}

std::chrono::microseconds us(int count) { return std::chrono::microseconds{count}; }

TEST(Import, ComputeIsCutWhereTheHostLaunchesAndWaits) {
  const auto profile = import_capture(pair_files(), "pair");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_THAT(profile->phases, ElementsAre("forward", "backward", "optimizer"));
  const auto& ops = profile->class_of(Rank{0}).ops;
  struct Expected {
    const char* name;
    Duration duration;
    std::uint32_t phase;
    std::vector<profile::OpIndex> after;
  };
  const std::vector<Expected> expected = {{"forward 0", us(10), 0, {}},
                                          {"forward 1", us(300), 0, {}},
                                          {"0 all_to_allv 4 int32", us(0), 0, {1}},
                                          {"forward 2", us(90), 0, {}},
                                          {"forward 3", us(400), 0, {2}},
                                          {"backward 0", us(260), 1, {}},
                                          {"1 allreduce 1000 fp32", us(0), 1, {5}},
                                          {"backward 1", us(440), 1, {}},
                                          {"backward 2", us(50), 1, {6}},
                                          {"optimizer 0", us(350), 2, {}}};
  ASSERT_EQ(ops.size(), expected.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i].name, expected[i].name);
    EXPECT_EQ(ops[i].duration, expected[i].duration) << ops[i].name;
    EXPECT_EQ(ops[i].phase, expected[i].phase) << ops[i].name;
    EXPECT_EQ(ops[i].after, expected[i].after) << ops[i].name;
    EXPECT_EQ(ops[i].stream, is_communication(ops[i].kind) ? 1U : 0U);
  }
}

TEST(Import, ARankThatIsLateComputesLonger) {
  const auto profile = import_capture(pair_files(), "pair");
  ASSERT_TRUE(profile) << profile.error().text();
  const auto& ops = profile->class_of(Rank{1}).ops;
  EXPECT_EQ(ops.at(1).duration, us(400));
  EXPECT_EQ(ops.at(3).duration, us(400)) << "nothing between launch and wait: no op of no length";
  EXPECT_THAT(ops.at(3).after, ElementsAre(2U));
}

TEST(Import, SplitsComeFromTheExecutionTrace) {
  const auto profile = import_capture(pair_files(), "pair");
  ASSERT_TRUE(profile) << profile.error().text();
  ASSERT_EQ(profile->peer_bytes.size(), 1U);
  EXPECT_THAT(profile->peer_bytes[0].bytes, ElementsAre(Bytes{12}, Bytes{4}, Bytes{8}, Bytes{8}));
}

TEST(Import, TrueDurationIsTheShortestOverTheRanks) {
  const auto profile = import_capture(pair_files(), "pair");
  ASSERT_TRUE(profile) << profile.error().text();
  for (const std::uint32_t rank : {0U, 1U}) {
    for (const Op& op : profile->class_of(Rank{rank}).ops) {
      if (op.kind == OpKind::compute) continue;
      EXPECT_EQ(op.captured, op.kind == OpKind::all_to_all ? us(80) : us(150));
    }
  }
}

TEST(Import, ProvenanceNamesTheFilesButNoFolder) {
  const auto profile = import_capture(pair_files(), "pair");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->provenance.format, "kineto + pytorch execution trace 1.0.1");
  ASSERT_EQ(profile->provenance.sources.size(), 4U);
  EXPECT_EQ(profile->provenance.sources[0].file, "eg_0.json");
  EXPECT_EQ(profile->provenance.sources[0].sha256.size(), 64U);
}

TEST(Import, KinetoAloneSaysWhatItGuessed) {
  auto files = changed("rank0.pt.trace.json", "x", "x");
  std::erase_if(files, [](const auto& file) { return file.name.starts_with("eg_"); });
  const auto profile = import_capture(files, "pair");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_TRUE(profile->peer_bytes.empty());
  EXPECT_EQ(profile->class_of(Rank{0}).ops.at(2).bytes, Bytes{16});
  EXPECT_THAT(profile->provenance.note, HasSubstr("no splits"));
}

TEST(Import, ExecutionTracesAloneHaveNoTimes) {
  auto files = pair_files();
  std::erase_if(files, [](const auto& file) { return file.name.starts_with("rank"); });
  const auto profile = import_capture(files, "pair");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->classes.size(), 1U) << "without times both ranks do the same";
  EXPECT_EQ(profile->classes[0].ops.size(), 2U);
  EXPECT_THAT(profile->provenance.note, HasSubstr("no times"));
}

TEST(Import, DisagreementNamesRankOpAndBothSides) {
  EXPECT_THAT(error_of(changed("rank1.pt.trace.json", "[[1000]]", "[[999]]")),
              HasSubstr("rank 1, communication 1: rank1.pt.trace.json has all_reduce 999 fp32, "
                        "eg_1.json has allreduce 1000 fp32"));
  EXPECT_THAT(error_of(changed("eg_1.json", "[2, 2], [1, 2]", "[3, 1], [1, 2]")),
              HasSubstr("sends 3 elements to rank 0, which receives 2"));
  EXPECT_THAT(error_of(changed("eg_0.json", "\"allreduce\"", "\"broadcast\"")),
              HasSubstr("rank 0, communication 1"));
}

TEST(Import, MissingDoubleAndMixedRanks) {
  auto files = pair_files();
  std::erase_if(files, [](const auto& file) { return file.name == "eg_0.json"; });
  EXPECT_THAT(error_of(files), HasSubstr("the execution trace of rank 0 missing"));

  files = pair_files();
  for (const CaptureFile& file : pair_files()) {
    if (file.name == "rank0.pt.trace.json") files.push_back({"again.json", file.content});
  }
  EXPECT_THAT(error_of(files), HasSubstr("rank 0 is there twice"));

  EXPECT_THAT(error_of(changed("rank1.pt.trace.json", "\"world_size\": 2", "\"world_size\": 4")),
              HasSubstr("two jobs are mixed"));
  EXPECT_THAT(error_of(changed("rank1.pt.trace.json", "\"rank\": 1", "\"rank\": 7")),
              HasSubstr("rank 1 missing"));
}

TEST(Import, BadInputNamesFileAndRecord) {
  EXPECT_THAT(error_of({}), HasSubstr("no capture files"));
  EXPECT_THAT(error_of({{"rank0.json", ""}}), HasSubstr("rank0.json: it is empty"));
  EXPECT_THAT(error_of({{"rank0.json", "hello"}}), HasSubstr("rank0.json: no capture format"));
  EXPECT_THAT(error_of({{"rank0.json", "{\"traceEvents\": ["}}),
              HasSubstr("rank0.json: no valid JSON"));
  EXPECT_THAT(error_of({{"rank0.json.gz", "\x1f\x8b"}}), HasSubstr("rank0.json.gz: "));
}

}  // namespace
}  // namespace rehearsal::importer
