#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/plan/connection.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::tcp {

/// The first bytes on a data connection. The connecting end says which connection of the run it is
/// and proves that it knows the run's token; the accepting end proves the same in its answer. A
/// proof is a SHA-256 over token, key and direction: the token itself never crosses the data
/// network.
inline constexpr std::size_t kMagicSize = 8;
inline constexpr std::size_t kKeySize = 20;
inline constexpr std::size_t kProofSize = 64;
inline constexpr std::size_t kHelloSize = kMagicSize + kKeySize + kProofSize;
inline constexpr std::size_t kAnswerSize = kMagicSize + kProofSize;

using Proof = std::array<char, kProofSize>;
using Hello = std::array<char, kHelloSize>;
using Answer = std::array<char, kAnswerSize>;

/// What both ends must say of one connection, computed when it is set up.
struct Proofs {
  Proof hello;
  Proof answer;
};
Proofs make_proofs(std::string_view token, const plan::ConnectionKey& key);

Hello encode_hello(const plan::ConnectionKey& key, const Proof& proof) noexcept;
Answer encode_answer(const Proof& proof) noexcept;

struct HelloParts {
  plan::ConnectionKey key;
  Proof proof;
};
/// Nothing if it is not a hello of this protocol.
std::optional<HelloParts> decode_hello(const Hello& bytes) noexcept;
std::optional<Proof> decode_answer(const Answer& bytes) noexcept;

/// Compares in a time that does not depend on where the first difference stands.
bool same_proof(const Proof& left, const Proof& right) noexcept;

/// Where a receiving end listens, as the control channel carries it to the sending end.
struct AddressParts {
  std::string ip;
  std::uint16_t port = 0;
  plan::ConnectionKey key;
};
replay::Address encode_address(const AddressParts& parts);
Result<AddressParts> decode_address(const replay::Address& address);

}  // namespace rehearsal::tcp
