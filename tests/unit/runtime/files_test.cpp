#include "runtime/files.hpp"

#include <gmock/gmock.h>

#include "tests/support/temporary_folder.hpp"

namespace rehearsal::runtime {
namespace {

using testing::HasSubstr;

std::size_t entries_of(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(Files, WritingReplacesAndLeavesNothingBeside) {
  const rehearsal::test::TemporaryFolder folder;
  const auto path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, "first, and longer"));
  ASSERT_TRUE(write_file_atomically(path, "second", Durability::durable));
  EXPECT_EQ(read_file(path, Bytes{100}), "second");
  EXPECT_EQ(entries_of(folder.path()), 1U);
}

TEST(Files, WritingWhereThereIsNoFolderIsAnError) {
  const rehearsal::test::TemporaryFolder folder;
  const auto done = write_file_atomically(folder.path() / "none" / "file", "text");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::system);
  EXPECT_THAT(done.error().text(), HasSubstr("No such file"));
}

TEST(Files, ReadingHasACap) {
  const rehearsal::test::TemporaryFolder folder;
  const auto path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, "12345"));
  EXPECT_EQ(read_file(path, Bytes{5}), "12345");
  const auto capped = read_file(path, Bytes{4});
  ASSERT_FALSE(capped);
  EXPECT_EQ(capped.error().code, ErrorCode::too_large);
  EXPECT_THAT(capped.error().text(), HasSubstr("larger than 4B"));
  EXPECT_FALSE(read_file(folder.path(), Bytes{100})) << "a folder is no file";
  const auto missing = read_file(folder.path() / "none", Bytes{100});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST(Files, AnnounceIsAJsonObject) {
  const rehearsal::test::TemporaryFolder folder;
  const auto path = folder.path() / "announce.json";
  ASSERT_TRUE(announce(path, {{"control", "127.0.0.1:4001"}, {"name", "a\"b\\c\n"}}));
  EXPECT_EQ(read_file(path, Bytes{1000}),
            "{\"control\": \"127.0.0.1:4001\", \"name\": \"a\\\"b\\\\c\\u000a\"}\n");
}

}  // namespace
}  // namespace rehearsal::runtime
