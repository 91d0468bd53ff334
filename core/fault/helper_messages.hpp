#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "core/fault/host_policy.hpp"
#include "core/fault/keeper.hpp"
#include "core/fault/kernel_fault.hpp"
#include "core/fault/lease_book.hpp"

namespace rehearsal::fault {

// What is said on the socket of the helper, and on that of rehearsal-external: one request, one
// reply, each a packet of its own.

/// A packet larger than this is not read.
inline constexpr std::size_t kMessageBytesMax = 64 * 1024;
/// Of the messages; both sides must have the same.
inline constexpr std::uint32_t kHelperVersion = 3;

/// The first request of a connection.
struct HelloRequest {
  std::uint32_t version = kHelperVersion;
  bool operator==(const HelloRequest&) const = default;
};
/// The fault belongs to this connection: it is undone when the connection closes.
struct ApplyRequest {
  FaultRequest request;
  bool operator==(const ApplyRequest&) const = default;
};
/// Extends the leases of this connection's faults, or of one of them.
struct RenewRequest {
  std::optional<std::uint64_t> id;
  Duration lease{};
  bool operator==(const RenewRequest&) const = default;
};
/// Undoes one fault, or all, whoever asked for them.
struct UndoRequest {
  std::optional<std::uint64_t> id;
  bool operator==(const UndoRequest&) const = default;
};
struct ListRequest {
  bool operator==(const ListRequest&) const = default;
};
/// See FaultKeeper::clear(); accept_stuck only from root.
struct ClearRequest {
  bool accept_stuck = false;
  bool operator==(const ClearRequest&) const = default;
};

using HelperRequest =
    std::variant<HelloRequest, ApplyRequest, RenewRequest, UndoRequest, ListRequest, ClearRequest>;

/// What this host allows, so that a plan can say beforehand what will be refused.
struct WelcomeReply {
  std::uint32_t version = kHelperVersion;
  std::vector<FaultKind> faults;
  std::vector<std::string> interfaces;
  Duration duration_max{};
  /// Interfaces that no fault may touch: loopback, control interfaces, those of a default route,
  /// and what these stand on.
  std::vector<std::string> protected_interfaces;
  std::vector<ExternalCommand> commands;  ///< of rehearsal-external; the helper has none
  std::string blocked;                    ///< why nothing new is done now; empty: nothing
  bool operator==(const WelcomeReply&) const = default;
};
/// How long whoever asks waits for an answer: a program that keeps faults answers when the kernel
/// and the disk have, and when commands have ended, of which several may be undone in one answer.
Duration patience_with(const WelcomeReply& welcome);
/// How long whoever connects waits for a welcome: rehearsal-external may be at another's commands,
/// at most one request's.
inline constexpr Duration kGreetingPatience = std::chrono::seconds{5};
inline constexpr Duration kGreetingPatienceExternal = kGreetingPatience + 6 * kCommandLimitMost;

struct AppliedReply {
  std::uint64_t id = 0;
  bool operator==(const AppliedReply&) const = default;
};
struct RenewedReply {
  std::uint64_t count = 0;
  bool operator==(const RenewedReply&) const = default;
};
/// To undo and clear.
struct UndoneReply {
  std::vector<Undone> faults;
  std::string blocked;
  bool operator==(const UndoneReply&) const = default;
};
struct ListedFault {
  std::uint64_t id = 0;
  KernelFault fault;
  FaultState state = FaultState::applied;
  Duration age{};  ///< since it was asked for, by the wall clock
  Duration lease_left{};
  Duration duration_left{};
  std::string problem;
  bool operator==(const ListedFault&) const = default;
};
struct ListReply {
  std::vector<ListedFault> faults;
  std::string blocked;
  bool operator==(const ListReply&) const = default;
};
struct RefusedReply {
  ErrorCode code = ErrorCode::refused;
  std::string text;
  bool operator==(const RefusedReply&) const = default;
};

using HelperReply =
    std::variant<WelcomeReply, AppliedReply, RenewedReply, UndoneReply, ListReply, RefusedReply>;

std::string encode(const HelperRequest& request);
/// Never over kMessageBytesMax: long texts are cut.
std::string encode(const HelperReply& reply);
/// Any bytes: a request within all limits, or an error.
Result<HelperRequest> decode_request(std::string_view bytes);
Result<HelperReply> decode_reply(std::string_view bytes);

/// What is open, as it is told.
std::vector<ListedFault> listed(const FaultKeeper& keeper, Instant now);

}  // namespace rehearsal::fault
