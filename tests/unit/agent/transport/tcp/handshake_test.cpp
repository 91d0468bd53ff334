#include "agent/transport/tcp/handshake.hpp"

#include <gmock/gmock.h>

namespace rehearsal::tcp {
namespace {

plan::ConnectionKey a_key() {
  return {.job = JobIndex{1},
          .communicator = CommunicatorIndex{2},
          .source = Rank{300},
          .destination = Rank{70000},
          .channel = 5,
          .use = plan::ConnectionUse::point_to_point};
}

TEST(HandshakeTest, AHelloCarriesTheKeyAndAProof) {
  const Proofs proofs = make_proofs("secret", a_key());
  const auto parts = decode_hello(encode_hello(a_key(), proofs.hello));
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->key, a_key());
  EXPECT_TRUE(same_proof(parts->proof, proofs.hello));
}

TEST(HandshakeTest, AProofDependsOnTokenKeyAndDirection) {
  const Proofs proofs = make_proofs("secret", a_key());
  auto other_key = a_key();
  other_key.channel = 6;
  EXPECT_FALSE(same_proof(proofs.hello, proofs.answer));
  EXPECT_FALSE(same_proof(proofs.hello, make_proofs("Secret", a_key()).hello));
  EXPECT_FALSE(same_proof(proofs.hello, make_proofs("secret", other_key).hello));
}

TEST(HandshakeTest, TheTokenIsNotInTheHello) {
  const Hello hello = encode_hello(a_key(), make_proofs("secret", a_key()).hello);
  EXPECT_EQ(std::string_view(hello.data(), hello.size()).find("secret"), std::string_view::npos);
}

TEST(HandshakeTest, JunkIsNoHello) {
  Hello hello = encode_hello(a_key(), make_proofs("secret", a_key()).hello);
  hello[0] = 'G';
  EXPECT_FALSE(decode_hello(hello).has_value());
  Hello unknown_use = encode_hello(a_key(), make_proofs("secret", a_key()).hello);
  unknown_use[kMagicSize + 18] = 9;
  EXPECT_FALSE(decode_hello(unknown_use).has_value());
}

TEST(AddressTest, IsReadBack) {
  const auto parts =
      decode_address(encode_address({.ip = "10.79.1.3", .port = 41234, .key = a_key()}));
  ASSERT_TRUE(parts.has_value()) << parts.error().text();
  EXPECT_EQ(parts->ip, "10.79.1.3");
  EXPECT_EQ(parts->port, 41234);
  EXPECT_EQ(parts->key, a_key());
}

TEST(AddressTest, EveryCutIsAnError) {
  const auto address = encode_address({.ip = "10.79.1.3", .port = 41234, .key = a_key()});
  for (std::size_t size = 0; size < address.size(); ++size)
    EXPECT_FALSE(decode_address(address.substr(0, size)).has_value()) << size;
  EXPECT_FALSE(decode_address(address + "x").has_value());
}

}  // namespace
}  // namespace rehearsal::tcp
