#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace rehearsal::rdma {

/// The provider's own options of a queue pair, as enhanced connection establishment carries them
/// (ibv_ece); what they mean is the provider's affair.
struct Ece {
  std::uint32_t vendor = 0;  ///< IEEE OUI
  std::uint32_t options = 0;
  std::uint32_t mask = 0;

  bool operator==(const Ece&) const = default;
};
/// "0x30000002 (vendor 0x15b3)".
std::string ece_text(const Ece& ece);

using GidBytes = std::array<std::uint8_t, 16>;

/// What one end of a connection must know of the other; travels as an opaque replay::Address.
struct PeerAddress {
  GidBytes gid{};
  std::uint16_t lid = 0;  ///< InfiniBand
  bool ethernet = true;
  std::uint32_t path_mtu = 0;     ///< bytes: what this end's port and settings allow
  std::uint32_t connection = 0;   ///< this end's index of the connection
  std::uint32_t greeter = 0;      ///< number of the queue pair (UD) that hears greetings
  std::uint32_t greeter_key = 0;  ///< … and its Q_Key
  std::uint32_t packet_sequence = 0;
  std::vector<std::uint32_t> queue_pairs = {};  ///< numbers

  /// Receiving end: its slots. Sending end: where clear-to-sends are written.
  std::uint64_t memory = 0;
  std::uint64_t stride = 0;  ///< from slot to slot; 0: they share one place
  std::uint32_t remote_key = 0;
  std::uint32_t slots = 0;

  std::optional<Ece> ece = {};  ///< what this end's queue pairs offer; nothing: they have none

  bool operator==(const PeerAddress&) const = default;
};

std::string encode(const PeerAddress& address);
/// Reads what encode() wrote; what another version or transport wrote is an error (`protocol`).
Result<PeerAddress> decode_address(std::string_view bytes);

/// "10.0.0.1" for an IPv4-mapped GID, else as an IPv6 address is written.
std::string gid_text(const GidBytes& gid);
/// Reads the text of the kernel's gids files ("0000:…:ffff:0a00:0001") and of gid_text().
Result<GidBytes> parse_gid(std::string_view text);

}  // namespace rehearsal::rdma
