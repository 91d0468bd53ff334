#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/base/result.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/system.hpp"
#include "core/collective/tuning.hpp"
#include "core/fabric/node.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// What tells the choices of a job apart; a send and its recv are of one kind.
using OpKey = std::tuple<CommunicatorIndex, profile::OpKind, Bytes, std::optional<std::uint32_t>>;
OpKey op_key(const profile::Op& op);
OpKey op_key(const OpChoice& choice);

/// all_to_all, gather, scatter, send, recv: what passes between two ranks directly, for which there
/// is no algorithm to pick.
bool goes_by_pairs(profile::OpKind kind);

/// Picks how ops are done on nodes of one description: by NCCL's model (collective/tuning.hpp) and
/// what the drill forces. `node` and `forced` outlive it.
class ChoiceMaker {
 public:
  ChoiceMaker(const fabric::Node& node, const CollectiveSettings& settings,
              const ForcedChoices& forced)
      : node_(node), settings_(settings), forced_(forced) {}

  /// What the model knows of a communicator that stands so.
  collective::System system(const collective::Shape& shape) const;

  /// Fails where nothing is left that the op can take, saying why for each; and (refused) where
  /// what was picked needs more than there is.
  Result<collective::Choice> choose(const profile::Op& op, const collective::Shape& shape) const;

  /// All that the model weighed; empty for ops without a choice.
  std::vector<collective::Candidate> candidates(const profile::Op& op,
                                                const collective::Shape& shape) const;

 private:
  Result<collective::Choice> picked(const profile::Op& op, const collective::Shape& shape) const;
  collective::Choice of_pairs(const profile::Op& op, const collective::Shape& shape) const;

  const fabric::Node& node_;
  const CollectiveSettings& settings_;
  const ForcedChoices& forced_;
};

/// Choices for all communication of a job whose nodes are placed, ordered by op_key().
Result<std::vector<OpChoice>> choose_all(const Plan& plan, JobIndex job, const ChoiceMaker& maker);

}  // namespace rehearsal::plan
