#include "cli/terminal.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rehearsal::cli {
namespace {

using std::chrono::milliseconds;

/// A stream in memory: no terminal.
class Output {
 public:
  Output() : stream_(open_memstream(&text_, &size_)) {}
  ~Output() {
    std::fclose(stream_);
    free(text_);
  }
  std::FILE* stream() { return stream_; }
  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

TEST(ProgressLine, DrawsABarOfTheIterations) {
  EXPECT_EQ(progress_line({"running", 5, 20, ""}), "running 5/20  [██████··················]");
  EXPECT_EQ(progress_line({"running", 20, 20, "waiting for h2"}),
            "running 20/20  [████████████████████████]  waiting for h2");
}

TEST(ProgressLine, MoreDoneThanPlannedFillsTheBarAndNoMore) {
  EXPECT_EQ(progress_line({"running", 9, 3, ""}), "running 9/3  [████████████████████████]");
}

TEST(ProgressLine, HasNeitherBarNorCountBeforeIterationsBegin) {
  EXPECT_EQ(progress_line({"preparing", 0, 0, ""}), "preparing");
  EXPECT_EQ(progress_line({"connecting", 0, 20, ""}), "connecting");
  EXPECT_EQ(progress_text({"preparing", 0, 0, "waiting for h2"}), "preparing, waiting for h2");
}

TEST(ProgressLine, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_to_columns("a██b", 4), "a██b");
  EXPECT_EQ(cut_to_columns("a██b", 2), "a█");
  EXPECT_EQ(cut_to_columns("abc", 0), "");
}

TEST(ProgressLine, OffTerminalEachNewStateAndNoteIsALineAndIterationsAreRare) {
  Output output;
  ProgressLine line{output.stream()};
  const Instant start{};
  line.show({"preparing", 0, 4, ""}, start);
  line.show({"running", 0, 4, ""}, start);
  line.show({"running", 1, 4, ""}, start + milliseconds{10});
  line.show({"running", 2, 4, ""}, start + milliseconds{20});
  line.show({"running", 2, 4, "waiting for h2"}, start + milliseconds{30});
  line.show({"running", 2, 4, "waiting for h2"}, start + milliseconds{40});
  line.show({"running", 3, 4, "waiting for h2"}, start + milliseconds{1030});
  EXPECT_EQ(output.text(),
            "preparing\n"
            "running 0/4\n"
            "running 2/4, waiting for h2\n"
            "running 3/4, waiting for h2\n");
}

}  // namespace
}  // namespace rehearsal::cli
