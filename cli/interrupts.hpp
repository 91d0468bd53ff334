#pragma once

#include <csignal>

namespace rehearsal::cli {

/// Ctrl-C (SIGINT) and SIGTERM while a command waits for a run. The first one is seen through
/// `requested()` and makes `handle()` readable; a second one ends the process at once with exit
/// code 3. One at a time in a process; the former handlers come back at the end.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  bool requested() const;
  /// To poll(2) for reading; stays readable after the first interrupt until `take()`.
  int handle() const { return read_end_; }
  /// True once for each interrupt so far.
  bool take();

 private:
  int read_end_ = -1;
  int write_end_ = -1;
  struct sigaction former_interrupt_ {};
  struct sigaction former_terminate_ {};
};

}  // namespace rehearsal::cli
