#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agent/keeper/server_policy.hpp"
#include "core/base/result.hpp"
#include "core/fault/helper_messages.hpp"
#include "core/fault/keeper.hpp"
#include "runtime/service_manager.hpp"

namespace rehearsal::agent {

/// The socket of a program that keeps faults, and its loop: one thread, one request at a time, so
/// that what the keeper does is never interleaved. What it does may take seconds (commands): leases
/// last longer by that, for nobody could have renewed one. It decides nothing that the keeper or
/// the policy decides.
class Server {
 public:
  /// Both outlive this.
  Server(fault::FaultKeeper& keeper, ServerPolicy& policy);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens on a SOCK_SEQPACKET socket; who may connect is checked for each connection.
  Result<void> listen(const std::filesystem::path& socket_path);

  /// Until SIGTERM or SIGINT; then undoes everything.
  Result<void> run(const runtime::ServiceManager& service_manager);

 private:
  struct Connection {
    fault::OwnerId owner;
    uid_t uid = 0;
    bool greeted = false;
  };

  void undo_what_is_due();
  void accept_one();
  void receive_from(int descriptor);
  void drop(int descriptor);
  void drop_all();
  fault::HelperReply answer(Connection& connection, const fault::HelperRequest& request);
  fault::HelperReply on(Connection& connection, const fault::HelloRequest& request);
  fault::HelperReply on(Connection& connection, const fault::ApplyRequest& request);
  fault::HelperReply on(Connection& connection, const fault::RenewRequest& request);
  fault::HelperReply on(Connection& connection, const fault::UndoRequest& request);
  fault::HelperReply on(Connection& connection, const fault::ListRequest& request);
  fault::HelperReply on(Connection& connection, const fault::ClearRequest& request);
  int poll_timeout_ms(const runtime::ServiceManager& service_manager) const;

  fault::FaultKeeper& keeper_;
  ServerPolicy& policy_;
  std::filesystem::path socket_path_;
  int listener_ = -1;
  std::map<int, Connection> connections_;  ///< by descriptor
  std::uint64_t next_owner_ = 1;
};

}  // namespace rehearsal::agent
