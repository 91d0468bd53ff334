#include "runtime/framed_connection.hpp"

#include <array>
#include <exception>
#include <utility>

#include "core/base/check.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::runtime {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;

std::string describe(const asio::error_code& error) {
  return error == asio::error::eof ? "closed by the peer" : error.message();
}

/// A coroutine of ours throws nothing; what comes out of one is a bug or memory running out.
void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

struct FramedConnection::Incoming {
  protocol::FrameDecoder decoder;
  std::array<char, kReadBytes> buffer;
};

std::shared_ptr<FramedConnection> FramedConnection::create(std::unique_ptr<ByteStream> stream,
                                                           FramedConnectionOptions options) {
  return std::shared_ptr<FramedConnection>(new FramedConnection(std::move(stream), options));
}

FramedConnection::FramedConnection(std::unique_ptr<ByteStream> stream,
                                   FramedConnectionOptions options)
    : stream_(std::move(stream)),
      options_(options),
      incoming_(std::make_shared<Incoming>()),
      linger_(stream_->executor()) {}

void FramedConnection::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  asio::co_spawn(stream_->executor(), read_frames(shared_from_this()), rethrow);
}

asio::awaitable<void> FramedConnection::read_frames(std::shared_ptr<FramedConnection> self) {
  while (!self->closing_) {
    const Moved moved = co_await self->stream_->read_some(self->incoming_->buffer);
    if (self->closing_) co_return;
    if (moved.error) {
      self->abort(describe(moved.error));
      co_return;
    }
    if (!self->deliver_frames({self->incoming_->buffer.data(), moved.bytes})) co_return;
  }
}

/// Hands out what is whole. False: the connection ends.
bool FramedConnection::deliver_frames(std::string_view bytes) {
  auto fed = incoming_->decoder.feed(bytes);
  while (fed) {
    auto payload = incoming_->decoder.next();
    if (!payload) break;
    handlers_.on_frame(std::move(*payload));
    if (closing_) return false;
  }
  if (fed) fed = incoming_->decoder.feed({});  // a second frame may have announced too much
  if (!fed) abort(fed.error().text());
  return fed.has_value();
}

bool FramedConnection::send(std::string_view payload) {
  if (closing_) return false;
  const std::size_t total =
      queued_.size() + in_flight_ + protocol::kFrameHeaderBytes + payload.size();
  if (total > options_.queue_max.count()) {
    abort("the peer reads too slowly: " + format_bytes(Bytes{queued_.size() + in_flight_}) +
          " wait for it");
    return false;
  }
  queued_ += protocol::frame(payload);
  begin_writing();
  return true;
}

void FramedConnection::begin_writing() {
  if (writing_) return;
  writing_ = true;
  asio::co_spawn(stream_->executor(), write_queue(shared_from_this()), rethrow);
}

asio::awaitable<void> FramedConnection::write_queue(std::shared_ptr<FramedConnection> self) {
  while (!self->queued_.empty() && !self->closed_) {
    const std::string batch = std::exchange(self->queued_, {});
    self->in_flight_ = batch.size();
    const Moved moved = co_await self->stream_->write(batch);
    self->in_flight_ = 0;
    if (moved.error && !self->closed_) {
      self->abort(describe(moved.error));
      co_return;
    }
  }
  self->writing_ = false;
  if (self->closing_) self->abort(self->reason_);
}

void FramedConnection::close(std::string reason) {
  if (closing_) return;
  if (!writing_) return abort(std::move(reason));
  closing_ = true;
  reason_ = std::move(reason);
  linger_.expires_after(std::chrono::duration_cast<Timer::duration>(options_.linger));
  linger_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->abort(self->reason_);
  });
}

void FramedConnection::abort(std::string reason) {
  if (closed_) return;
  closing_ = closed_ = true;
  queued_.clear();
  linger_.cancel();
  stream_->close();
  asio::post(stream_->executor(), [self = shared_from_this(), why = std::move(reason)]() mutable {
    // The handlers hold whoever listens: let go of them with the last call.
    const Handlers handlers = std::exchange(self->handlers_, {});
    if (handlers.on_closed) handlers.on_closed(std::move(why));
  });
}

Bytes FramedConnection::queued() const { return Bytes{queued_.size() + in_flight_}; }

}  // namespace rehearsal::runtime
