#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/collective/choice.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::collective {

/// What the operator takes out of NCCL's hands, as its environment variables do. The default leaves
/// all to the model.
struct Forced {
  /// NCCL's functions and the algorithms among which it chooses.
  static constexpr std::size_t kFunctionCount = 5;
  static constexpr std::size_t kAlgorithmCount = 7;
  static constexpr std::size_t kProtocolCount = 3;

  enum class Use : std::uint8_t {
    no,
    yes,
    if_safe,  ///< LL128 by default: only where its lines arrive whole and in order
  };

  Forced();

  /// May `kind` be done so? The kinds that NCCL has no function for (all_to_all, send, …) may.
  bool algorithm(profile::OpKind kind, Algorithm algorithm) const;
  Use protocol(profile::OpKind kind, Protocol protocol) const;

  /// [function][algorithm], [function][protocol]; functions as in function_index().
  std::array<std::array<bool, kAlgorithmCount>, kFunctionCount> algorithms;
  std::array<std::array<Use, kProtocolCount>, kFunctionCount> protocols;

  std::optional<std::uint32_t> channels_min;  ///< NCCL_MIN_NCHANNELS, NCCL_MIN_CTAS
  std::optional<std::uint32_t> channels_max;  ///< NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS
  bool nvls = true;                           ///< NCCL_NVLS_ENABLE
  /// NCCL_PAT_ENABLE: never, always where it can, or (none) only with one rank a node.
  std::optional<bool> pat;
  std::optional<Bytes> buffer;  ///< NCCL_BUFFSIZE: of a connection with Simple

  bool operator==(const Forced&) const = default;
};

/// Which of NCCL's functions does `kind`: Broadcast, Reduce, AllGather, ReduceScatter, AllReduce
/// (0 … 4; nccl src/init.cc ncclFuncStr); none for the others.
std::optional<std::size_t> function_index(profile::OpKind kind);

/// The names that force() takes.
std::span<const std::string_view> forced_names();

/// Applies one of NCCL's environment variables (forced_names()) as NCCL reads it, on top of what
/// `forced` already holds. Fails (invalid_input) for another name or a value NCCL would not take,
/// and (refused) for CollNet: no plugin reduces in the network here.
///
/// NCCL_ALGO and NCCL_PROTO are lists for all functions or, after a name and a colon, for one:
/// "Ring,Tree", "^LL" (all but LL), "Ring;allreduce:Tree,Ring", "^LL128;allreduce:LL128". Case does
/// not matter. As in NCCL, a list that leaves LL128 in uses it even where that is not known to be
/// safe.
Result<void> force(Forced& forced, std::string_view name, std::string_view value);

}  // namespace rehearsal::collective
