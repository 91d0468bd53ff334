#include "daemon/control_server.hpp"

#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <exception>
#include <unordered_map>
#include <utility>

#include "core/protocol/codec.hpp"
#include "runtime/clock.hpp"
#include "runtime/log.hpp"

namespace rehearsal::daemon {
namespace {

using coordination::SessionId;
using runtime::kTuple;

/// After an accept that failed for want of descriptors or memory.
constexpr std::chrono::milliseconds kAcceptPause{100};

void write_log(const coordination::Log& log) {
  switch (log.level) {
    case coordination::LogLevel::info:
      return runtime::log_info(log.text);
    case coordination::LogLevel::warning:
      return runtime::log_warning(log.text);
    case coordination::LogLevel::error:
      return runtime::log_error(log.text);
  }
}

Result<asio::ip::tcp::acceptor> listen_on(asio::io_context& context,
                                          const runtime::Endpoint& endpoint) {
  asio::error_code error;
  const auto address = asio::ip::make_address(endpoint.address, error);
  if (error) {
    return invalid(
        "'" + endpoint.address +
        "' is not an IP address to listen on; right would be 127.0.0.1 or the address of "
        "the management network on this host");
  }
  const asio::ip::tcp::endpoint where(address, endpoint.port);
  asio::ip::tcp::acceptor acceptor(context);
  acceptor.open(where.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return fail(ErrorCode::system, ErrorSource::host,
                "cannot listen on " + runtime::to_string(endpoint) + ": " + error.message());
  }
  return acceptor;
}

}  // namespace

class ControlServer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::ip::tcp::acceptor acceptor, ControlServerOptions options, ControlServerHooks hooks)
      : acceptor_(std::move(acceptor)),
        timer_(acceptor_.get_executor()),
        accept_pause_(acceptor_.get_executor()),
        options_(std::move(options)),
        hooks_(std::move(hooks)) {
    const auto bound = acceptor_.local_endpoint();
    listening_ = {bound.address().to_string(), bound.port()};
  }

  void start() {
    asio::co_spawn(acceptor_.get_executor(), accept_sessions(shared_from_this()),
                   [](std::exception_ptr failure) {
                     if (failure) std::rethrow_exception(failure);
                   });
    arm();
  }

  void refuse_new() {
    asio::error_code ignored;
    acceptor_.close(ignored);
    accept_pause_.cancel();
  }

  void close_all(const std::string& reason) {
    for (auto& [id, connection] : std::exchange(sessions_, {})) connection->close(reason);
  }

  void stop() {
    stopped_ = true;
    refuse_new();
    timer_.cancel();
    for (auto& [id, connection] : std::exchange(sessions_, {})) connection->abort("stopped");
    thinking_.stop();  // drops what has not begun, waits for what has
    thinking_.join();
  }

  const runtime::Endpoint& listening() const { return listening_; }
  const ControlServerCounters& counters() {
    counters_.sessions = sessions_.size();
    return counters_;
  }

 private:
  static asio::awaitable<void> accept_sessions(std::shared_ptr<Impl> self) {
    while (self->acceptor_.is_open()) {
      auto [error, socket] = co_await self->acceptor_.async_accept(kTuple);
      if (!self->acceptor_.is_open()) co_return;
      if (!error) {
        self->take_session(std::move(socket));
      } else if (error != asio::error::connection_aborted) {
        runtime::log_error("cannot take a connection: " + error.message());
        self->accept_pause_.expires_after(kAcceptPause);
        co_await self->accept_pause_.async_wait(kTuple);
      }
    }
  }

  void take_session(asio::ip::tcp::socket socket) {
    if (sessions_.size() >= options_.sessions_max) {
      ++counters_.sessions_refused;
      return;  // the socket closes here
    }
    ++counters_.sessions_accepted;
    const SessionId id{++last_session_};
    auto connection = runtime::FramedConnection::create(runtime::tcp_stream(std::move(socket)),
                                                        options_.connection);
    sessions_.emplace(id, connection);
    const std::weak_ptr<Impl> weak = weak_from_this();
    connection->start({
        .on_frame =
            [weak, id](std::string payload) {
              if (const auto self = weak.lock()) self->on_frame(id, payload);
            },
        .on_closed =
            [weak, id](std::string reason) {
              if (const auto self = weak.lock()) self->on_closed(id, std::move(reason));
            },
    });
    deliver(coordination::SessionOpened{id, connection->peer()});
  }

  void on_frame(SessionId id, std::string_view payload) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    auto envelope = protocol::decode(payload);
    if (!envelope) {
      ++counters_.protocol_errors;
      found->second->abort(envelope.error().text());
      return;
    }
    ++counters_.messages_received;
    deliver(coordination::MessageReceived{id, std::move(*envelope)});
  }

  /// Only for what the coordinator has not closed itself.
  void on_closed(SessionId id, std::string reason) {
    if (sessions_.erase(id) > 0) deliver(coordination::SessionClosed{id, std::move(reason)});
  }

  void deliver(const coordination::Event& event) {
    if (stopped_) return;
    const Instant begun = runtime::now();
    auto actions = hooks_.coordinator.on(event, begun);
    for (auto& action : actions) {
      std::visit([this](auto& wanted) { perform(wanted); }, action);
    }
    arm();
    if (hooks_.on_handled) hooks_.on_handled(runtime::now() - begun);
  }

  void perform(coordination::Send& action) {
    const auto found = sessions_.find(action.session);
    if (found == sessions_.end()) return;  // gone, and the coordinator will hear of it
    if (found->second->send(protocol::encode(action.message))) ++counters_.messages_sent;
  }

  void perform(coordination::Close& action) {
    const auto found = sessions_.find(action.session);
    if (found == sessions_.end()) return;
    found->second->close(std::move(action.reason));
    sessions_.erase(found);
  }

  void perform(coordination::StoreRun& action) { hooks_.store(std::move(action)); }
  void perform(coordination::Log& action) { write_log(action); }

  void perform(coordination::Compute& action) {
    asio::post(thinking_, [weak = weak_from_this(), executor = acceptor_.get_executor(),
                           id = action.id, make = std::move(action.make)] {
      // Held by pointer: Asio may copy a handler.
      const auto computed = std::make_shared<coordination::Computed>(id, make());
      asio::post(executor, [weak, computed] {
        if (const auto self = weak.lock()) self->deliver(*computed);
      });
    });
  }

  void arm() {
    const Instant deadline = hooks_.coordinator.next_deadline();
    if (deadline == armed_for_) return;
    armed_for_ = deadline;
    timer_.cancel();
    if (deadline == kNever) return;
    timer_.expires_at(runtime::timer_point(deadline));
    timer_.async_wait([weak = weak_from_this()](const asio::error_code& error) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->armed_for_ = kNever;
      self->deliver(coordination::Tick{});
    });
  }

  asio::ip::tcp::acceptor acceptor_;
  runtime::Timer timer_;
  runtime::Timer accept_pause_;
  ControlServerOptions options_;
  ControlServerHooks hooks_;
  runtime::Endpoint listening_;
  ControlServerCounters counters_;
  std::unordered_map<SessionId, std::shared_ptr<runtime::FramedConnection>> sessions_;
  std::uint64_t last_session_ = 0;
  Instant armed_for_ = kNever;
  bool stopped_ = false;
  asio::thread_pool thinking_{1};  ///< plans and reports, one after the other
};

Result<std::unique_ptr<ControlServer>> ControlServer::start(asio::io_context& context,
                                                            ControlServerOptions options,
                                                            ControlServerHooks hooks) {
  ASSIGN_OR_RETURN(auto acceptor, listen_on(context, options.listen));
  auto impl = std::make_shared<Impl>(std::move(acceptor), std::move(options), std::move(hooks));
  impl->start();
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

ControlServer::ControlServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControlServer::~ControlServer() { impl_->stop(); }

const runtime::Endpoint& ControlServer::listening() const { return impl_->listening(); }
const ControlServerCounters& ControlServer::counters() const { return impl_->counters(); }
void ControlServer::refuse_new() { impl_->refuse_new(); }
void ControlServer::close_all(const std::string& reason) { impl_->close_all(reason); }

}  // namespace rehearsal::daemon
