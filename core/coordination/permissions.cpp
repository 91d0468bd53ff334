#include "core/coordination/permissions.hpp"

namespace rehearsal::coordination {

bool may_send(Peer peer, protocol::Envelope::MessageCase message) {
  using protocol::Envelope;
  switch (message) {
    case Envelope::kHello:
      return peer == Peer::unknown;
    case Envelope::kHeartbeat:
      return peer != Peer::unknown;

    case Envelope::kClockProbe:
    case Envelope::kReserved:
    case Envelope::kPrepared:
    case Envelope::kConnected:
    case Envelope::kStepDone:
    case Envelope::kProgress:
    case Envelope::kResults:
    case Envelope::kFailed:
    case Envelope::kStopped:
    case Envelope::kReleased:
    case Envelope::kHostFaults:
    case Envelope::kReachReport:
      return peer == Peer::agent;

    case Envelope::kProfilePart:
    case Envelope::kPlanRequest:
    case Envelope::kRunRequest:
    case Envelope::kStatusRequest:
    case Envelope::kStopRequest:
    case Envelope::kFaultsRequest:
    case Envelope::kReachRequest:
      return peer == Peer::person;

    case Envelope::kWelcome:
    case Envelope::kRefused:
    case Envelope::kClockReply:
    case Envelope::kReserve:
    case Envelope::kPrepare:
    case Envelope::kConnect:
    case Envelope::kStartAt:
    case Envelope::kFinish:
    case Envelope::kStop:
    case Envelope::kRelease:
    case Envelope::kFaultsOrder:
    case Envelope::kProfileStored:
    case Envelope::kPlanReply:
    case Envelope::kRunStarted:
    case Envelope::kRunProgress:
    case Envelope::kRunFinished:
    case Envelope::kFilePart:
    case Envelope::kStatusReply:
    case Envelope::kStopReply:
    case Envelope::kFailure:
    case Envelope::kFaultsReply:
    case Envelope::kReachOrder:
    case Envelope::kReachReply:
    case Envelope::MESSAGE_NOT_SET:
      return false;
  }
  return false;
}

}  // namespace rehearsal::coordination
