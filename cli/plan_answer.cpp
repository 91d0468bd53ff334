#include "cli/plan_answer.hpp"

#include <algorithm>

#include "cli/operator_session.hpp"
#include "core/base/text.hpp"
#include "core/protocol/parts.hpp"
#include "runtime/clock.hpp"

namespace rehearsal::cli {
namespace {

constexpr Duration kPlanLimit = std::chrono::seconds{60};
constexpr std::uint64_t kPlanBytesMax = std::uint64_t{1} << 30;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kHashDigitsShown = 12;

bool is_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// A large plan.json comes in parts before the reply, a small one in it.
Result<PlanAnswer> take_answer(OperatorSession& session) {
  const Instant deadline = runtime::now() + kPlanLimit;
  protocol::PartAssembler parts{kPlanBytesMax, "plan.json"};
  while (true) {
    ASSIGN_OR_RETURN(const auto message, session.receive(deadline, "a plan"));
    if (!message)
      return fail(ErrorCode::refused, ErrorSource::control, "interrupted while planning");
    if (message->has_file_part()) {
      const protocol::FilePart& file = message->file_part();
      RETURN_IF_ERROR(parts.add({file.size(), file.offset(), file.part()}));
    }
    if (!message->has_plan_reply()) continue;
    const protocol::PlanReply& reply = message->plan_reply();
    return PlanAnswer{parts.complete() ? parts.take() : reply.plan_json(), reply.table(),
                      reply.plan_hash()};
  }
}

}  // namespace

Result<PlanAnswer> ask_for_plan(OperatorSession& session, const DrillFile& drill) {
  protocol::Envelope request;
  request.mutable_plan_request()->set_drill_text(drill.text);
  request.mutable_plan_request()->set_drill_file(drill.name);
  add_nodes(drill, *request.mutable_plan_request());
  RETURN_IF_ERROR(session.send(request));
  return take_answer(session);
}

Result<std::string> parse_plan_hash(std::string_view text) {
  std::string hash{text};
  for (char& c : hash)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const bool is_hash = hash.size() >= kHashDigitsShown && hash.size() <= kHashDigits &&
                       std::all_of(hash.begin(), hash.end(), is_digit);
  if (is_hash) return hash;
  return invalid("--plan-hash " + in_quotes(text) + ": expected the first " +
                 std::to_string(kHashDigitsShown) + " to " + std::to_string(kHashDigits) +
                 " hexadecimal digits of a plan's hash, as rehearse plan prints it");
}

std::string shown_hash(std::string_view hash) {
  return std::string{hash.substr(0, kHashDigitsShown)};
}

}  // namespace rehearsal::cli
