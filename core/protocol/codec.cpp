#include "core/protocol/codec.hpp"

#include "core/base/check.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::protocol {

std::string encode(const Envelope& envelope) {
  CHECK(envelope.message_case() != Envelope::MESSAGE_NOT_SET, "an envelope carries a message");
  std::string payload;
  CHECK(envelope.SerializeToString(&payload), "strings of an envelope are UTF-8");
  CHECK(payload.size() <= kFrameBytesMax, "bulk is sent in parts");
  return payload;
}

Result<Envelope> decode(std::string_view payload) {
  if (payload.size() > kFrameBytesMax) {
    return fail(ErrorCode::too_large, ErrorSource::control,
                "a message of " + std::to_string(payload.size()) + " bytes; the cap is " +
                    std::to_string(kFrameBytesMax));
  }
  Envelope envelope;
  if (!envelope.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return fail(ErrorCode::protocol, ErrorSource::control,
                "a frame of " + std::to_string(payload.size()) + " bytes is no message of ours");
  }
  if (envelope.message_case() == Envelope::MESSAGE_NOT_SET) {
    return fail(ErrorCode::protocol, ErrorSource::control,
                "an empty message, or one that this version does not know");
  }
  return envelope;
}

std::string_view message_name(Envelope::MessageCase message) {
  switch (message) {
    case Envelope::kHello:
      return "hello";
    case Envelope::kWelcome:
      return "welcome";
    case Envelope::kRefused:
      return "refused";
    case Envelope::kHeartbeat:
      return "heartbeat";
    case Envelope::kClockProbe:
      return "clock_probe";
    case Envelope::kClockReply:
      return "clock_reply";
    case Envelope::kReserve:
      return "reserve";
    case Envelope::kPrepare:
      return "prepare";
    case Envelope::kConnect:
      return "connect";
    case Envelope::kStartAt:
      return "start_at";
    case Envelope::kFinish:
      return "finish";
    case Envelope::kStop:
      return "stop";
    case Envelope::kRelease:
      return "release";
    case Envelope::kFaultsOrder:
      return "faults_order";
    case Envelope::kReachOrder:
      return "reach_order";
    case Envelope::kReachReport:
      return "reach_report";
    case Envelope::kReachRequest:
      return "reach_request";
    case Envelope::kReachReply:
      return "reach_reply";
    case Envelope::kReserved:
      return "reserved";
    case Envelope::kPrepared:
      return "prepared";
    case Envelope::kConnected:
      return "connected";
    case Envelope::kStepDone:
      return "step_done";
    case Envelope::kProgress:
      return "progress";
    case Envelope::kResults:
      return "results";
    case Envelope::kFailed:
      return "failed";
    case Envelope::kStopped:
      return "stopped";
    case Envelope::kReleased:
      return "released";
    case Envelope::kHostFaults:
      return "host_faults";
    case Envelope::kProfilePart:
      return "profile_part";
    case Envelope::kPlanRequest:
      return "plan_request";
    case Envelope::kRunRequest:
      return "run_request";
    case Envelope::kStatusRequest:
      return "status_request";
    case Envelope::kStopRequest:
      return "stop_request";
    case Envelope::kFaultsRequest:
      return "faults_request";
    case Envelope::kProfileStored:
      return "profile_stored";
    case Envelope::kPlanReply:
      return "plan_reply";
    case Envelope::kRunStarted:
      return "run_started";
    case Envelope::kRunProgress:
      return "run_progress";
    case Envelope::kRunFinished:
      return "run_finished";
    case Envelope::kFilePart:
      return "file_part";
    case Envelope::kStatusReply:
      return "status_reply";
    case Envelope::kStopReply:
      return "stop_reply";
    case Envelope::kFailure:
      return "failure";
    case Envelope::kFaultsReply:
      return "faults_reply";
    case Envelope::MESSAGE_NOT_SET:
      break;
  }
  return "nothing";
}

}  // namespace rehearsal::protocol
