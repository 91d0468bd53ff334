#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/keeper/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

class NoPolicy final : public ServerPolicy {
 public:
  Result<void> check() override { return {}; }
  bool allows_test_stops() override { return false; }
  bool may_connect(uid_t) override { return false; }
  fault::WelcomeReply welcome(fault::FaultKeeper&) override { return {}; }
  Result<std::uint64_t> apply(fault::FaultKeeper&, fault::OwnerId, const fault::FaultRequest&,
                              Instant) override {
    return fail(ErrorCode::refused, ErrorSource::host, "nothing is allowed");
  }
};

TEST(UndoAll, RootLeavesNothingInAnothersFolderThatIsNotTheOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIP: only root can act as another user";
  constexpr uid_t kOwner = 12345;
  const test::TemporaryFolder folder;  // that nobody else may pass
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0700});
  const auto state = folder.path() / "state";
  std::filesystem::create_directory(state);
  ASSERT_EQ(::chown(state.c_str(), kOwner, kOwner), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    NoPolicy policy;
    fault::NoKernel kernel;
    const KeeperFlags flags{.name = "test",
                            .version = {},
                            .description = {},
                            .options = {.policy = folder.path() / "policy",
                                        .state = state,
                                        .socket = folder.path() / "socket"},
                            .undo_all = true};
    const int code = run_keeper(flags, policy, [&](const KeeperOptions&) -> Result<KeeperParts> {
      return KeeperParts{.kernel = kernel, .policy = policy};
    });
    ::_exit(::geteuid() == kOwner ? code : 99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(state)) {
    struct stat found {};
    ASSERT_EQ(::stat(entry.path().c_str(), &found), 0);
    EXPECT_EQ(found.st_uid, kOwner) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace rehearsal::agent
