#include "agent/keeper/journal_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

using fault::ClosedRecord;
using fault::JournalEnd;
using fault::JournalRecord;

const JournalRecord kFirst = ClosedRecord{1, fault::Closing::undone};
const JournalRecord kSecond = ClosedRecord{2, fault::Closing::gone};

TEST(JournalFile, KeepsWhatWasAppended) {
  const test::TemporaryFolder folder;
  {
    auto journal = JournalFile::open(folder.path() / "state").value();
    EXPECT_TRUE(journal.read().value().records.empty());
    EXPECT_FALSE(journal.append(kFirst)) << "before restart()";
    ASSERT_TRUE(journal.restart({}));
    ASSERT_TRUE(journal.append(kFirst));
    ASSERT_TRUE(journal.append(kSecond));
    EXPECT_EQ(journal.size_bytes(),
              std::filesystem::file_size(folder.path() / "state" / "journal"));
  }
  const auto again = JournalFile::open(folder.path() / "state").value();
  EXPECT_EQ(again.read().value().records, (std::vector{kFirst, kSecond}));
}

TEST(JournalFile, ATornEndIsGoneAfterRestart) {
  const test::TemporaryFolder folder;
  auto journal = JournalFile::open(folder.path()).value();
  ASSERT_TRUE(journal.restart(std::vector{kFirst}));
  std::ofstream(folder.path() / "journal", std::ios::app) << "half a rec";
  const auto left = journal.read().value();
  EXPECT_EQ(left.end, JournalEnd::torn);
  ASSERT_TRUE(journal.restart(left.records));
  ASSERT_TRUE(journal.append(kSecond));
  EXPECT_EQ(journal.read().value().records, (std::vector{kFirst, kSecond}));
  EXPECT_EQ(journal.read().value().end, JournalEnd::whole);
}

TEST(JournalFile, IsOneHelpersAlone) {
  const test::TemporaryFolder folder;
  const auto journal = JournalFile::open(folder.path()).value();
  const auto second = JournalFile::open(folder.path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::refused);
}

TEST(JournalFile, InTestsARecordIsWrittenInHalves) {
  const test::TemporaryFolder folder;
  auto journal = JournalFile::open(folder.path()).value();
  ASSERT_TRUE(journal.restart({}));
  JournalEnd half = JournalEnd::whole;
  journal.call_half_way([&](fault::Step step) {
    EXPECT_EQ(step, fault::Step::in_close);
    half = journal.read().value().end;
  });
  ASSERT_TRUE(journal.append(kFirst));
  EXPECT_EQ(half, JournalEnd::torn);
  EXPECT_EQ(journal.read().value().records, std::vector{kFirst});
}

}  // namespace
}  // namespace rehearsal::agent
