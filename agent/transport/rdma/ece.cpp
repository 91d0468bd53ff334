// Enhanced connection establishment, in the order of NCCL (nccl src/transport/net_ib): the sending
// end queries what its new queue pairs offer; the receiving end sets that on its own before they
// are ready to receive, and queries what became of it; the sending end sets the answer before its
// own become ready. The offer goes with the address, the answer with the receiving end's greetings.
#include <algorithm>
#include <cerrno>

#include "agent/transport/rdma/state.hpp"

namespace rehearsal::rdma {
namespace {

/// The provider has none, which is no error.
bool has_none(int error) { return error == EOPNOTSUPP || error == ENOSYS; }

Failure refused(const Port& port, const Connection& connection, const std::string& what,
                int error) {
  const std::string peer =
      connection.peer.slots == 0 ? "" : ", towards GID " + gid_text(connection.peer.gid);
  return system_failure(ErrorSource::transport,
                        "[REHEARSAL-RDMA-009] " + port.name() + peer + ": " + what +
                            "; without enhanced connection establishment: transport.ece: false",
                        error);
}

}  // namespace

/// What the queue pairs have now; nothing: no ECE here. They are alike, so one answer is for all.
Result<std::optional<Ece>> RdmaTransport::State::query_ece(Connection& connection) {
  if (!options.settings.ece || api->query_ece == nullptr || api->set_ece == nullptr)
    return std::nullopt;
  const Port& port = *ports[connection.port].port;
  std::optional<Ece> all;
  for (const Pair& pair : connection.pairs) {
    ibv_ece found{};
    const int error = api->query_ece(pair.pair.get(), &found);
    if (has_none(error)) return std::nullopt;
    if (error != 0) return refused(port, connection, "cannot query the queue pair's ECE", error);
    const Ece ece{.vendor = found.vendor_id, .options = found.options, .mask = found.comp_mask};
    if (all && *all != ece)
      return refused(port, connection,
                     "queue pairs of one connection have different ECE options, " + ece_text(*all) +
                         " and " + ece_text(ece),
                     EPROTO);
    all = ece;
  }
  return all;
}

/// False: the provider has no ECE after all.
Result<bool> RdmaTransport::State::set_ece(Connection& connection, const Ece& wanted) {
  for (const Pair& pair : connection.pairs) {
    ibv_ece ece{.vendor_id = wanted.vendor, .options = wanted.options, .comp_mask = wanted.mask};
    const int error = api->set_ece(pair.pair.get(), &ece);
    if (has_none(error)) return false;
    if (error != 0)
      return refused(*ports[connection.port].port, connection, "cannot set ECE " + ece_text(wanted),
                     error);
  }
  return true;
}

Result<void> RdmaTransport::State::join_with_ece(Connection& connection) {
  const bool both = connection.offered && connection.peer.ece;
  if (!both) return make_ready(connection);
  if (connection.outgoing) {
    connection.awaits_ece = true;
    return connection.heard_ece ? answered_ece(connection) : Result<void>{};
  }
  ASSIGN_OR_RETURN(const bool is_set, set_ece(connection, *connection.peer.ece));
  RETURN_IF_ERROR(make_ready(connection));
  if (!is_set) return {};
  ASSIGN_OR_RETURN(connection.agreed, query_ece(connection));
  return {};
}

/// The sending end's queue pairs, as the receiving end has answered.
Result<void> RdmaTransport::State::answered_ece(Connection& connection) {
  connection.awaits_ece = false;
  if (connection.answer) {
    ASSIGN_OR_RETURN(const bool is_set, set_ece(connection, *connection.answer));
    if (is_set) connection.agreed = connection.answer;
  }
  return make_ready(connection);
}

/// For the report: "ECE 0x30000002 (vendor 0x15b3) on 3 of 4 connections".
std::string RdmaTransport::State::ece_of(std::size_t port) const {
  if (!options.settings.ece) return "ECE off";
  std::size_t all = 0;
  std::size_t with = 0;
  std::optional<Ece> first;
  for (const Connection& connection : connections) {
    if (connection.phase == Phase::unused || connection.port != port) continue;
    ++all;
    if (!connection.agreed) continue;
    ++with;
    if (!first) first = connection.agreed;
  }
  if (!first) return "no ECE";
  return "ECE " + ece_text(*first) +
         (with == all
              ? ""
              : " on " + std::to_string(with) + " of " + std::to_string(all) + " connections");
}

}  // namespace rehearsal::rdma
