#include "agent/external/command_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <utility>

#include "core/base/units.hpp"
#include "runtime/clock.hpp"

namespace rehearsal::agent {
namespace {

constexpr int kExecFailed = 127;
/// The lock again: a shell gives what it starts in the background another standard input.
constexpr int kLockDescriptor = 3;
/// For processes of an earlier command, which are killed with their leader or their runner.
constexpr Duration kEarlierLimit = std::chrono::seconds{1};
constexpr int kEarlierLookMs = 10;

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }
  int get() const { return value_; }

 private:
  int value_;
};

Failure failed(std::string_view what) { return system_failure(ErrorSource::host, what, errno); }

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// The command's standard input, with its lock.
Result<Descriptor> take_input(const std::filesystem::path& path) {
  Descriptor input(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  if (input.get() < 0) return failed("cannot open " + path.string());
  const Instant deadline = runtime::now() + kEarlierLimit;
  while (::flock(input.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return failed("cannot lock " + path.string());
    if (runtime::now() >= deadline) {
      return fail(ErrorCode::refused, ErrorSource::host,
                  "a process of an earlier command still lives: it has " + path.string() +
                      " open; a command must not leave any behind");
    }
    ::poll(nullptr, 0, kEarlierLookMs);
  }
  return input;
}

struct Pipe {
  Descriptor from;
  Descriptor to;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// In the child, between fork and exec: only calls that are safe there (signal-safety(7)).
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         int input, int output, int errors, pid_t parent) {
  // The parent may die before this line: then nobody would send the signal.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExecFailed);
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const bool ready =
      ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
      ::dup2(errors, STDERR_FILENO) >= 0 && ::dup2(STDIN_FILENO, kLockDescriptor) >= 0 &&
      ::syscall(SYS_close_range, kLockDescriptor + 1, ~0U, 0U) == 0 && ::chdir("/") == 0;
  if (!ready) ::_exit(kExecFailed);
  ::umask(0022);
  ::execve(program, arguments, environment);
  ::_exit(kExecFailed);
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  std::ifstream list{"/proc/thread-self/children"};
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

/// Kills what fled its group, where this process is the parent of whatever lost its own
/// (PR_SET_CHILD_SUBREAPER); what cannot be killed still has the input's lock.
void kill_orphans() {
  int is_reaper = 0;
  if (::prctl(PR_GET_CHILD_SUBREAPER, &is_reaper) != 0 || is_reaper == 0) return;
  const Instant deadline = runtime::now() + kEarlierLimit;
  while (runtime::now() < deadline) {
    const std::vector<pid_t> children = own_children();
    if (children.empty()) return;
    for (const pid_t child : children) ::kill(child, SIGKILL);
    // Their own children are ours when they are gone.
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::poll(nullptr, 0, 1);
  }
}

/// One of its outputs: what we read of it, and what was read.
struct Output {
  Descriptor from;
  std::string text = {};

  /// False: nothing more comes.
  bool read_some() {
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    const std::size_t room = kOutputBytesMax - text.size();
    text.append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
    return count > 0;
  }

  /// What was written before its writers ended; the pipe gives no more than it holds.
  void read_rest() {
    for (int i = 0; from.get() >= 0 && i < 32; ++i) {
      pollfd watched{from.get(), POLLIN, 0};
      if (::poll(&watched, 1, 0) <= 0 || !read_some()) break;
    }
  }
};

/// A command that runs; its end kills it, and all of its group.
class Running {
 public:
  Running(pid_t pid, Descriptor handle, Descriptor output, Descriptor errors)
      : pid_(pid),
        handle_(std::move(handle)),
        outputs_{Output{std::move(output)}, Output{std::move(errors)}} {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { (void)end(); }

  /// Its exit code; timed_out: it was still running at the deadline.
  Result<int> wait(Instant deadline) {
    for (;;) {
      std::array<pollfd, 3> watched = {{{handle_.get(), POLLIN, 0},
                                        {outputs_[0].from.get(), POLLIN, 0},
                                        {outputs_[1].from.get(), POLLIN, 0}}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - runtime::now());
      if (left.count() <= 0) return fail(ErrorCode::timed_out, ErrorSource::host, "at its limit");
      const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
      if (ready < 0 && errno != EINTR) return failed("cannot wait for it");
      if (ready <= 0) continue;
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        // poll passes over −1
        if (watched[i + 1].revents != 0 && !outputs_[i].read_some()) outputs_[i].from.reset();
      }
      if (watched[0].revents != 0) break;
    }
    return end();
  }

  const std::string& output() const { return outputs_[0].text; }
  const std::string& errors() const { return outputs_[1].text; }

 private:
  /// Kills what is left of the group, then takes its leader's exit code: until then the group's
  /// number belongs to nobody else.
  Result<int> end() {
    if (pid_ < 0) return exit_code_;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // where it did not get to having a group
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {
    }
    const int error = errno;
    pid_ = -1;
    kill_orphans();
    for (Output& output : outputs_) output.read_rest();
    if (ended < 0) return system_failure(ErrorSource::host, "its exit code is not known", error);
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return exit_code_;
  }

  pid_t pid_;
  int exit_code_ = 0;
  Descriptor handle_;
  std::array<Output, 2> outputs_;  // standard output and error
};

}  // namespace

Result<CommandResult> run_command(const CommandOptions& options) {
  ASSIGN_OR_RETURN(Descriptor input, take_input(options.input));
  ASSIGN_OR_RETURN(Pipe output, make_pipe());
  ASSIGN_OR_RETURN(Pipe errors, make_pipe());
  const std::string program = options.program.string();
  std::vector<std::string> command = {options.name.empty() ? program : options.name};
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"};
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  const Instant deadline = runtime::now() + options.limit;
  // fork and not posix_spawn: the parent's death signal can only be set from inside the child.
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(program.c_str(), arguments.data(), variables.data(), input.get(), output.to.get(),
           errors.to.get(), parent);
  }
  if (pid < 0) return failed("cannot start " + program);
  ::setpgid(pid, pid);  // whichever of the two is first
  Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const bool is_watched = handle.get() >= 0;
  const int watch_error = errno;
  Running running(pid, std::move(handle), std::move(output.from), std::move(errors.from));
  output.to.reset();
  errors.to.reset();
  input.reset();
  if (!is_watched) return system_failure(ErrorSource::host, "cannot watch " + program, watch_error);
  const auto exit_code = running.wait(deadline);
  if (!exit_code && exit_code.error().code == ErrorCode::timed_out) {
    return fail(ErrorCode::timed_out, ErrorSource::host,
                "it was killed at its limit, " + format_duration_exact(options.limit));
  }
  if (!exit_code) return tl::unexpected(exit_code.error());
  return CommandResult{
      .exit_code = *exit_code, .output = running.output(), .errors = running.errors()};
}

}  // namespace rehearsal::agent
