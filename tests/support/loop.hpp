#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "runtime/asio.hpp"
#include "runtime/clock.hpp"

namespace rehearsal::test {

/// Runs `context` until `done`; fails the test when that takes longer than a broken test deserves.
inline void run_until(asio::io_context& context, const std::function<bool()>& done) {
  const Instant limit = runtime::now() + std::chrono::seconds{20};
  while (!done()) {
    ASSERT_LT(runtime::now(), limit) << "nothing happened";
    context.restart();
    context.run_one_for(std::chrono::milliseconds{100});
  }
}

}  // namespace rehearsal::test
