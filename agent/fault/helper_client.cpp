#include "agent/fault/helper_client.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "agent/fault/local_address.hpp"

namespace rehearsal::agent {
namespace {

Failure gone(std::string_view what, int error) {
  Failure failure = system_failure(ErrorSource::host, what, error);
  failure.value().code =
      error == EAGAIN || error == EWOULDBLOCK ? ErrorCode::timed_out : ErrorCode::disconnected;
  return failure;
}

}  // namespace

Result<HelperClient> HelperClient::connect(const std::filesystem::path& socket_path,
                                           Duration greeting_patience) {
  ASSIGN_OR_RETURN(const sockaddr_un address, local_address(socket_path));
  HelperClient client(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  RETURN_IF_ERROR(client.be_patient(greeting_patience));
  if (::connect(client.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0) {
    const int error = errno;
    Failure failure = gone("no helper listens on " + socket_path.string(), error);
    if (error == ENOENT || error == ECONNREFUSED) failure.value().code = ErrorCode::not_found;
    return failure;
  }
  ASSIGN_OR_RETURN(client.welcome_, client.ask<fault::WelcomeReply>(fault::HelloRequest{}));
  RETURN_IF_ERROR(client.be_patient(fault::patience_with(client.welcome_)));
  return client;
}

Result<void> HelperClient::be_patient(Duration time) {
  const timeval patience{.tv_sec = std::chrono::ceil<std::chrono::seconds>(time).count(),
                         .tv_usec = 0};
  if (descriptor_ >= 0 &&
      ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
      ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0) {
    return {};
  }
  return system_failure(ErrorSource::host, "cannot make a socket", errno);
}

HelperClient::HelperClient(HelperClient&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), welcome_(std::move(other.welcome_)) {}

HelperClient& HelperClient::operator=(HelperClient&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(welcome_, other.welcome_);
  return *this;
}

HelperClient::~HelperClient() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

template <typename Reply>
Result<Reply> HelperClient::ask(const fault::HelperRequest& request) {
  const std::string bytes = fault::encode(request);
  const bool is_sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
  const int send_error = errno;
  // Also where it could not be sent: a helper that refuses says why before it closes.
  std::vector<char> buffer(fault::kMessageBytesMax);
  const ssize_t size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
  if (size < 0) return gone("no answer from the helper", is_sent ? errno : send_error);
  if (size == 0) {
    return fail(ErrorCode::disconnected, ErrorSource::host, "the helper closed the connection");
  }
  ASSIGN_OR_RETURN(fault::HelperReply reply,
                   fault::decode_reply({buffer.data(), static_cast<std::size_t>(size)}));
  if (auto* wanted = std::get_if<Reply>(&reply)) return std::move(*wanted);
  if (const auto* refused = std::get_if<fault::RefusedReply>(&reply)) {
    return fail(refused->code, ErrorSource::host, refused->text);
  }
  return fail(ErrorCode::protocol, ErrorSource::host, "the helper answered something else");
}

Result<std::uint64_t> HelperClient::apply(const fault::FaultRequest& request) {
  return ask<fault::AppliedReply>(fault::ApplyRequest{request}).map([](const auto& reply) {
    return reply.id;
  });
}

Result<std::uint64_t> HelperClient::renew(std::optional<std::uint64_t> id, Duration lease) {
  return ask<fault::RenewedReply>(fault::RenewRequest{id, lease}).map([](const auto& reply) {
    return reply.count;
  });
}

Result<fault::UndoneReply> HelperClient::undo(std::optional<std::uint64_t> id) {
  return ask<fault::UndoneReply>(fault::UndoRequest{id});
}

Result<fault::ListReply> HelperClient::list() {
  return ask<fault::ListReply>(fault::ListRequest{});
}

Result<fault::UndoneReply> HelperClient::clear(bool accept_stuck) {
  return ask<fault::UndoneReply>(fault::ClearRequest{accept_stuck});
}

}  // namespace rehearsal::agent
