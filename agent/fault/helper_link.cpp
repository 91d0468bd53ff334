#include "agent/fault/helper_link.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "agent/fault/local_address.hpp"
#include "core/base/units.hpp"
#include "runtime/asio.hpp"

namespace rehearsal::agent {
namespace {

constexpr Duration kRetryInterval = std::chrono::seconds{1};
constexpr std::uint64_t kHelloTicket = 0;

/// A connected socket, or why not.
Result<int> connect_to(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const sockaddr_un address, local_address(path));
  const int descriptor = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return system_failure(ErrorSource::host, "cannot make a socket", errno);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  const int error = errno;
  ::close(descriptor);
  return system_failure(ErrorSource::host, "no helper listens on " + path.string(), error);
}

}  // namespace

class HelperLink::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& context, std::filesystem::path socket, HelperLinkHandlers handlers,
       Duration greeting_patience)
      : context_(context),
        path_(std::move(socket)),
        handlers_(std::move(handlers)),
        greeting_patience_(greeting_patience),
        retry_timer_(context),
        answer_timer_(context) {}

  void attempt() {
    auto descriptor = connect_to(path_);
    if (!descriptor) {
      // Not from inside start(), and each reason once.
      asio::post(context_, [self = shared_from_this(), life = life_,
                            reason = descriptor.error().text()]() mutable {
        if (self->life_ == life) self->down(std::move(reason));
      });
      return;
    }
    socket_.emplace(context_, *descriptor);
    ask(kHelloTicket, fault::HelloRequest{});
    receive();
  }

  void ask(std::uint64_t ticket, const fault::HelperRequest& request) {
    if (!socket_) return;
    waiting_.push_back({ticket, fault::encode(request)});
    send_next();
  }

  void drop(const std::string& reason) {
    asio::post(context_, [self = shared_from_this(), life = life_, reason] {
      if (self->life_ == life && self->socket_) self->down(reason);
    });
  }

  void close() {
    closed_ = true;
    disconnect();
    retry_timer_.cancel();
  }

 private:
  struct Waiting {
    std::uint64_t ticket = 0;
    std::string bytes;
  };

  void disconnect() {
    ++life_;
    answer_timer_.cancel();
    waiting_.clear();
    asked_.reset();
    is_up_ = false;
    answer_limit_ = greeting_patience_;
    asio::error_code ignored;
    if (socket_) socket_->close(ignored);
    socket_.reset();
  }

  void down(std::string reason) {
    disconnect();
    const bool is_news = std::exchange(told_, reason) != reason;
    retry_timer_.expires_after(
        std::chrono::duration_cast<runtime::Timer::duration>(kRetryInterval));
    retry_timer_.async_wait(
        [self = shared_from_this(), life = life_](const asio::error_code& error) {
          if (!error && self->life_ == life && !self->closed_) self->attempt();
        });
    if (is_news) handlers_.on_down(std::move(reason));
  }

  void fail_later(std::string reason) {
    asio::post(context_, [self = shared_from_this(), life = life_, reason = std::move(reason)] {
      if (self->life_ == life) self->down(reason);
    });
  }

  void send_next() {
    if (asked_ || waiting_.empty()) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    asked_ = next.ticket;
    const ssize_t sent = ::send(socket_->native_handle(), next.bytes.data(), next.bytes.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    // Also where it could not be sent an answer may lie there: a helper that refuses says why.
    if (sent < 0 && errno != EPIPE && errno != ECONNRESET) {
      return fail_later("cannot send to the helper: " + std::string(std::strerror(errno)));
    }
    answer_timer_.expires_after(
        std::chrono::duration_cast<runtime::Timer::duration>(answer_limit_));
    answer_timer_.async_wait(
        [self = shared_from_this(), life = life_](const asio::error_code& error) {
          if (error || self->life_ != life || !self->asked_) return;
          self->down("no answer within " + format_duration_exact(self->answer_limit_));
        });
  }

  void receive() {
    socket_->async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this(), life = life_](const asio::error_code& error) {
                          if (error || self->life_ != life) return;
                          self->take_packet();
                          if (self->life_ == life) self->receive();
                        });
  }

  void take_packet() {
    std::vector<char> buffer(fault::kMessageBytesMax);
    const ssize_t size =
        ::recv(socket_->native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) return down("the helper closed the connection");
    auto reply = fault::decode_reply({buffer.data(), static_cast<std::size_t>(size)});
    if (!reply) return down("the helper's answer cannot be read: " + reply.error().text());
    if (!asked_ && !std::holds_alternative<fault::RefusedReply>(*reply))
      return down("the helper answered what nobody asked");
    take_reply(std::exchange(asked_, std::nullopt), std::move(*reply));
  }

  void take_reply(std::optional<std::uint64_t> ticket, fault::HelperReply reply) {
    answer_timer_.cancel();
    if (ticket && is_up_) {
      const std::uint64_t life = life_;
      handlers_.on_answer(*ticket, std::move(reply));
      if (life_ == life && socket_) send_next();
      return;
    }
    if (const auto* refused = std::get_if<fault::RefusedReply>(&reply))
      return down("refused: " + refused->text);
    auto* welcome = std::get_if<fault::WelcomeReply>(&reply);
    if (welcome == nullptr) return down("the helper did not answer hello with a welcome");
    is_up_ = true;
    answer_limit_ = fault::patience_with(*welcome);
    told_.clear();
    handlers_.on_up(std::move(*welcome));
    if (socket_) send_next();
  }

  asio::io_context& context_;
  const std::filesystem::path path_;
  const HelperLinkHandlers handlers_;
  const Duration greeting_patience_;
  runtime::Timer retry_timer_;
  runtime::Timer answer_timer_;
  std::optional<asio::posix::stream_descriptor> socket_;
  std::deque<Waiting> waiting_;
  std::optional<std::uint64_t> asked_;  ///< the ticket that is to be answered
  bool is_up_ = false;
  Duration answer_limit_ = greeting_patience_;
  bool closed_ = false;
  std::string told_;        ///< why there is no helper, as told last
  std::uint64_t life_ = 0;  ///< counts connections; only the newest is heard
};

HelperLink::HelperLink(asio::io_context& context, std::filesystem::path socket,
                       HelperLinkHandlers handlers, Duration greeting_patience)
    : impl_(std::make_shared<Impl>(context, std::move(socket), std::move(handlers),
                                   greeting_patience)) {}
HelperLink::~HelperLink() { impl_->close(); }

void HelperLink::start() { impl_->attempt(); }
void HelperLink::ask(std::uint64_t ticket, const fault::HelperRequest& request) {
  impl_->ask(ticket, request);
}
void HelperLink::drop(const std::string& reason) { impl_->drop(reason); }
void HelperLink::close() { impl_->close(); }

}  // namespace rehearsal::agent
