#include "agent/control/control_link.hpp"

#include <asio/connect.hpp>
#include <exception>
#include <utility>

#include "core/protocol/codec.hpp"

namespace rehearsal::agent {

using runtime::kTuple;
using Tcp = asio::ip::tcp;

class ControlLink::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& context, ControlLinkOptions options, ControlLinkHandlers handlers)
      : context_(context),
        options_(std::move(options)),
        handlers_(std::move(handlers)),
        start_timer_(context),
        limit_timer_(context),
        resolver_(context) {}

  void connect_at(Instant at) {
    drop();
    start_timer_.expires_at(runtime::timer_point(at));
    start_timer_.async_wait(
        [self = shared_from_this(), attempt = attempt_](const asio::error_code& error) {
          if (!error && self->is_current(attempt)) self->begin();
        });
  }

  bool send(const protocol::Envelope& message) {
    return connection_ != nullptr && connection_->send(protocol::encode(message));
  }

  void close(const std::string& reason) {
    if (const auto connection = std::exchange(connection_, nullptr)) connection->close(reason);
    drop();
  }

  /// Whatever is under way belongs to an older attempt from here on, and is not heard.
  void drop() {
    ++attempt_;
    start_timer_.cancel();
    limit_timer_.cancel();
    resolver_.cancel();
    asio::error_code ignored;
    if (const auto socket = std::exchange(socket_, nullptr)) socket->close(ignored);
    if (const auto connection = std::exchange(connection_, nullptr)) connection->abort("dropped");
  }

 private:
  bool is_current(std::uint64_t attempt) const { return attempt == attempt_; }

  void begin() {
    limit_timer_.expires_after(
        std::chrono::duration_cast<runtime::Timer::duration>(options_.connect_limit));
    limit_timer_.async_wait(
        [self = shared_from_this(), attempt = attempt_](const asio::error_code& error) {
          if (error || !self->is_current(attempt)) return;
          self->down("no answer within " + format_duration_exact(self->options_.connect_limit));
        });
    socket_ = std::make_shared<Tcp::socket>(context_);
    asio::co_spawn(context_, connect(shared_from_this(), socket_, attempt_),
                   [](std::exception_ptr failure) {
                     if (failure) std::rethrow_exception(failure);
                   });
  }

  static asio::awaitable<void> connect(std::shared_ptr<Impl> self,
                                       std::shared_ptr<Tcp::socket> socket, std::uint64_t attempt) {
    const auto& coordinator = self->options_.coordinator;
    asio::error_code error;
    const auto address = asio::ip::make_address(coordinator.address, error);
    if (!error) {
      const auto [failed] = co_await socket->async_connect({address, coordinator.port}, kTuple);
      error = failed;
    } else {
      const auto [unknown, places] = co_await self->resolver_.async_resolve(
          coordinator.address, std::to_string(coordinator.port), kTuple);
      error = unknown;
      if (!error && self->is_current(attempt)) {
        const auto [failed, place] = co_await asio::async_connect(*socket, places, kTuple);
        error = failed;
      }
    }
    if (!self->is_current(attempt)) co_return;
    if (error) {
      self->down(error.message());
    } else {
      self->up(attempt);
    }
  }

  void up(std::uint64_t attempt) {
    limit_timer_.cancel();
    connection_ = runtime::FramedConnection::create(runtime::tcp_stream(std::move(*socket_)),
                                                    options_.connection);
    socket_ = nullptr;
    const auto self = shared_from_this();
    connection_->start({
        .on_frame =
            [self, attempt](std::string payload) {
              if (self->is_current(attempt)) self->receive(payload);
            },
        .on_closed =
            [self, attempt](std::string reason) {
              if (self->is_current(attempt)) self->down(std::move(reason));
            },
    });
    handlers_.on_up();
  }

  void receive(std::string_view payload) {
    auto envelope = protocol::decode(payload);
    if (envelope) return handlers_.on_message(std::move(*envelope));
    down(envelope.error().text());
  }

  void down(std::string reason) {
    drop();
    handlers_.on_down(std::move(reason));
  }

  asio::io_context& context_;
  const ControlLinkOptions options_;
  const ControlLinkHandlers handlers_;
  runtime::Timer start_timer_;
  runtime::Timer limit_timer_;
  Tcp::resolver resolver_;
  std::shared_ptr<Tcp::socket> socket_;  ///< of the attempt that is under way
  std::shared_ptr<runtime::FramedConnection> connection_;
  std::uint64_t attempt_ = 0;  ///< counts up; only the newest is heard
};

ControlLink::ControlLink(asio::io_context& context, ControlLinkOptions options,
                         ControlLinkHandlers handlers)
    : impl_(std::make_shared<Impl>(context, std::move(options), std::move(handlers))) {}

ControlLink::~ControlLink() { impl_->drop(); }

void ControlLink::connect_at(Instant at) { impl_->connect_at(at); }
bool ControlLink::send(const protocol::Envelope& message) { return impl_->send(message); }
void ControlLink::close(const std::string& reason) { impl_->close(reason); }

}  // namespace rehearsal::agent
