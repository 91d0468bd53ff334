#include "core/fault/ports.hpp"

namespace rehearsal::fault {

std::string_view to_string(Step step) {
  static constexpr std::array<std::string_view, kSteps.size()> kWords = {
      "before_write",  "in_write",  "after_write",  "before_apply", "after_apply",
      "before_record", "in_record", "after_record", "before_undo",  "after_undo",
      "before_close",  "in_close",  "after_close"};
  return kWords[static_cast<std::size_t>(step)];
}

Step half_way(const JournalRecord& record) {
  if (std::holds_alternative<Intent>(record)) return Step::in_write;
  return std::holds_alternative<AppliedRecord>(record) ? Step::in_record : Step::in_close;
}

}  // namespace rehearsal::fault
