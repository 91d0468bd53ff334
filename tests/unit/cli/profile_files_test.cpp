#include "cli/profile_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/profile/binary.hpp"
#include "core/profile/read.hpp"
#include "tests/support/captures.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::cli {
namespace {

using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr;
using testing::internal::GetCapturedStdout;

const std::filesystem::path kFixtures =
    std::filesystem::path(REHEARSAL_SOURCE_DIR) / "tests/fixtures/import";

TEST(ProfileFiles, ImportWritesAProfileNamedAfterTheFile) {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "pair.profile").string();
  CaptureStdout();
  EXPECT_EQ(profile_import({(kFixtures / "pair").string()}, output), ExitCode::pass);
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("2 ranks"));
  const auto profile = profile::load_profile(test::read_whole(output), output);
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->name, "pair");
}

TEST(ProfileFiles, ImportWritesTextIfTheNameSaysSo) {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "pair.yaml").string();
  CaptureStdout();
  EXPECT_EQ(profile_import({(kFixtures / "pair").string()}, output), ExitCode::pass);
  GetCapturedStdout();
  EXPECT_THAT(test::read_whole(output), testing::StartsWith("profile: pair\n"));
}

TEST(ProfileFiles, BadCapturesLeaveNoFile) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "rank0.json") << "{\"traceEvents\": [1]}";
  const std::string output = (folder.path() / "bad.profile").string();
  CaptureStderr();
  EXPECT_EQ(profile_import({folder.path().string()}, output), ExitCode::data);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("rank0.json: event 0: is no JSON object"));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(ProfileFiles, NothingToImportIsUsage) {
  const test::TemporaryFolder folder;
  CaptureStderr();
  EXPECT_EQ(profile_import({folder.path().string()}, "x.profile"), ExitCode::usage);
  EXPECT_EQ(profile_import({(folder.path() / "none.json").string()}, "x.profile"), ExitCode::usage);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("no capture in it"));
}

TEST(ProfileFiles, VerifySaysAllThatIsWrong) {
  const test::TemporaryFolder folder;
  profile::Profile profile = test::small_profile();
  const std::string file = (folder.path() / "job.profile").string();
  std::ofstream(file, std::ios::binary) << profile::to_binary(profile);
  CaptureStdout();
  EXPECT_EQ(profile_verify(file), ExitCode::pass);
  EXPECT_THAT(GetCapturedStdout(), HasSubstr(profile::identity(profile)));

  profile.classes[0].ops[0].stream = 7;
  profile.phases[1] = profile.phases[0];
  std::ofstream(file, std::ios::binary) << profile::to_binary(profile);
  CaptureStderr();
  EXPECT_EQ(profile_verify(file), ExitCode::fail);
  const std::string said = GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("stream number 7 of 2"));
  EXPECT_THAT(said, HasSubstr("phase 'forward' is there twice"));
}

TEST(ProfileFiles, ShowRefusesADamagedProfile) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "cut.profile").string();
  std::ofstream(file, std::ios::binary) << profile::to_binary(test::small_profile()).substr(0, 200);
  CaptureStderr();
  EXPECT_EQ(profile_show(file, false), ExitCode::usage);
  EXPECT_EQ(profile_show((folder.path() / "none").string(), false), ExitCode::usage);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("cut.profile: byte "));
}

TEST(ProfileFiles, ShowPrintsTablesOrJson) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "job.profile").string();
  std::ofstream(file, std::ios::binary) << profile::to_binary(test::small_profile());
  CaptureStdout();
  EXPECT_EQ(profile_show(file, false), ExitCode::pass);
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("class middle"));
  CaptureStdout();
  EXPECT_EQ(profile_show(file, true), ExitCode::pass);
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("\"schema_version\": 1"));
}

}  // namespace
}  // namespace rehearsal::cli
