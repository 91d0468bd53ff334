#include "core/replay/links.hpp"

#include <algorithm>

namespace rehearsal::replay {

Links::Links(const plan::Connections& connections, JobIndex job, Rank rank) {
  const auto add_ours = [&](const std::vector<plan::ConnectionSpec>& specs, bool local) {
    for (const plan::ConnectionSpec& spec : specs) {
      if (spec.key.job != job) continue;
      if (spec.key.source == rank) add(spec, true, local);
      if (spec.key.destination == rank) add(spec, false, local);
    }
  };
  add_ours(connections.outgoing, false);
  add_ours(connections.incoming, false);
  add_ours(connections.local, true);
  std::sort(by_name_.begin(), by_name_.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
}

void Links::add(const plan::ConnectionSpec& spec, bool outgoing, bool local) {
  const auto index = static_cast<std::uint32_t>(links_.size());
  Link link{.connection = spec.index,
            .peer = outgoing ? spec.key.destination : spec.key.source,
            .outgoing = outgoing,
            .local = local,
            .credits_max = spec.credits,
            .credits = outgoing ? spec.credits : 0};
  if (!outgoing) {
    link.sizes_begin = static_cast<std::uint32_t>(sizes_.size());
    sizes_.resize(sizes_.size() + spec.credits);
  }
  by_name_.push_back(
      {{spec.key.communicator, spec.key.use, outgoing, link.peer, spec.key.channel}, index});
  if (by_connection_.size() <= spec.index.value)
    by_connection_.resize(std::size_t{spec.index.value} + 1, kNoIndex);
  by_connection_[spec.index.value] = index;
  links_.push_back(link);
}

std::uint32_t Links::find(CommunicatorIndex communicator, plan::ConnectionUse use, bool outgoing,
                          Rank peer, std::uint16_t channel) const noexcept {
  const Name name{communicator, use, outgoing, peer, channel};
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [](const Entry& entry, const Name& wanted) { return entry.name < wanted; });
  return found != by_name_.end() && found->name == name ? found->link : kNoIndex;
}

}  // namespace rehearsal::replay
