// Any bytes are a journal: its whole records can be written again, and it never claims more bytes
// than there are.

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "core/fault/journal.hpp"

using namespace rehearsal::fault;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Journal journal = read_journal(bytes);
  CHECK(journal.whole_bytes <= bytes.size(), "no more than there is");
  std::string again(journal_header());
  for (const JournalRecord& record : journal.records) again += encode_record(record);
  const Journal twice = read_journal(again);
  CHECK(twice.end == JournalEnd::whole, "what was read can be written");
  CHECK(twice.records == journal.records, "the same records");
  return 0;
}
