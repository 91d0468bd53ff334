#include "daemon/run_store.hpp"

#include <gmock/gmock.h>

#include "runtime/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::daemon {
namespace {

namespace fs = std::filesystem;
using rehearsal::test::TemporaryFolder;
using testing::HasSubstr;

coordination::StoreRun run_named(const std::string& name, const std::string& content = "{}") {
  return {.run = name, .files = {{"plan.json", "{}"}, {"summary.json", content}}};
}

std::vector<std::string> folders_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(RunStore, KeepsWhatItWasGivenOnceItIsGone) {
  const TemporaryFolder folder;
  {
    const auto store = RunStore::open(folder.path() / "store", {});
    ASSERT_TRUE(store) << store.error().text();
    EXPECT_TRUE((*store)->save(run_named("run-1", "{\"verdict\":\"pass\"}")));
  }
  EXPECT_EQ(runtime::read_file(folder.path() / "store/run-1/summary.json", Bytes{1000}),
            "{\"verdict\":\"pass\"}");
  EXPECT_THAT(folders_of(folder.path() / "store"), testing::ElementsAre("run-1"));
}

TEST(RunStore, TheEpochRisesWithEveryStart) {
  const TemporaryFolder folder;
  for (std::uint64_t epoch = 1; epoch < 4; ++epoch) {
    const auto store = RunStore::open(folder.path(), {});
    ASSERT_TRUE(store);
    EXPECT_EQ((*store)->epoch(), epoch);
  }
}

TEST(RunStore, AnEpochThatCannotBeReadIsNotGuessed) {
  const TemporaryFolder folder;
  ASSERT_TRUE(runtime::write_file_atomically(folder.path() / "epoch", "garbage\n"));
  const auto store = RunStore::open(folder.path(), {});
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().text(), HasSubstr("does not hold a whole number"));
}

TEST(RunStore, OneCoordinatorAStore) {
  const TemporaryFolder folder;
  const auto first = RunStore::open(folder.path(), {});
  ASSERT_TRUE(first);
  const auto second = RunStore::open(folder.path(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::refused);
  EXPECT_THAT(second.error().text(), HasSubstr("in use by another"));
}

TEST(RunStore, TheOldestRunsGo) {
  const TemporaryFolder folder;
  for (int i = 0; i < 5; ++i) {
    const auto store = RunStore::open(folder.path(), {.runs_max = 3});
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->save(run_named("run-" + std::to_string(i))));
  }
  EXPECT_THAT(folders_of(folder.path()), testing::ElementsAre("run-2", "run-3", "run-4"));
}

TEST(RunStore, NamesThatLeaveTheFolderAreRefused) {
  const TemporaryFolder folder;
  {
    const auto store = RunStore::open(folder.path() / "store", {});
    ASSERT_TRUE(store);
    EXPECT_TRUE((*store)->save(run_named("../outside")));
    auto file_outside = run_named("run-1");
    file_outside.files.push_back({"../outside", ""});
    EXPECT_TRUE((*store)->save(std::move(file_outside)));
    EXPECT_TRUE((*store)->save(run_named("run-2")));
  }
  EXPECT_FALSE(fs::exists(folder.path() / "outside"));
  EXPECT_TRUE(fs::exists(folder.path() / "store/run-2"));
  EXPECT_FALSE(fs::exists(folder.path() / "store/run-1")) << "whole or not at all";
}

TEST(RunStore, AFullQueueIsSaidNotWaitedFor) {
  const TemporaryFolder folder;
  const auto store = RunStore::open(folder.path(), {.queue_max = Bytes{10}});
  ASSERT_TRUE(store);
  EXPECT_FALSE((*store)->save(run_named("run-1", std::string(100, ' '))));
  EXPECT_EQ((*store)->runs_lost(), 1U);
}

}  // namespace
}  // namespace rehearsal::daemon
