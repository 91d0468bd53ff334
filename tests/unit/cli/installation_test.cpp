#include "cli/installation.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

class FindProfile : public testing::Test {
 protected:
  FindProfile() {
    fs::create_directories(drill_);
    fs::create_directories(shipped_.front());
  }
  static void write(const fs::path& path) { std::ofstream{path} << "x"; }

  test::TemporaryFolder folder_;
  fs::path drill_ = folder_.path() / "drill";
  std::vector<fs::path> shipped_{folder_.path() / "shipped"};
};

TEST_F(FindProfile, TheFileBesideTheDrillComesFirst) {
  write(drill_ / "job.profile");
  write(shipped_.front() / "job.profile");
  EXPECT_EQ(find_profile("job", drill_, shipped_), drill_ / "job.profile");
  EXPECT_EQ(find_profile("job.profile", drill_, shipped_), drill_ / "job.profile");
}

TEST_F(FindProfile, ABareNameMayBeThatOfAShippedOne) {
  write(shipped_.front() / "dlrm.profile");
  EXPECT_EQ(find_profile("dlrm", drill_, shipped_), shipped_.front() / "dlrm.profile");
}

TEST_F(FindProfile, APathIsMeantFromTheDrill) {
  fs::create_directories(drill_ / "sub");
  write(drill_ / "sub" / "own.yaml");
  write(shipped_.front() / "own.yaml");
  EXPECT_EQ(find_profile("sub/own.yaml", drill_, shipped_), drill_ / "sub" / "own.yaml");
  EXPECT_FALSE(find_profile("sub/other.yaml", drill_, shipped_));
}

TEST_F(FindProfile, AMissingOneIsNamedWithThoseThereAre) {
  write(shipped_.front() / "dlrm.profile");
  write(shipped_.front() / "resnet.yaml");
  write(shipped_.front() / "README.md");
  const auto found = find_profile("dlmr", drill_, shipped_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_NE(found.error().message.find("'dlmr'"), std::string::npos);
  EXPECT_NE(found.error().message.find("shipped: dlrm, resnet"), std::string::npos);
}

TEST_F(FindProfile, AFolderIsNoProfile) {
  fs::create_directories(drill_ / "job");
  write(drill_ / "job.yaml");
  EXPECT_EQ(find_profile("job", drill_, shipped_), drill_ / "job.yaml");
}

TEST(ShippedProfileFolders, InTheInstallationAndInTheSourceTree) {
  const test::TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  fs::create_directories(root / "usr/bin");
  fs::create_directories(root / "usr/share/rehearsal/profiles");
  fs::create_directories(root / "tree/build/dev/bin");
  fs::create_directories(root / "tree/profiles");
  EXPECT_EQ(shipped_profile_folders(root / "usr/bin"),
            std::vector<fs::path>{root / "usr/share/rehearsal/profiles"});
  EXPECT_EQ(shipped_profile_folders(root / "tree/build/dev/bin"),
            std::vector<fs::path>{root / "tree/profiles"});
}

}  // namespace
}  // namespace rehearsal::cli
