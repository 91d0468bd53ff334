// Drills and profiles that are wrong: said with file and line (or byte), and what would be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/profile/binary.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/system/program.hpp"

namespace rehearsal::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* kGoodDrill =
    "drill: d\njobs:\n  - name: j\n    profile: p\n    hosts: [h1, h2]\n";
constexpr const char* kGoodProfile =
    "profile: p\nranks: 2\nstreams: [compute, communication]\ncommunicators:\n  world: {ranks: "
    "0-1}\nclasses:\n"
    "  all:\n    ranks: all\n    ops:\n"
    "      - all_reduce: {name: a, communicator: world, bytes: 1KiB}\n"
    "      - all_reduce: {name: b, communicator: world, bytes: 1KiB}\n";

class WrongInput : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream{folder_.path() / name, std::ios::binary} << text;
  }
  /// What `rehearse plan d.yaml` says; no coordinator is there, and none is asked.
  std::string plan() {
    Program program{{programs() / "rehearse", "--coordinator", "127.0.0.1:1", "plan",
                     folder_.path() / "d.yaml"},
                    folder_.path() / ("log" + std::to_string(++runs_))};
    const auto code = program.wait();
    EXPECT_EQ(code, 64) << program.output();
    const std::string output = program.output();
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << "one line: " << output;
    return output;
  }

  TemporaryFolder folder_;
  int runs_ = 0;
};

TEST_F(WrongInput, AnEmptyDrill) {
  write("d.yaml", "");
  EXPECT_THAT(plan(), HasSubstr("d.yaml"));
}

TEST_F(WrongInput, AMissingDrillAndAMissingProfile) {
  EXPECT_THAT(plan(), HasSubstr("d.yaml"));
  write("d.yaml", kGoodDrill);
  EXPECT_THAT(plan(), HasSubstr("profile 'p'"));
}

TEST_F(WrongInput, AMistypedKeyIsNamedWithLineAndTheRightOne) {
  write("d.yaml", "drill: d\niteratons: 3\njobs:\n  - name: j\n    profile: p\n    hosts: [h1]\n");
  const std::string output = plan();
  EXPECT_THAT(output, HasSubstr("d.yaml:2:"));
  EXPECT_THAT(output, HasSubstr("iterations"));
}

TEST_F(WrongInput, ABareNumberWantsAUnit) {
  write("d.yaml", std::string{kGoodDrill} + "limits:\n  duration: 20\n");
  EXPECT_THAT(plan(), HasSubstr("d.yaml:7:"));
}

TEST_F(WrongInput, ATruncatedDrill) {
  write("d.yaml", "drill: d\njobs:\n  - name: j\n    hosts: [h1,");
  EXPECT_THAT(plan(), ContainsRegex("d\\.yaml:[0-9]+:"));
}

TEST_F(WrongInput, AnOversizedDrill) {
  write("d.yaml", kGoodDrill + std::string(2U << 20, '#'));
  EXPECT_THAT(plan(), HasSubstr("d.yaml"));
}

TEST_F(WrongInput, AnEmptyProfile) {
  write("d.yaml", kGoodDrill);
  write("p.yaml", "");
  EXPECT_THAT(plan(), HasSubstr("p.yaml"));
}

TEST_F(WrongInput, AMistypedProfile) {
  write("d.yaml", kGoodDrill);
  std::string text = kGoodProfile;
  text.replace(text.find("all_reduce"), 10, "all_redcue");
  write("p.yaml", text);
  const std::string output = plan();
  EXPECT_THAT(output, HasSubstr("p.yaml:10:"));
  EXPECT_THAT(output, HasSubstr("all_reduce"));
}

TEST_F(WrongInput, ACyclicProfile) {
  write("d.yaml", kGoodDrill);
  std::string text = kGoodProfile;
  text.replace(text.find("bytes: 1KiB}"), 12, "bytes: 1KiB, after: b}");
  write("p.yaml", text);
  EXPECT_THAT(plan(), ContainsRegex("p\\.yaml:10:"));
}

TEST_F(WrongInput, ATruncatedAndADamagedBinaryProfile) {
  write("d.yaml", kGoodDrill);
  const std::string binary = profile::to_binary(small_profile());
  write("p.profile", binary.substr(0, binary.size() / 2));
  EXPECT_THAT(plan(), ContainsRegex("p\\.profile: .*byte"));
  std::string damaged = binary;
  damaged[damaged.size() / 2] ^= 0x40;
  write("p.profile", damaged);
  EXPECT_THAT(plan(), HasSubstr("p.profile"));
}

TEST_F(WrongInput, AnOversizedProfile) {
  write("d.yaml", kGoodDrill);
  write("p.yaml", kGoodProfile + std::string(2U << 20, '#'));
  EXPECT_THAT(plan(), HasSubstr("p.yaml"));
}

TEST_F(WrongInput, OptionsThatAreNone) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"plan"}, {"fly"}, {"status", "--yaml"}, {}}) {
    std::vector<std::string> command{programs() / "rehearse"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Program program{command, folder_.path() / ("log" + std::to_string(++runs_))};
    EXPECT_EQ(program.wait(), 64) << program.output();
  }
}

TEST_F(WrongInput, WithoutACoordinatorNothingIsFoundOut) {
  write("d.yaml", kGoodDrill);
  write("p.yaml", kGoodProfile);
  Program program{
      {programs() / "rehearse", "--coordinator", "127.0.0.1:1", "run", folder_.path() / "d.yaml"},
      folder_.path() / "log"};
  EXPECT_EQ(program.wait(), 3);
  EXPECT_THAT(program.output(), HasSubstr("no coordinator at 127.0.0.1:1"));
}

}  // namespace
}  // namespace rehearsal::test
