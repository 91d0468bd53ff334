#include "cli/interrupts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "cli/exit_code.hpp"
#include "core/base/check.hpp"

namespace rehearsal::cli {
namespace {

// Written by the signal handler alone (and reset while no handler is installed).
volatile std::sig_atomic_t interrupts_seen = 0;
volatile std::sig_atomic_t wake_descriptor = -1;

void on_signal(int) {
  const int former_error = errno;
  interrupts_seen = interrupts_seen + 1;
  if (interrupts_seen > 1) _exit(static_cast<int>(ExitCode::unknown));
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(wake_descriptor, &byte, 1);
  errno = former_error;
}

}  // namespace

Interrupts::Interrupts() {
  int ends[2];
  CHECK(wake_descriptor == -1, "one Interrupts at a time");
  CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "a pipe for the signal handler");
  read_end_ = ends[0];
  write_end_ = ends[1];
  interrupts_seen = 0;
  wake_descriptor = write_end_;

  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &former_interrupt_);
  sigaction(SIGTERM, &action, &former_terminate_);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &former_interrupt_, nullptr);
  sigaction(SIGTERM, &former_terminate_, nullptr);
  wake_descriptor = -1;
  close(read_end_);
  close(write_end_);
}

bool Interrupts::requested() const { return interrupts_seen > 0; }

bool Interrupts::take() {
  char byte = 0;
  return read(read_end_, &byte, 1) == 1;
}

}  // namespace rehearsal::cli
