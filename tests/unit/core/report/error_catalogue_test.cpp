#include "core/report/error_catalogue.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace rehearsal::report {
namespace {

namespace fs = std::filesystem;

std::string read_whole(const fs::path& path) {
  std::ifstream stream{path};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST(ErrorCatalogueTest, EveryEntryIsWholeAndDocumented) {
  const std::string page = read_whole(fs::path(REHEARSAL_SOURCE_DIR) / "docs" / "errors.md");
  std::set<std::string_view> ids;
  for (const CatalogueEntry& entry : error_catalogue()) {
    SCOPED_TRACE(entry.id);
    EXPECT_TRUE(ids.insert(entry.id).second) << "an id stands for one thing";
    for (const std::string_view text : {entry.title, entry.meaning, entry.causes, entry.advice})
      EXPECT_FALSE(text.empty());
    EXPECT_THAT(page, testing::HasSubstr("## " + std::string(entry.id) + ": " +
                                         std::string(entry.title) + "\n"));
    EXPECT_THAT(page, testing::HasSubstr(std::string(entry.meaning)));
  }
}

TEST(ErrorCatalogueTest, EveryIdInTheSourcesHasAnEntry) {
  static const std::regex kId("\\[(REHEARSAL-[A-Z]+-[0-9]+)\\]");
  std::set<std::string> used;
  for (const char* house : {"core", "agent", "daemon", "cli"}) {
    for (const auto& file :
         fs::recursive_directory_iterator(fs::path(REHEARSAL_SOURCE_DIR) / house)) {
      if (!file.is_regular_file()) continue;
      const std::string text = read_whole(file.path());
      for (std::sregex_iterator found(text.begin(), text.end(), kId), end; found != end; ++found)
        used.insert((*found)[1]);
    }
  }
  EXPECT_FALSE(used.empty());
  for (const std::string& id : used) EXPECT_NE(find_error(id), nullptr) << id;
}

TEST(ErrorCatalogueTest, IsFoundHoweverItIsWritten) {
  const CatalogueEntry* entry = find_error("REHEARSAL-RDMA-020");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(find_error("rehearsal-rdma-020"), entry);
  EXPECT_EQ(find_error("RDMA-020"), entry);
  EXPECT_EQ(find_error("[REHEARSAL-RDMA-020]"), entry);
  EXPECT_EQ(find_error("RDMA-999"), nullptr);
  EXPECT_EQ(find_error(""), nullptr);
  const std::string text = explain(*entry);
  EXPECT_THAT(text, testing::HasSubstr("The peer does not acknowledge"));
  EXPECT_THAT(text, testing::HasSubstr("\nLikely causes\n  - "));
  EXPECT_THAT(text, testing::HasSubstr("\nWhat to try\n  - "));
}

}  // namespace
}  // namespace rehearsal::report
