#include "cli/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rehearsal::cli {
namespace {

constexpr int kExecFailed = 127;

Instant now() { return std::chrono::steady_clock::now(); }

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> result = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string inherited = *entry;
    const std::string name = inherited.substr(0, inherited.find('=') + 1);
    const bool is_replaced = std::any_of(
        added.begin(), added.end(), [&](const std::string& set) { return set.starts_with(name); });
    if (!is_replaced) result.push_back(inherited);
  }
  return result;
}

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output,
                         int death_signal, pid_t parent) {
  // The parent may die before this line: then nobody would send the signal.
  prctl(PR_SET_PDEATHSIG, death_signal);
  if (getppid() != parent) _exit(kExecFailed);
  setpgid(0, 0);  // Ctrl-C on the terminal is for the parent, which decides what ends
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execve(arguments[0], arguments, environment);
  _exit(kExecFailed);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  std::vector<std::string> command = options.command;
  std::vector<std::string> environment = environment_with(options.environment);
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  if (access(arguments[0], X_OK) != 0)
    return system_failure(ErrorSource::host, "starting " + command.front(), errno);

  const int output = open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (output < 0)
    return system_failure(ErrorSource::host, "writing " + options.output.string(), errno);
  // fork and not posix_spawn: the parent's death signal can only be set from inside the child.
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(arguments.data(), variables.data(), output, options.death_signal, parent);
  const int fork_error = errno;
  close(output);
  if (pid < 0) return system_failure(ErrorSource::host, "starting " + command.front(), fork_error);

  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0) {
    const int error = errno;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return system_failure(ErrorSource::host, "watching " + command.front(), error);
  }
  fcntl(handle, F_SETFD, FD_CLOEXEC);
  return ChildProcess{pid, handle};
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      handle_(std::exchange(other.handle_, -1)),
      exit_code_(other.exit_code_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(handle_, other.handle_);
  std::swap(exit_code_, other.exit_code_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  end(std::chrono::seconds{2});
  close(handle_);
}

bool ChildProcess::is_running() { return !wait(now()).has_value(); }

std::optional<int> ChildProcess::wait(Instant deadline) {
  while (!exit_code_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now()).count();
    pollfd watched{handle_, POLLIN, 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::clamp<long>(left, 0, 3'600'000)));
    if (ready == 0 && left <= 0) return std::nullopt;
    if (ready <= 0) continue;
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) continue;
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return exit_code_;
}

void ChildProcess::signal(int number) {
  if (is_running()) kill(pid_, number);
}

void ChildProcess::end(Duration grace) {
  signal(SIGTERM);
  if (wait(now() + grace)) return;
  signal(SIGKILL);
  wait(now() + std::chrono::seconds{10});
}

}  // namespace rehearsal::cli
