#include "core/profile/op.hpp"

#include <gtest/gtest.h>

namespace rehearsal::profile {
namespace {

TEST(Op, EveryKindHasItsWord) {
  for (int i = 0; i <= static_cast<int>(OpKind::barrier); ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(op_kind(to_string(kind)), kind) << to_string(kind);
  }
  EXPECT_EQ(to_string(OpKind::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(op_kind("allreduce"), std::nullopt);
  EXPECT_EQ(to_string(static_cast<OpKind>(99)), "unknown");
}

}  // namespace
}  // namespace rehearsal::profile
