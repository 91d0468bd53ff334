#include "core/fault/lease_book.hpp"

#include <gtest/gtest.h>

namespace rehearsal::fault {
namespace {

using std::chrono::seconds;

constexpr OwnerId kAgent{1};
constexpr Instant kStart{seconds{1000}};

OpenFault fault_on(std::uint64_t id, const std::string& interface) {
  OpenFault fault;
  fault.intent.id = id;
  fault.intent.fault = {interface, Direction::sent, Blackhole{}};
  fault.state = FaultState::applied;
  fault.owner = kAgent;
  fault.lease_until = kStart + seconds{5};
  fault.deadline = kStart + seconds{60};
  return fault;
}

TEST(LeaseBook, NothingIsDueInAnEmptyBook) {
  LeaseBook book;
  EXPECT_EQ(book.next_due(), kNever);
  EXPECT_TRUE(book.due(kStart).empty());
}

TEST(LeaseBook, TheFirstOfLeaseAndDeadlineCounts) {
  LeaseBook book;
  book.add(fault_on(1, "eth1"));
  book.add(fault_on(2, "eth2")).deadline = kStart + seconds{3};
  EXPECT_EQ(book.next_due(), kStart + seconds{3});
  ASSERT_EQ(book.due(kStart + seconds{3}).size(), 1U);
  EXPECT_EQ(book.due(kStart + seconds{3})[0].reason, UndoReason::deadline);
  book.remove(2);
  EXPECT_EQ(book.due(kStart + seconds{5}).at(0).reason, UndoReason::lease_ran_out);
}

TEST(LeaseBook, ALeaseIsRenewedByItsOwnerForNoLongerThanTheMost) {
  LeaseBook book;
  book.add(fault_on(1, "eth1"));
  book.add(fault_on(2, "eth2"));
  EXPECT_EQ(book.renew(OwnerId{2}, {}, seconds{10}, kStart), 0U);
  EXPECT_EQ(book.renew(kAgent, 2, std::chrono::hours{1}, kStart + seconds{4}), 1U);
  EXPECT_EQ(book.find(2)->lease_until, kStart + seconds{4} + kLeaseMost);
  EXPECT_EQ(book.find(1)->lease_until, kStart + seconds{5});
}

TEST(LeaseBook, AStuckFaultIsTriedAgainAndItsLeaseMeansNothing) {
  LeaseBook book;
  OpenFault& fault = book.add(fault_on(1, "eth1"));
  fault.state = FaultState::stuck;
  fault.retry_at = kStart + seconds{9};
  EXPECT_EQ(book.renew(kAgent, {}, seconds{10}, kStart), 0U);
  EXPECT_TRUE(book.ids_of(kAgent).empty());
  EXPECT_EQ(book.next_due(), kStart + seconds{9});
  EXPECT_EQ(book.due(kStart + seconds{9}).at(0).reason, UndoReason::retry);
  book.wait(seconds{3});
  EXPECT_EQ(book.next_due(), kStart + seconds{12});
  fault.state = FaultState::conflict;
  EXPECT_EQ(book.next_due(), kNever);
}

TEST(LeaseBook, HasACapacity) {
  LeaseBook book;
  for (std::uint64_t id = 1; id <= kFaultsMax; ++id) {
    const std::string interface = "e" + std::to_string(id);
    ASSERT_TRUE(book.may_add(fault_on(id, interface).intent.fault));
    book.add(fault_on(id, interface));
  }
  EXPECT_FALSE(book.may_add({"another", Direction::sent, Blackhole{}}));
}

}  // namespace
}  // namespace rehearsal::fault
