#include "core/profile/traffic.hpp"

#include <algorithm>

namespace rehearsal::profile {
namespace {

/// n ranks that send the same, `total` together.
Traffic even(Bytes total, std::uint32_t n) {
  return {total, total / n, Bytes{(total.count() + n - 1) / n}};
}

Traffic of_matrix(const PeerBytes& matrix) {
  Traffic traffic;
  for (std::uint32_t i = 0; i < matrix.size; ++i) {
    const Bytes sent = matrix.sent_by(i) - matrix.from_to(i, i);
    traffic.total += sent;
    traffic.rank_least = i == 0 ? sent : std::min(traffic.rank_least, sent);
    traffic.rank_most = std::max(traffic.rank_most, sent);
  }
  return traffic;
}

}  // namespace

Traffic traffic_of(const Profile& profile, const Op& op) {
  const std::uint32_t n = profile.communicators[op.communicator.value].size();
  const Bytes size = op.bytes;
  switch (op.kind) {
    case OpKind::all_reduce:
      return even(size * (2 * (n - 1)), n);
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
      return even(size * (n - 1), n);
    case OpKind::all_to_all:
      return op.peer_bytes ? of_matrix(profile.peer_bytes[*op.peer_bytes])
                           : even(size * (n - 1), n);
    case OpKind::broadcast:
    case OpKind::reduce:
      return {size * (n - 1), Bytes{0}, n > 1 ? size : Bytes{0}};
    case OpKind::gather:
      return {size - size / n, Bytes{0}, n > 1 ? Bytes{(size.count() + n - 1) / n} : Bytes{0}};
    case OpKind::scatter:
      return {size - size / n, Bytes{0}, size - size / n};
    case OpKind::send:
      return {size, size, size};
    case OpKind::recv:
    case OpKind::barrier:
    case OpKind::compute:
      break;
  }
  return {};
}

}  // namespace rehearsal::profile
