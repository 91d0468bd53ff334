#include <cerrno>
#include <cstring>

#include "agent/transport/rdma/state.hpp"
#include "core/base/result.hpp"

namespace rehearsal::rdma {
namespace {

struct StatusText {
  ibv_wc_status status;
  std::string_view id;
  std::string_view text;
};

/// Statuses of work completions, with the entry of the error catalogue (docs/errors.md) that says
/// what they come from.
constexpr StatusText kStatuses[] = {
    {IBV_WC_LOC_LEN_ERR, "REHEARSAL-RDMA-023", "local length error"},
    {IBV_WC_LOC_QP_OP_ERR, "REHEARSAL-RDMA-023", "local queue pair operation error"},
    {IBV_WC_LOC_PROT_ERR, "REHEARSAL-RDMA-023", "local protection error"},
    {IBV_WC_WR_FLUSH_ERR, "REHEARSAL-RDMA-024", "flushed: the queue pair went into error"},
    {IBV_WC_BAD_RESP_ERR, "REHEARSAL-RDMA-023", "bad response"},
    {IBV_WC_LOC_ACCESS_ERR, "REHEARSAL-RDMA-022", "local access error"},
    {IBV_WC_REM_INV_REQ_ERR, "REHEARSAL-RDMA-022", "remote invalid request"},
    {IBV_WC_REM_ACCESS_ERR, "REHEARSAL-RDMA-022", "remote access error"},
    {IBV_WC_REM_OP_ERR, "REHEARSAL-RDMA-022", "remote operation error"},
    {IBV_WC_RETRY_EXC_ERR, "REHEARSAL-RDMA-020", "transport retry counter exceeded"},
    {IBV_WC_RNR_RETRY_EXC_ERR, "REHEARSAL-RDMA-021", "receiver-not-ready retry counter exceeded"},
    {IBV_WC_REM_ABORT_ERR, "REHEARSAL-RDMA-022", "the peer aborted"},
    {IBV_WC_FATAL_ERR, "REHEARSAL-RDMA-023", "fatal error of the device"},
    {IBV_WC_RESP_TIMEOUT_ERR, "REHEARSAL-RDMA-020", "response time-out"},
};

StatusText text_of(ibv_wc_status status) {
  for (const StatusText& known : kStatuses)
    if (known.status == status) return known;
  return {status, "REHEARSAL-RDMA-023", "an error without a name"};
}

}  // namespace

std::string RdmaTransport::State::ends_of(const Connection& connection, std::size_t pair) const {
  std::string text = ports[connection.port].port->name();
  text += ", queue pair " + std::to_string(connection.pairs[pair].pair->qp_num);
  if (pair < connection.peer.queue_pairs.size())
    text += ", to GID " + gid_text(connection.peer.gid) + ", queue pair " +
            std::to_string(connection.peer.queue_pairs[pair]);
  return text;
}

std::string RdmaTransport::State::reason_of(const Connection& connection, std::size_t pair,
                                            const ibv_wc& completion) const {
  const StatusText text = text_of(completion.status);
  std::string reason = "[" + std::string(text.id) + "] " + ends_of(connection, pair) + ": " +
                       std::string(text.text) + " (work completion status " +
                       std::to_string(completion.status) + ", vendor error " +
                       std::to_string(completion.vendor_err) + ")";
  if (ports[connection.port].port->down) reason += "; the local port is down";
  return reason;
}

void RdmaTransport::State::fail_request(Connection& connection, std::size_t pair,
                                        const ibv_wc& completion) noexcept {
  fail_connection(connection, reason_of(connection, pair, completion));
}

void RdmaTransport::State::fail_to_post(Connection& connection, const Pair& pair,
                                        int error) noexcept {
  fail_connection(connection, "[REHEARSAL-RDMA-025] " +
                                  ends_of(connection, pairs_by_number[pair.number].pair) +
                                  ": the device takes no work request: " + std::strerror(error));
}

void RdmaTransport::State::fail_protocol(Connection& connection, std::string_view what) noexcept {
  fail_connection(connection,
                  "[REHEARSAL-RDMA-026] " + ends_of(connection, 0) + ": " + std::string(what));
}

void RdmaTransport::State::fail_payload(Connection& connection) noexcept {
  fail_connection(connection, "[REHEARSAL-RDMA-027] " + ends_of(connection, 0) + ": message " +
                                  std::to_string(connection.next_received) +
                                  " does not carry what its sender stamped into it");
}

// The queue pairs go into error at once: nothing leaves any more, what is under way is flushed.
void RdmaTransport::State::fail_connection(Connection& connection, std::string reason,
                                           int error_number) noexcept {
  if (connection.phase == Phase::failed || connection.phase == Phase::aborted) return;
  if (connection.phase == Phase::greeting) --setting_up;
  const bool told = connection.phase != Phase::unused;
  connection.phase = Phase::failed;
  connection.failure = std::move(reason);
  silence(connection);
  if (told)
    complete({.kind = Completion::Kind::failed,
              .connection = connection.spec.index,
              .reason = connection.failure,
              .error_number = error_number});
}

void RdmaTransport::State::silence(Connection& connection) noexcept {
  for (Pair& pair : connection.pairs) {
    if (!pair.pair) continue;
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    api->modify_qp(pair.pair.get(), &attributes, IBV_QP_STATE);
  }
}

void RdmaTransport::State::housekeep(Instant at) noexcept {
  next_housekeeping = at + kHousekeepingInterval;
  for (PortInUse& used : ports)
    if (used.port != nullptr) take_device_events(used);
  hear_all();
  if (polls() || at < next_arming) return;
  next_arming = at + kArmingInterval;
  disarm_all();
}

void RdmaTransport::State::take_device_events(PortInUse& used) noexcept {
  ibv_async_event event{};
  ++statistics.notifications;
  while (api->get_async_event(used.port->context(), &event) == 0) {
    switch (event.event_type) {
      case IBV_EVENT_PORT_ERR:
        used.port->down = true;
        break;
      case IBV_EVENT_PORT_ACTIVE:
        used.port->down = false;
        break;
      case IBV_EVENT_DEVICE_FATAL:
        for (Connection& connection : connections)
          if (connection.phase != Phase::unused && ports[connection.port].port == used.port)
            fail_connection(connection, "[REHEARSAL-RDMA-023] " + ends_of(connection, 0) +
                                            ": the device reports a fatal error");
        break;
      default:
        break;  // what concerns one queue pair shows in its work completions
    }
    api->ack_async_event(&event);
    ++statistics.notifications;
  }
}

void RdmaTransport::State::hear_all() noexcept {
  for (PortInUse& used : ports)
    if (used.greeter != nullptr) hear(used);
}

// Each queue is armed until it has spoken: one that was silent needs no second system call.
bool RdmaTransport::State::arm() noexcept {
  const auto arm_one = [this](ibv_cq* queue, bool& is_armed) {
    if (is_armed) return true;
    ++statistics.notifications;
    is_armed = api->req_notify_cq(queue, 0) == 0;
    return is_armed;
  };
  for (PortInUse& used : ports) {
    if (used.port == nullptr) continue;
    for (SharedQueue& shared : used.port->queues())
      if (!arm_one(shared.queue.get(), shared.armed)) return false;
    if (!arm_one(used.greeter->queue(), used.greeter_armed)) return false;
  }
  armed = true;
  return true;
}

void RdmaTransport::State::disarm(PortInUse& used, const ibv_cq* queue) noexcept {
  if (queue == used.greeter->queue()) used.greeter_armed = false;
  for (SharedQueue& shared : used.port->queues())
    if (queue == shared.queue.get()) shared.armed = false;
}

/// For all that is known, they are: the end of this poll arms them.
void RdmaTransport::State::disarm_all() noexcept {
  armed = false;
  for (PortInUse& used : ports) {
    if (used.port == nullptr) continue;
    used.greeter_armed = false;
    for (SharedQueue& shared : used.port->queues()) shared.armed = false;
  }
}

// One event of a port in a turn: one that is left in the channel wakes again at once, while asking
// until there is none costs a system call each time.
bool RdmaTransport::State::take_channel_events() noexcept {
  bool any = false;
  for (PortInUse& used : ports) {
    if (used.port == nullptr) continue;
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    ++statistics.notifications;
    if (api->get_cq_event(used.port->channel(), &queue, &context) != 0) continue;
    api->ack_cq_events(queue, 1);
    disarm(used, queue);
    any = true;
  }
  return any;
}

}  // namespace rehearsal::rdma
