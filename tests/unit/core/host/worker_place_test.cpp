#include "core/host/worker_place.hpp"

#include <gmock/gmock.h>

namespace rehearsal::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Cores kAll = {0, 1, 2, 3, 4, 5, 6, 7};
const NicPlace kNear0{.nic = "eth0", .numa_node = 0, .near = {0, 1, 2, 3}};
const NicPlace kNear1{.nic = "eth1", .numa_node = 1, .near = {4, 5, 6, 7}};

WorkerPlace place(const std::vector<NicPlace>& nics, const Cores& allowed, bool polls,
                  const Cores& isolated = {}, const CoreWish& wish = {}) {
  return choose_worker_place(wish, nics, allowed, isolated, polls).value();
}

TEST(WorkerPlaceTest, WhoPollsGetsTheHighestCoreNearTheNicWhoSleepsAllOfThem) {
  EXPECT_THAT(place({kNear1}, kAll, true).cores, ElementsAre(7));
  EXPECT_THAT(place({kNear1}, kAll, false).cores, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(place({kNear1}, kAll, true).why, "near eth1, NUMA node 1");
}

TEST(WorkerPlaceTest, StaysWithinWhatTheProcessMayUse) {
  EXPECT_THAT(place({kNear1}, {0, 1, 5, 6}, true).cores, ElementsAre(6));
  const WorkerPlace none = place({kNear1}, {0, 1}, true);
  EXPECT_THAT(none.cores, IsEmpty());
  EXPECT_TRUE(none.hindered);
  EXPECT_EQ(none.why, "this process may use none of the cores 4-7 that are near eth1, NUMA node 1");
}

TEST(WorkerPlaceTest, IsolatedCoresGoFirst) {
  EXPECT_THAT(place({kNear1}, kAll, true, {1, 4, 5}).cores, ElementsAre(5));
  EXPECT_THAT(place({kNear1}, kAll, true, {1, 2}).cores, ElementsAre(7)) << "those are far";
}

TEST(WorkerPlaceTest, MostNicsDecideAndTheFirstWhereTheyAreAsMany) {
  EXPECT_THAT(place({kNear0, kNear1, kNear1}, kAll, true).cores, ElementsAre(7));
  EXPECT_THAT(place({kNear0, kNear1}, kAll, true).cores, ElementsAre(3));
}

TEST(WorkerPlaceTest, AgentsOfOneHostWithANicEachTakeCoresOfTheirOwn) {
  NicPlace second = kNear1;
  second.before = 1;
  NicPlace sixth = kNear1;
  sixth.before = 5;
  EXPECT_THAT(place({second}, kAll, true).cores, ElementsAre(6));
  EXPECT_THAT(place({sixth}, kAll, true).cores, ElementsAre(6)) << "more of them than cores";
}

TEST(WorkerPlaceTest, WhereNothingIsKnownItStaysUnbound) {
  const WorkerPlace nowhere = place({{.nic = "veth0"}}, kAll, true);
  EXPECT_THAT(nowhere.cores, IsEmpty());
  EXPECT_FALSE(nowhere.hindered);
  EXPECT_EQ(nowhere.why, "no data NIC says which cores are near it");
}

TEST(WorkerPlaceTest, WishesGoFirst) {
  EXPECT_THAT(place({kNear1}, kAll, true, {}, parse_core_wish("none").value()).cores, IsEmpty());
  EXPECT_THAT(place({kNear1}, kAll, true, {}, parse_core_wish("0-1").value()).cores,
              ElementsAre(0, 1));
  EXPECT_EQ(parse_core_wish("auto").value(), CoreWish{});
  const auto refused = choose_worker_place(parse_core_wish("8").value(), {kNear1}, kAll, {}, true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("worker_cores: this process may use cores 0-7, not 8"));
  for (const char* text : {"", "automatic", "none,1", "-1"})
    EXPECT_FALSE(parse_core_wish(text)) << text;
}

}  // namespace
}  // namespace rehearsal::host
