#include "cli/status_answer.hpp"

#include <utility>

#include "cli/operator_session.hpp"

namespace rehearsal::cli {
namespace {

constexpr Duration kStatusLimit = std::chrono::seconds{5};

}  // namespace

Result<protocol::StatusReply> ask_for_status(const std::string& coordinator) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  protocol::Envelope request;
  request.mutable_status_request();
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(protocol::Envelope answer,
                   session.expect(protocol::Envelope::kStatusReply, kStatusLimit, "its status"));
  return std::move(*answer.mutable_status_reply());
}

}  // namespace rehearsal::cli
