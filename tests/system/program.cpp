#include "tests/system/program.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

namespace rehearsal::test {

std::filesystem::path programs() { return REHEARSAL_PROGRAMS; }

Instant now() { return std::chrono::steady_clock::now(); }

bool wait_until(const std::function<bool()>& is_so, Duration patience) {
  const Instant deadline = now() + patience;
  for (;;) {
    const bool is_last = now() >= deadline;
    if (is_so()) return true;
    if (is_last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

Program::Program(std::vector<std::string> command, std::filesystem::path log,
                 std::vector<std::string> environment, int death_signal)
    : command_(std::move(command)), log_(std::move(log)) {
  auto child = cli::ChildProcess::start({.command = command_,
                                         .output = log_,
                                         .environment = std::move(environment),
                                         .death_signal = death_signal});
  EXPECT_TRUE(child) << child.error().text();
  if (child) child_.emplace(std::move(*child));
}

Program::~Program() {
  if (!child_) return;
  child_->end(std::chrono::seconds{5});
  if (!testing::Test::HasFailure()) return;
  std::cout << "--- output of";
  for (const std::string& word : command_) std::cout << ' ' << word;
  std::cout << "\n" << output() << "---\n";
}

std::string Program::output() const {
  std::ifstream stream{log_};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

bool Program::wait_for_output(const std::string& text, Duration patience) {
  const Instant deadline = now() + patience;
  while (child_) {
    // Looked at first, so that what it wrote before its end is seen.
    const bool has_ended =
        child_->wait(std::min(deadline, now() + std::chrono::milliseconds{5})).has_value();
    if (output().find(text) != std::string::npos) return true;
    if (has_ended || now() >= deadline) return false;
  }
  return false;
}

std::optional<int> Program::wait(Duration patience) {
  return child_ ? child_->wait(now() + patience) : std::nullopt;
}

void Program::signal(int number) {
  if (child_) child_->signal(number);
}

}  // namespace rehearsal::test
