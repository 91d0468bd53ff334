#include "core/fault/fault.hpp"

#include <gtest/gtest.h>

namespace rehearsal::fault {
namespace {

TEST(Fault, OfAKindWithoutLevelsHasNoneInItsDescription) {
  for (const Kind kind : {Kind::blackhole, Kind::pause, Kind::crash, Kind::link_down})
    EXPECT_EQ(describe(What{.kind = kind, .levels = {Level{}}}), to_string(kind));
}

TEST(Fault, OfPauseFramesIsOnOrOff) {
  const What what{.kind = Kind::flow_control,
                  .levels = {Level{.pause_frames = true}, Level{.pause_frames = false}}};
  EXPECT_EQ(describe(what), "flow_control on, off");
}

}  // namespace
}  // namespace rehearsal::fault
