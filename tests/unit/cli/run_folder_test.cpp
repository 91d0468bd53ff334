#include "cli/run_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.hpp"

namespace rehearsal::cli {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST(RunFolder, AFileAppearsWhenItsLastPartHasCome) {
  const test::TemporaryFolder folder;
  RunFolder run{folder.path() / "runs" / "r1"};
  ASSERT_TRUE(run.take("summary.json", {6, 0, "abc"}));
  EXPECT_FALSE(std::filesystem::exists(run.path()));
  EXPECT_FALSE(run.check_complete());
  ASSERT_TRUE(run.take("summary.json", {6, 3, "def"}));
  EXPECT_TRUE(run.check_complete());
  EXPECT_EQ(content(run.path() / "summary.json"), "abcdef");
  EXPECT_EQ(run.summary(), "abcdef");
}

TEST(RunFolder, AnEmptyFileIsAFileToo) {
  const test::TemporaryFolder folder;
  RunFolder run{folder.path() / "r1"};
  ASSERT_TRUE(run.take("results.jsonl", {0, 0, ""}));
  EXPECT_TRUE(std::filesystem::exists(run.path() / "results.jsonl"));
  EXPECT_FALSE(run.is_empty());
}

TEST(RunFolder, NamesThatLeadElsewhereAreRefused) {
  const test::TemporaryFolder folder;
  RunFolder run{folder.path() / "r1"};
  for (const char* name : {"", "../x", "a/b", "/etc/x", ".hidden", "a\nb"}) {
    const auto taken = run.take(name, {1, 0, "x"});
    ASSERT_FALSE(taken) << name;
    EXPECT_EQ(taken.error().code, ErrorCode::protocol) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(run.path()));
}

TEST(RunFolder, PartsThatDoNotFitAndSizesOverTheCapAreRefused) {
  const test::TemporaryFolder folder;
  RunFolder run{folder.path() / "r1"};
  EXPECT_FALSE(run.take("a.json", {RunFolder::kFileBytesMax + 1, 0, "x"}));
  ASSERT_TRUE(run.take("b.json", {6, 0, "abc"}));
  EXPECT_FALSE(run.take("b.json", {6, 4, "ef"}));
}

TEST(RunFolder, OnlyANewOrEmptyFolderIsFree) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(check_run_folder_is_free(folder.path()));
  EXPECT_TRUE(check_run_folder_is_free(folder.path() / "new"));
  std::ofstream{folder.path() / "old"} << "x";
  const auto full = check_run_folder_is_free(folder.path());
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("expected a new or empty folder"), std::string::npos);
  EXPECT_FALSE(check_run_folder_is_free(folder.path() / "old"));
}

}  // namespace
}  // namespace rehearsal::cli
