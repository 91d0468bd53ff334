#pragma once

#include <string_view>

namespace rehearsal::runtime {

enum class LogThreshold { info, warning, error };

/// The daemon's log: one line an event, to stderr, from a bounded queue with a thread of its own,
/// so that a slow terminal never holds up the loop. When the queue is full the oldest line goes.
/// One Logging lives in main(); its end writes what is queued. Without one, lines go nowhere.
class Logging {
 public:
  explicit Logging(LogThreshold threshold);
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;
};

/// Any thread. Control characters in `text` (names come from peers) are written as '?'.
void log_info(std::string_view text);
void log_warning(std::string_view text);
void log_error(std::string_view text);

}  // namespace rehearsal::runtime
