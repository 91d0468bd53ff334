#include "agent/transport/rdma/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/base/encoding.hpp"
#include "core/base/text.hpp"

namespace rehearsal::rdma {
namespace {

constexpr std::uint64_t kVersion = 0x72646d6102;  // "rdma", 2
constexpr std::uint64_t k24Bits = (1U << 24) - 1;
constexpr std::uint64_t k32Bits = 0xffffffff;
constexpr std::size_t kQueuePairsMax = 64;
constexpr GidBytes kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};

bool is_mapped(const GidBytes& gid) {
  return std::equal(gid.begin(), gid.begin() + 12, kMappedPrefix.begin());
}

Failure wrong(std::string_view what) {
  return fail(ErrorCode::protocol, ErrorSource::transport, "an RDMA address " + std::string(what));
}

template <typename Number>
Result<void> take(Decoder& decoder, Number& target, std::uint64_t most, std::string_view what) {
  ASSIGN_OR_RETURN(const std::uint64_t value, decoder.number_up_to(most, what));
  target = static_cast<Number>(value);
  return {};
}

}  // namespace

std::string encode(const PeerAddress& address) {
  Encoder encoder;
  encoder.number(kVersion);
  encoder.text({reinterpret_cast<const char*>(address.gid.data()), address.gid.size()});
  encoder.number(address.lid);
  encoder.number(address.ethernet ? 1 : 0);
  encoder.number(address.path_mtu);
  encoder.number(address.connection);
  encoder.number(address.greeter);
  encoder.number(address.greeter_key);
  encoder.number(address.packet_sequence);
  encoder.number(address.queue_pairs.size());
  for (const std::uint32_t number : address.queue_pairs) encoder.number(number);
  encoder.number(address.memory);
  encoder.number(address.stride);
  encoder.number(address.remote_key);
  encoder.number(address.slots);
  encoder.number(address.ece ? 1 : 0);
  if (!address.ece) return encoder.take();
  encoder.number(address.ece->vendor);
  encoder.number(address.ece->options);
  encoder.number(address.ece->mask);
  return encoder.take();
}

Result<PeerAddress> decode_address(std::string_view bytes) {
  Decoder decoder(bytes);
  PeerAddress address;
  const auto version = decoder.number();
  if (!version || *version != kVersion) return wrong("is of another kind or version");
  ASSIGN_OR_RETURN(const std::string gid, decoder.text(address.gid.size()));
  if (gid.size() != address.gid.size()) return wrong("has a GID of another length");
  std::memcpy(address.gid.data(), gid.data(), gid.size());
  RETURN_IF_ERROR(take(decoder, address.lid, 0xffff, "the LID"));
  RETURN_IF_ERROR(take(decoder, address.ethernet, 1, "the link layer"));
  RETURN_IF_ERROR(take(decoder, address.path_mtu, 4096, "the path MTU"));
  RETURN_IF_ERROR(take(decoder, address.connection, k32Bits, "the connection"));
  RETURN_IF_ERROR(take(decoder, address.greeter, k24Bits, "the greeter"));
  RETURN_IF_ERROR(take(decoder, address.greeter_key, k32Bits, "the greeter's key"));
  RETURN_IF_ERROR(take(decoder, address.packet_sequence, k24Bits, "the packet sequence"));
  ASSIGN_OR_RETURN(const std::size_t count, decoder.count(1, "queue pairs"));
  if (count == 0 || count > kQueuePairsMax) return wrong("has too few or too many queue pairs");
  for (std::size_t i = 0; i < count; ++i)
    RETURN_IF_ERROR(take(decoder, address.queue_pairs.emplace_back(), k24Bits, "a queue pair"));
  ASSIGN_OR_RETURN(address.memory, decoder.number());
  ASSIGN_OR_RETURN(address.stride, decoder.number());
  RETURN_IF_ERROR(take(decoder, address.remote_key, k32Bits, "the remote key"));
  RETURN_IF_ERROR(take(decoder, address.slots, k32Bits, "the slots"));
  bool has_ece = false;
  RETURN_IF_ERROR(take(decoder, has_ece, 1, "whether there is ECE"));
  if (has_ece) {
    Ece& ece = address.ece.emplace();
    RETURN_IF_ERROR(take(decoder, ece.vendor, k32Bits, "the vendor of ECE"));
    RETURN_IF_ERROR(take(decoder, ece.options, k32Bits, "the options of ECE"));
    RETURN_IF_ERROR(take(decoder, ece.mask, k32Bits, "the mask of ECE"));
  }
  if (decoder.remaining() != 0) return wrong("has bytes left over");
  return address;
}

std::string ece_text(const Ece& ece) {
  char text[64] = "";
  std::snprintf(text, sizeof text, "0x%x (vendor 0x%x)", ece.options, ece.vendor);
  return text;
}

std::string gid_text(const GidBytes& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_mapped(gid))
    ::inet_ntop(AF_INET, gid.data() + 12, text, sizeof text);
  else
    ::inet_ntop(AF_INET6, gid.data(), text, sizeof text);
  return text;
}

Result<GidBytes> parse_gid(std::string_view text) {
  const std::string terminated(text);
  GidBytes gid = kMappedPrefix;
  if (::inet_pton(AF_INET, terminated.c_str(), gid.data() + 12) == 1) return gid;
  if (::inet_pton(AF_INET6, terminated.c_str(), gid.data()) == 1) return gid;
  return fail(ErrorCode::invalid_input, ErrorSource::transport, in_quotes(text) + " is no GID");
}

}  // namespace rehearsal::rdma
