#include "agent/keeper/trusted_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

TEST(TrustedFile, CountsOnlyWhenRootAloneCanWriteIt) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "policy.yaml";
  std::ofstream(path) << "agent: 4711\n";
  EXPECT_EQ(read_trusted_file(folder.path() / "none.yaml").error().code, ErrorCode::not_found);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  if (status.st_uid != 0) {
    EXPECT_EQ(read_trusted_file(path).error().code, ErrorCode::refused);
    GTEST_SKIP() << "only root can make a policy that counts";
  }
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(read_trusted_file(path).value(), "agent: 4711\n");
  ASSERT_EQ(::chmod(path.c_str(), 0664), 0);
  EXPECT_EQ(read_trusted_file(path).error().code, ErrorCode::refused);
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(read_trusted_file(path).error().code, ErrorCode::refused);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  ASSERT_EQ(::chown(path.c_str(), 4711, 0), 0);
  EXPECT_EQ(read_trusted_file(path).error().code, ErrorCode::refused);
}

TEST(TrustedFile, NamesWhoMayConnect) {
  EXPECT_TRUE(may_connect("", 0));
  EXPECT_FALSE(may_connect("", 4711));
  EXPECT_TRUE(may_connect("4711", 4711));
  EXPECT_FALSE(may_connect("4711", 4712));
  EXPECT_FALSE(may_connect("root", 4711));
  EXPECT_FALSE(may_connect("no-such-user-here", 4711));
}

}  // namespace
}  // namespace rehearsal::agent
