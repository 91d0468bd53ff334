#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "core/base/time.hpp"

namespace rehearsal::cli {

/// How far a run is.
struct RunState {
  std::string state;  ///< "preparing", "running" …
  std::uint32_t iterations_done = 0;
  std::uint32_t iterations = 0;
  std::string note;  ///< "waiting for host2"; may be empty
};

/// "running 7/20  [███████·············]  waiting for host2" for a terminal.
std::string progress_line(const RunState& state);
/// The same without a bar, for a log: "running 7/20, waiting for host2".
std::string progress_text(const RunState& state);

/// The first `columns` characters of a line in UTF-8.
std::string cut_to_columns(const std::string& line, std::size_t columns);

/// Shows progress: on a terminal one line that is drawn over; elsewhere a line whenever state or
/// note changes, and otherwise at most one a second.
class ProgressLine {
 public:
  /// Writes to `stream`, which outlives this.
  explicit ProgressLine(std::FILE* stream);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const RunState& state, Instant now);
  /// Takes the line off a terminal, so that other text can follow.
  void clear();
  /// A whole line of its own, which stays.
  void say(const std::string& text);

 private:
  std::FILE* stream_;
  bool is_terminal_;
  bool is_drawn_ = false;
  RunState last_;
  Instant last_shown_{};
};

}  // namespace rehearsal::cli
