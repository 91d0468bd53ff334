#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "runtime/byte_stream.hpp"

namespace rehearsal::runtime {

struct FramedConnectionOptions {
  /// What may wait for a slow reader; more closes the connection. It must hold the largest plan,
  /// which is sent in one go.
  Bytes queue_max{256U << 20};
  /// How long a closing connection may take to hand its last frames over.
  Duration linger = std::chrono::seconds{1};
};

/// Frames (core/protocol/frame.hpp) over a ByteStream: the control plane's sessions, seen from both
/// ends. send() never blocks and never grows beyond its bound; the reason for an end is always
/// said.
///
/// One thread (the stream's executor). The connection keeps itself alive while it is open.
class FramedConnection : public std::enable_shared_from_this<FramedConnection> {
 public:
  struct Handlers {
    /// A whole payload (not larger than the frame cap).
    std::function<void(std::string payload)> on_frame;
    /// The last call, once, never from inside send() or close().
    std::function<void(std::string reason)> on_closed;
  };

  static std::shared_ptr<FramedConnection> create(std::unique_ptr<ByteStream> stream,
                                                  FramedConnectionOptions options = {});

  /// Begins to read. Call once.
  void start(Handlers handlers);

  /// Queues one frame. False: closing or closed, or the queue would overflow (which closes).
  bool send(std::string_view payload);

  /// No more frames come in; those queued still go out (at most `linger`), then on_closed(reason).
  void close(std::string reason);
  /// Drops what is queued and closes at once, then on_closed(reason).
  void abort(std::string reason);

  const std::string& peer() const { return stream_->peer(); }
  Bytes queued() const;

 private:
  FramedConnection(std::unique_ptr<ByteStream> stream, FramedConnectionOptions options);

  static asio::awaitable<void> read_frames(std::shared_ptr<FramedConnection> self);
  static asio::awaitable<void> write_queue(std::shared_ptr<FramedConnection> self);
  bool deliver_frames(std::string_view bytes);
  void begin_writing();

  std::unique_ptr<ByteStream> stream_;
  FramedConnectionOptions options_;
  Handlers handlers_;
  struct Incoming;
  std::shared_ptr<Incoming> incoming_;
  std::string queued_;         ///< framed, waiting
  std::size_t in_flight_ = 0;  ///< bytes handed to the stream
  bool writing_ = false;
  bool closing_ = false;  ///< no more frames in, no new ones out
  bool closed_ = false;
  std::string reason_;
  Timer linger_;
};

}  // namespace rehearsal::runtime
