#include "runtime/signals.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/loop.hpp"

namespace rehearsal::runtime {
namespace {

struct Wanted {
  int drain = 0;
  int stop_now = 0;
};

TEST(StopSignals, TheFirstTermDrainsTheSecondStopsAtOnce) {
  asio::io_context context;
  Wanted wanted;
  const StopSignals signals(
      context, [&] { ++wanted.drain; }, [&] { ++wanted.stop_now; });
  std::raise(SIGTERM);
  rehearsal::test::run_until(context, [&] { return wanted.drain == 1; });
  EXPECT_EQ(wanted.stop_now, 0);
  std::raise(SIGTERM);
  rehearsal::test::run_until(context, [&] { return wanted.stop_now == 1; });
  EXPECT_EQ(wanted.drain, 1);
}

TEST(StopSignals, InterruptStopsAtOnce) {
  asio::io_context context;
  Wanted wanted;
  const StopSignals signals(
      context, [&] { ++wanted.drain; }, [&] { ++wanted.stop_now; });
  std::raise(SIGINT);
  rehearsal::test::run_until(context, [&] { return wanted.stop_now == 1; });
  EXPECT_EQ(wanted.drain, 0);
}

}  // namespace
}  // namespace rehearsal::runtime
