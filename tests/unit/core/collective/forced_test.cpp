#include "core/collective/forced.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rehearsal::collective {
namespace {

using profile::OpKind;
using Use = Forced::Use;

Forced read(std::string_view name, std::string_view value) {
  Forced forced;
  const auto done = force(forced, name, value);
  EXPECT_TRUE(done) << done.error().text();
  return forced;
}

std::string refusal(std::string_view name, std::string_view value) {
  Forced forced;
  const auto done = force(forced, name, value);
  EXPECT_FALSE(done);
  EXPECT_EQ(forced, Forced{}) << "a refused value changes nothing";
  return done ? "" : done.error().text();
}

// The examples of NCCL's own comment and manual (src/graph/tuning.cc parseList).
TEST(Forced, AlgorithmsAsNcclWritesThem) {
  const Forced plain = read("NCCL_ALGO", "Ring,Tree");
  EXPECT_TRUE(plain.algorithm(OpKind::all_reduce, Algorithm::ring));
  EXPECT_TRUE(plain.algorithm(OpKind::broadcast, Algorithm::tree));
  EXPECT_FALSE(plain.algorithm(OpKind::all_reduce, Algorithm::nvls));

  const Forced mixed =
      read("NCCL_ALGO", "ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring");
  EXPECT_FALSE(mixed.algorithm(OpKind::all_reduce, Algorithm::ring));
  EXPECT_TRUE(mixed.algorithm(OpKind::all_reduce, Algorithm::tree));
  EXPECT_TRUE(mixed.algorithm(OpKind::all_gather, Algorithm::ring));
  EXPECT_TRUE(mixed.algorithm(OpKind::all_gather, Algorithm::collnet_direct));
  EXPECT_FALSE(mixed.algorithm(OpKind::broadcast, Algorithm::collnet_direct));

  const Forced one = read("NCCL_ALGO", "allgather:^NVLS");
  EXPECT_FALSE(one.algorithm(OpKind::all_gather, Algorithm::nvls));
  EXPECT_TRUE(one.algorithm(OpKind::all_gather, Algorithm::ring));
  EXPECT_TRUE(one.algorithm(OpKind::all_reduce, Algorithm::nvls));

  EXPECT_TRUE(read("NCCL_ALGO", "Tree,Ring,,NVLS").algorithm(OpKind::reduce, Algorithm::nvls))
      << "empty elements are passed over";
}

TEST(Forced, ProtocolsAsNcclWritesThem) {
  EXPECT_EQ(Forced{}.protocol(OpKind::all_reduce, Protocol::ll128), Use::if_safe);
  const Forced except = read("NCCL_PROTO", "^LL");
  EXPECT_EQ(except.protocol(OpKind::all_reduce, Protocol::ll), Use::no);
  EXPECT_EQ(except.protocol(OpKind::all_reduce, Protocol::ll128), Use::yes) << "safe or not";
  const Forced mixed = read("NCCL_PROTO", "^LL128;allreduce:LL128");
  EXPECT_EQ(mixed.protocol(OpKind::all_reduce, Protocol::ll128), Use::yes);
  EXPECT_EQ(mixed.protocol(OpKind::all_reduce, Protocol::simple), Use::no);
  EXPECT_EQ(mixed.protocol(OpKind::broadcast, Protocol::ll128), Use::no);
  EXPECT_EQ(mixed.protocol(OpKind::broadcast, Protocol::simple), Use::yes);
}

TEST(Forced, Numbers) {
  EXPECT_EQ(read("NCCL_MIN_NCHANNELS", "4").channels_min, 4U);
  EXPECT_EQ(read("NCCL_MAX_CTAS", "32").channels_max, 32U);
  EXPECT_FALSE(read("NCCL_NVLS_ENABLE", "0").nvls);
  EXPECT_TRUE(read("NCCL_NVLS_ENABLE", "2").nvls);
  EXPECT_EQ(read("NCCL_PAT_ENABLE", "1").pat, true);
  EXPECT_EQ(read("NCCL_PAT_ENABLE", "0").pat, false);
  EXPECT_EQ(read("NCCL_PAT_ENABLE", "2").pat, std::nullopt);
  EXPECT_EQ(read("NCCL_BUFFSIZE", "8388608").buffer, Bytes{8U << 20});
  EXPECT_EQ(read("NCCL_COLLNET_ENABLE", "0"), Forced{});
}

TEST(Forced, WrongValuesSayWhatIsRight) {
  EXPECT_EQ(
      refusal("NCCL_ALGO", "Rings"),
      "NCCL_ALGO: there is no 'Rings'; right is Tree, Ring, CollNetDirect, CollNetChain, NVLS, "
      "NVLSTree, PAT");
  EXPECT_EQ(refusal("NCCL_ALGO", "alltoall:Ring"),
            "NCCL_ALGO: there is no function 'alltoall'; right is Broadcast, Reduce, AllGather, "
            "ReduceScatter, AllReduce");
  EXPECT_EQ(
      refusal("NCCL_PROTO", "LL;Simple"),
      "NCCL_PROTO: entry 'Simple' names no function; right is a function and a colon in every "
      "entry but the first");
  EXPECT_NE(refusal("NCCL_PROTO", ""), "");
  EXPECT_NE(refusal("NCCL_PROTO", "allreduce:"), "");
  EXPECT_NE(refusal("NCCL_ALGO", "^"), "");
  EXPECT_EQ(refusal("NCCL_MAX_NCHANNELS", "65"),
            "NCCL_MAX_NCHANNELS: '65' is no count that fits; right is 1 to 64");
  EXPECT_NE(refusal("NCCL_MIN_NCHANNELS", "0"), "");
  EXPECT_NE(refusal("NCCL_MIN_NCHANNELS", "4 "), "");
  EXPECT_NE(refusal("NCCL_ALGO", std::string(2000, ',')), "");
  EXPECT_NE(refusal("NCCL_COLLNET_ENABLE", "1").find("(SHARP)"), std::string::npos);
  EXPECT_NE(refusal("NCCL_P2P_LEVEL", "1").find("NCCL_ALGO"), std::string::npos);
}

}  // namespace
}  // namespace rehearsal::collective
