#pragma once

// The parts of Asio that the daemons use, with the experimental names wrapped in one place.
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "core/base/time.hpp"

namespace rehearsal::runtime {

/// `co_await socket.async_read_some(buffer, kTuple)` gives (error code, bytes) and throws nothing.
inline constexpr asio::experimental::as_tuple_t<asio::use_awaitable_t<>> kTuple{
    asio::use_awaitable};

/// A timer over the clock that Instants are of.
using Timer = asio::steady_timer;

/// Instant → what the timer takes (the same clock; kNever stays far away).
inline Timer::time_point timer_point(Instant instant) {
  return std::chrono::time_point_cast<Timer::duration>(instant);
}

}  // namespace rehearsal::runtime
