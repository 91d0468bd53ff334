#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace rehearsal::cli {
namespace {

constexpr std::uint32_t kBarWidth = 24;

/// Before a run is on its way a count would say nothing.
bool has_count(const RunState& state) {
  return state.iterations > 0 && (state.state == "running" || state.iterations_done > 0);
}

std::string count_of(const RunState& state) {
  if (!has_count(state)) return state.state;
  return state.state + " " + std::to_string(state.iterations_done) + "/" +
         std::to_string(state.iterations);
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string cut_to_columns(const std::string& line, std::size_t columns) {
  std::size_t column = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool begins_a_character = (static_cast<unsigned char>(line[at]) & 0xC0U) != 0x80U;
    if (begins_a_character && column++ == columns) return line.substr(0, at);
  }
  return line;
}

std::string progress_line(const RunState& state) {
  std::string line = count_of(state);
  if (has_count(state)) {
    const std::uint64_t done = std::min(state.iterations_done, state.iterations);
    const auto filled = static_cast<std::uint32_t>(done * kBarWidth / state.iterations);
    line += "  [";
    for (std::uint32_t i = 0; i < kBarWidth; ++i) line += i < filled ? "█" : "·";
    line += "]";
  }
  if (!state.note.empty()) line += "  " + state.note;
  return line;
}

std::string progress_text(const RunState& state) {
  return state.note.empty() ? count_of(state) : count_of(state) + ", " + state.note;
}

ProgressLine::ProgressLine(std::FILE* stream)
    : stream_(stream), is_terminal_(isatty(fileno(stream)) == 1) {}

void ProgressLine::show(const RunState& state, Instant now) {
  if (is_terminal_) {
    // A line that wraps could not be taken off again.
    const std::string line = cut_to_columns(progress_line(state), columns_of(stream_) - 1);
    std::fprintf(stream_, "\r\x1b[2K%s", line.c_str());
    is_drawn_ = true;
  } else {
    const bool is_news = state.state != last_.state || state.note != last_.note;
    const bool is_due = state.iterations_done != last_.iterations_done &&
                        now - last_shown_ >= std::chrono::seconds{1};
    if (!is_news && !is_due) return;
    std::fprintf(stream_, "%s\n", progress_text(state).c_str());
  }
  std::fflush(stream_);
  last_ = state;
  last_shown_ = now;
}

void ProgressLine::clear() {
  if (!is_drawn_) return;
  std::fputs("\r\x1b[2K", stream_);
  std::fflush(stream_);
  is_drawn_ = false;
}

void ProgressLine::say(const std::string& text) {
  clear();
  std::fprintf(stream_, "%s\n", text.c_str());
  std::fflush(stream_);
}

}  // namespace rehearsal::cli
