#include "agent/keeper/server.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

#include "agent/fault/local_address.hpp"
#include "agent/keeper/log.hpp"
#include "runtime/clock.hpp"

namespace rehearsal::agent {
namespace {

using Severity = fault::KeeperEvent::Severity;

/// Root's connections do not count: an operator always gets through.
constexpr std::size_t kConnectionsMax = 16;
constexpr int kBacklog = 16;

fault::RefusedReply refused(const Error& error) { return {error.code, error.text()}; }

bool send_reply(int descriptor, const fault::HelperReply& reply) {
  const std::string bytes = fault::encode(reply);
  return ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

/// SIGTERM and SIGINT as something to wait on.
Result<int> stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const int descriptor = ::signalfd(-1, &set, SFD_CLOEXEC);
  if (descriptor < 0) return system_failure(ErrorSource::host, "cannot wait for signals", errno);
  return descriptor;
}

/// Closes a connection so that what was answered arrives: a local socket that is closed over a
/// packet nobody read fails the peer's next read with ECONNRESET, in place of the answer (unix(7)).
void close_answered(int descriptor) {
  ::shutdown(descriptor, SHUT_RD);  // from here on nothing more comes in
  char packet = 0;
  while (::recv(descriptor, &packet, sizeof packet, MSG_DONTWAIT) > 0) {
  }
  ::close(descriptor);
}

}  // namespace

Server::Server(fault::FaultKeeper& keeper, ServerPolicy& policy)
    : keeper_(keeper), policy_(policy) {}

Server::~Server() {
  for (const auto& [descriptor, connection] : connections_) ::close(descriptor);
  if (listener_ < 0) return;
  ::close(listener_);
  ::unlink(socket_path_.c_str());
}

Result<void> Server::listen(const std::filesystem::path& socket_path) {
  ASSIGN_OR_RETURN(const sockaddr_un address, local_address(socket_path));
  listener_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return system_failure(ErrorSource::host, "cannot make a socket", errno);
  socket_path_ = socket_path;
  ::unlink(socket_path.c_str());  // of an earlier helper: the journal's lock says that it is gone
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(socket_path.c_str(), 0666) != 0 || ::listen(listener_, kBacklog) != 0) {
    return system_failure(ErrorSource::host, "cannot listen on " + socket_path.string(), errno);
  }
  return {};
}

Result<void> Server::run(const runtime::ServiceManager& service_manager) {
  ASSIGN_OR_RETURN(const int signals, stop_signals());
  service_manager.ready();
  for (;;) {
    std::vector<pollfd> watched = {{signals, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& [descriptor, connection] : connections_) {
      watched.push_back({descriptor, POLLIN, 0});
    }
    const int ready = ::poll(watched.data(), watched.size(), poll_timeout_ms(service_manager));
    if (ready < 0 && errno != EINTR) {
      return system_failure(ErrorSource::host, "cannot wait", errno);
    }
    service_manager.alive();
    // First what is due: nobody can hold that up by talking.
    undo_what_is_due();
    if (ready > 0 && watched[0].revents != 0) break;
    if (ready > 0 && watched[1].revents != 0) accept_one();
    for (std::size_t i = 2; ready > 0 && i < watched.size(); ++i) {
      if (watched[i].revents != 0) receive_from(watched[i].fd);
    }
    log_events(keeper_);
  }
  ::close(signals);
  service_manager.stopping();
  drop_all();
  keeper_.undo(std::nullopt, runtime::now());
  log_events(keeper_);
  return {};
}

int Server::poll_timeout_ms(const runtime::ServiceManager& service_manager) const {
  Duration wait = std::chrono::hours{1};
  if (const auto interval = service_manager.alive_interval()) wait = std::min(wait, *interval / 2);
  if (keeper_.next_due() != kNever) wait = std::min(wait, keeper_.next_due() - runtime::now());
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::max(wait, Duration::zero()));
  return static_cast<int>(ms.count());
}

void Server::undo_what_is_due() {
  const Instant began = runtime::now();
  if (began < keeper_.next_due()) return;
  keeper_.on_time(began);
  keeper_.busy(runtime::now() - began);
}

void Server::accept_one() {
  const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    ::close(descriptor);
    return;
  }
  const bool may = policy_.may_connect(peer.uid);
  if (!may || (peer.uid != 0 && connections_.size() >= kConnectionsMax)) {
    const std::string why =
        may ? "too many connections"
            : "user " + std::to_string(peer.uid) + " may not ask; this host's policy names who may";
    log_line(Severity::warning, "refused process " + std::to_string(peer.pid) + ": " + why);
    send_reply(descriptor, fault::RefusedReply{ErrorCode::refused, why});
    close_answered(descriptor);
    return;
  }
  connections_[descriptor] = {.owner = fault::OwnerId{next_owner_++}, .uid = peer.uid};
}

void Server::receive_from(int descriptor) {
  const auto found = connections_.find(descriptor);
  if (found == connections_.end()) return;
  std::vector<char> buffer(fault::kMessageBytesMax);
  // MSG_TRUNC: the true length of the packet, also where it was cut.
  const ssize_t size = ::recv(descriptor, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return drop(descriptor);
  const auto length = static_cast<std::size_t>(size);
  const auto request =
      length > buffer.size()
          ? Result<fault::HelperRequest>(
                fail(ErrorCode::too_large, ErrorSource::control, "a request over the cap"))
          : fault::decode_request({buffer.data(), length});
  if (!request) {
    log_line(Severity::warning, "closed a connection: " + request.error().text());
    send_reply(descriptor, refused(request.error()));
    return drop(descriptor);
  }
  // A peer that does not read its answers is gone for us.
  const Instant began = runtime::now();
  const fault::HelperReply reply = answer(found->second, *request);
  keeper_.busy(runtime::now() - began);
  if (!send_reply(descriptor, reply)) drop(descriptor);
}

void Server::drop(int descriptor) {
  const auto found = connections_.find(descriptor);
  if (found == connections_.end()) return;
  const fault::OwnerId owner = found->second.owner;
  connections_.erase(found);
  close_answered(descriptor);
  const Instant began = runtime::now();
  keeper_.disconnected(owner, began);
  keeper_.busy(runtime::now() - began);
}

void Server::drop_all() {
  while (!connections_.empty()) drop(connections_.begin()->first);
}

fault::HelperReply Server::answer(Connection& connection, const fault::HelperRequest& request) {
  if (!connection.greeted && !std::holds_alternative<fault::HelloRequest>(request)) {
    return fault::RefusedReply{ErrorCode::protocol, "hello comes first"};
  }
  return std::visit([&](const auto& asked) { return on(connection, asked); }, request);
}

fault::HelperReply Server::on(Connection& connection, const fault::HelloRequest& request) {
  if (request.version != fault::kHelperVersion) {
    return fault::RefusedReply{ErrorCode::protocol, "the helper speaks version " +
                                                        std::to_string(fault::kHelperVersion) +
                                                        ", not " + std::to_string(request.version)};
  }
  connection.greeted = true;
  return policy_.welcome(keeper_);
}

fault::HelperReply Server::on(Connection& connection, const fault::ApplyRequest& request) {
  const auto id = policy_.apply(keeper_, connection.owner, request.request, runtime::now());
  if (id) return fault::AppliedReply{*id};
  log_line(Severity::warning,
           "refused " + describe(request.request.fault) + ": " + id.error().text());
  return refused(id.error());
}

fault::HelperReply Server::on(Connection& connection, const fault::RenewRequest& request) {
  return fault::RenewedReply{
      keeper_.renew(connection.owner, request.id, request.lease, runtime::now())};
}

fault::HelperReply Server::on(Connection&, const fault::UndoRequest& request) {
  auto undone = keeper_.undo(request.id, runtime::now());
  return fault::UndoneReply{std::move(undone), keeper_.blocked()};
}

fault::HelperReply Server::on(Connection&, const fault::ListRequest&) {
  return fault::ListReply{fault::listed(keeper_, runtime::now()), keeper_.blocked()};
}

fault::HelperReply Server::on(Connection& connection, const fault::ClearRequest& request) {
  if (request.accept_stuck && connection.uid != 0) {
    return fault::RefusedReply{ErrorCode::refused, "only root may accept what could not be undone"};
  }
  auto cleared = keeper_.clear(request.accept_stuck, runtime::now());
  return fault::UndoneReply{std::move(cleared), keeper_.blocked()};
}

}  // namespace rehearsal::agent
