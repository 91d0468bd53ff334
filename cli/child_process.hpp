#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace rehearsal::cli {

struct ChildOptions {
  std::vector<std::string> command;  ///< the program's path and its arguments
  std::filesystem::path output;      ///< stdout and stderr go here (appended)
  /// Variables that are set beside those inherited: "NAME=value".
  std::vector<std::string> environment = {};
  /// What the kernel sends it when we die.
  int death_signal = SIGKILL;
};

/// A process that we started and that does not outlive us: the kernel kills it when we die in
/// whatever way, and it is ended and reaped when this object goes. Known by its pid alone.
class ChildProcess {
 public:
  static Result<ChildProcess> start(const ChildOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  bool is_running();
  /// Waits until it ends, at most until `deadline`. The exit code, 128 + signal for a killed one,
  /// nothing if it still runs.
  std::optional<int> wait(Instant deadline);
  /// Sends a signal, if it still runs.
  void signal(int number);
  /// SIGTERM; SIGKILL if it has not ended after `grace`; reaps it.
  void end(Duration grace);

 private:
  ChildProcess(pid_t pid, int handle) : pid_(pid), handle_(handle) {}

  pid_t pid_ = -1;
  int handle_ = -1;  ///< pidfd: becomes readable when the process ends
  std::optional<int> exit_code_;
};

}  // namespace rehearsal::cli
