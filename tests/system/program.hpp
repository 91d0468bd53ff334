#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/child_process.hpp"
#include "core/base/time.hpp"

namespace rehearsal::test {

/// The folder of the programs under test.
std::filesystem::path programs();

Instant now();
/// Generous: reached only when something is wrong.
inline constexpr Duration kPatience = std::chrono::seconds{60};
/// Looks again and again at what other processes bring about, with a pause in between that leaves
/// them the machine. False: not so within `patience`, looked at once more after it.
bool wait_until(const std::function<bool()>& is_so, Duration patience = kPatience);

/// A program under test with what it wrote. Ends with this object; when the test has failed by
/// then, its output is printed.
class Program {
 public:
  /// `log` is made; stdout and stderr go there. `death_signal`: when the test is killed.
  Program(std::vector<std::string> command, std::filesystem::path log,
          std::vector<std::string> environment = {}, int death_signal = SIGKILL);
  Program(Program&&) noexcept = default;
  Program& operator=(Program&&) noexcept = default;
  ~Program();

  std::string output() const;
  /// Waits until `text` stands in the output; false at the deadline or when it ended without.
  bool wait_for_output(const std::string& text, Duration patience = kPatience);
  /// Its exit code; nothing if it still runs after `patience`.
  std::optional<int> wait(Duration patience = kPatience);
  bool is_running() { return child_ && child_->is_running(); }
  void signal(int number);
  pid_t pid() const { return child_ ? child_->pid() : -1; }

 private:
  std::vector<std::string> command_;
  std::filesystem::path log_;
  std::optional<cli::ChildProcess> child_;
};

}  // namespace rehearsal::test
