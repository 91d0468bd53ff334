#include "core/fault/journal.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"

namespace rehearsal::fault {
namespace {

Intent sample(std::uint64_t id) {
  return {.id = id,
          .fault = {"eth1", Direction::sent,
                    Impairment{.delay = std::chrono::milliseconds{20}, .loss = Share{1000}}},
          .before = {.index = 4,
                     .name = "eth1",
                     .is_up = true,
                     .mtu_bytes = 9000,
                     .qdiscs = {{"fq_codel", 0, 0xFFFF'FFFF, "options", {}}}},
          .change = {4, "eth1", SetRoot{handle_of(id), DropAll{}}, RemoveRoot{handle_of(id)}},
          .boot_id = "a boot",
          .deadline = Instant{std::chrono::seconds{77}},
          .wall_ns = 1};
}

std::string file_of(const std::vector<JournalRecord>& records) {
  std::string bytes(journal_header());
  for (const JournalRecord& record : records) bytes += encode_record(record);
  return bytes;
}

const std::vector<JournalRecord> kRecords = {sample(1), AppliedRecord{1, "left"}, sample(2),
                                             ClosedRecord{1, Closing::undone}};

TEST(Journal, IsReadAsItWasWritten) {
  const std::string bytes = file_of(kRecords);
  const Journal journal = read_journal(bytes);
  EXPECT_EQ(journal.records, kRecords);
  EXPECT_EQ(journal.end, JournalEnd::whole);
  EXPECT_EQ(journal.whole_bytes, bytes.size());
  EXPECT_EQ(read_journal("").end, JournalEnd::whole);
}

TEST(Journal, CutAnywhereItIsTornAndTheRecordsBeforeAreWhole) {
  const std::string bytes = file_of(kRecords);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const Journal journal = read_journal(std::string_view(bytes).substr(0, size));
    const bool is_edge = size == journal.whole_bytes;
    EXPECT_EQ(journal.end, is_edge ? JournalEnd::whole : JournalEnd::torn) << size;
    ASSERT_LE(journal.records.size(), kRecords.size());
    EXPECT_TRUE(std::equal(journal.records.begin(), journal.records.end(), kRecords.begin()));
  }
}

TEST(Journal, AHoleAtTheEndIsTorn) {
  std::string bytes = file_of(kRecords);
  const std::size_t whole = bytes.size();
  bytes += std::string(300, '\0');  // made longer, never written
  EXPECT_EQ(read_journal(bytes).end, JournalEnd::torn);
  EXPECT_EQ(read_journal(bytes).whole_bytes, whole);
}

TEST(Journal, AWrongByteBeforeTheEndIsDamageNeverTakenForATornEnd) {
  const std::string bytes = file_of(kRecords);
  const std::size_t last = encode_record(kRecords.back()).size();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string wrong = bytes;
    wrong[at] ^= 0x10;
    const Journal journal = read_journal(wrong);
    EXPECT_LT(journal.records.size(), kRecords.size()) << at;
    EXPECT_NE(journal.end, JournalEnd::whole) << at;
    if (at < bytes.size() - last) {
      EXPECT_EQ(journal.end, JournalEnd::damaged) << at;
      EXPECT_FALSE(journal.problem.empty());
    }
  }
}

}  // namespace
}  // namespace rehearsal::fault
