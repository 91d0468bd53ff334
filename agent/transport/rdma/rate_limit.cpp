// Rates of queue pairs, as the device limits them: those of the drill's settings from the first
// message on, and those of faults while they are on.
#include <algorithm>

#include "agent/transport/rdma/state.hpp"
#include "core/base/check.hpp"

namespace rehearsal::rdma {

int RdmaTransport::State::set_rate(Pair& pair, BitRate rate) noexcept {
  ibv_qp_rate_limit_attr limit{};
  limit.rate_limit =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(rate.bits_per_second() / 1000, ~0U));
  return api->modify_qp_rate_limit(pair.pair.get(), &limit);
}

Result<void> RdmaTransport::State::set_planned_rate(Connection& connection, Pair& pair) {
  const BitRate wanted = options.settings.rate_limit;
  if (wanted == BitRate{}) return {};
  connection.rate_limit = wanted;
  const int error = set_rate(pair, wanted);
  if (error == 0) return {};
  return system_failure(ErrorSource::transport,
                        "[REHEARSAL-RDMA-003] " + ports[connection.port].port->name() +
                            ": the device takes no rate limit of " + format_bit_rate_exact(wanted) +
                            "; right would be a drill without rate_limit",
                        error);
}

Result<void> RdmaTransport::limit_rate(ConnectionIndex connection, BitRate of_queue_pair) {
  CHECK(connection.value < state_->connections.size(), "a limit of a connection that is open");
  return state_->limit_rate(state_->connections[connection.value], of_queue_pair);
}

Result<void> RdmaTransport::State::limit_rate(Connection& connection, BitRate wanted) {
  CHECK(connection.outgoing, "a limit of the sending end");
  if (connection.phase != Phase::ready) return {};  // nothing leaves by it
  const BitRate before = connection.rate_limit;
  const BitRate rate = wanted == BitRate{} ? options.settings.rate_limit : wanted;
  for (std::size_t i = 0; i < connection.pairs.size(); ++i) {
    const int error = set_rate(connection.pairs[i], rate);
    if (error == 0) continue;
    take_completions();  // what went into error a moment ago ends the run with its own reason
    if (connection.phase != Phase::ready) return {};
    // One that refuses to go back shows when the whole is lifted.
    for (std::size_t changed = 0; changed < i; ++changed)
      static_cast<void>(set_rate(connection.pairs[changed], before));
    return system_failure(
        ErrorSource::transport,
        "[REHEARSAL-RDMA-028] " + ends_of(connection, i) + ": the device does not " +
            (rate == BitRate{} ? "lift the rate limit"
                               : "limit the rate to " + format_bit_rate_exact(rate)),
        error);
  }
  connection.rate_limit = rate;
  return {};
}

}  // namespace rehearsal::rdma
