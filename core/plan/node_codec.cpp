#include "core/plan/node_codec.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/text.hpp"
#include "core/collective/expansion.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/choices.hpp"
#include "core/plan/placement.hpp"

namespace rehearsal::plan {
namespace {

constexpr std::size_t kTextMax = 256;
constexpr std::size_t kAssumedMax = 1024;
constexpr std::uint64_t kChoiceChunkMax = std::uint64_t{1} << 30;

void write(Encoder& encoder, const OpChoice& picked) {
  encoder.number(picked.communicator.value);
  encoder.number(static_cast<std::uint64_t>(picked.kind));
  encoder.number(picked.bytes.count());
  encoder.number(picked.peer_bytes ? *picked.peer_bytes + std::uint64_t{1} : 0);
  const collective::Choice& choice = picked.choice;
  encoder.number(static_cast<std::uint64_t>(choice.algorithm));
  encoder.number(static_cast<std::uint64_t>(choice.protocol));
  encoder.number(choice.channels);
  encoder.number(choice.chunk.count());
  encoder.number(choice.slices_per_chunk);
  encoder.number(choice.credits);
  encoder.number(choice.channels_per_peer);
}

class Reader {
 public:
  Reader(Decoder& decoder, PlannedJob& job) : decoder_(decoder), job_(job) {}

  Result<void> read() {
    ASSIGN_OR_RETURN(const std::uint64_t known, decoder_.number_up_to(1, "nodes"));
    if (known == 0) return {};
    RETURN_IF_ERROR(node());
    RETURN_IF_ERROR(seats());
    return choices();
  }

 private:
  Failure wrong(std::string_view what) const {
    return invalid("byte " + std::to_string(decoder_.offset()) + ": " + std::string(what));
  }
  Result<void> number(std::uint32_t& target, std::uint64_t least, std::uint64_t most,
                      std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value, decoder_.number_up_to(most, what));
    if (value < least) return wrong(std::string(what) + " of " + std::to_string(value));
    target = static_cast<std::uint32_t>(value);
    return {};
  }
  template <typename Enum>
  Result<void> word(Enum& target, Enum last, std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value,
                     decoder_.number_up_to(static_cast<std::uint64_t>(last), what));
    target = static_cast<Enum>(value);
    return {};
  }

  Result<void> node() {
    PlannedNode& node = job_.node.emplace();
    ASSIGN_OR_RETURN(node.name, decoder_.text(kTextMax));
    RETURN_IF_ERROR(number(node.ranks, 1, fabric::kGpusMax, "ranks on a node"));
    RETURN_IF_ERROR(number(node.rails, 1, fabric::kNicsMax, "rails"));
    RETURN_IF_ERROR(number(node.per_host, 1, kRanksPerHostMax, "nodes on a host"));
    ASSIGN_OR_RETURN(const std::size_t assumed, decoder_.count(1, "assumptions"));
    if (assumed > kAssumedMax) return wrong("too many assumptions");
    for (std::size_t i = 0; i < assumed; ++i) {
      ASSIGN_OR_RETURN(node.assumed.emplace_back(), decoder_.text(kTextMax));
    }
    return {};
  }

  Result<void> seats() {
    const std::size_t ranks = job_.bindings.size();
    if (ranks % job_.node->ranks != 0) return wrong("ranks that do not fill their nodes");
    job_.seats.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Seat& seat = job_.seats[rank];
      seat.node = static_cast<std::uint32_t>(rank / job_.node->ranks);
      RETURN_IF_ERROR(number(seat.rail, 0, job_.node->rails - 1, "a rail"));
      const Binding& first = job_.bindings[rank - rank % job_.node->ranks];
      if (job_.bindings[rank].host != first.host) return wrong("a node on two hosts");
    }
    return {};
  }

  Result<void> choices() {
    ASSIGN_OR_RETURN(const std::size_t count, decoder_.count(11, "choices"));
    for (std::size_t i = 0; i < count; ++i) {
      RETURN_IF_ERROR(choice(job_.choices.emplace_back()));
      if (i > 0 && op_key(job_.choices[i - 1]) >= op_key(job_.choices[i]))
        return wrong("choices out of order");
    }
    return {};
  }

  Result<void> choice(OpChoice& picked) {
    constexpr std::uint64_t kNumberMax = std::numeric_limits<std::uint32_t>::max();
    const std::size_t communicators = job_.profile->communicators.size();
    if (communicators == 0) return wrong("a choice without a communicator");
    RETURN_IF_ERROR(number(picked.communicator.value, 0, communicators - 1, "a communicator"));
    RETURN_IF_ERROR(word(picked.kind, profile::OpKind::barrier, "a kind of op"));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, decoder_.number());
    picked.bytes = Bytes{bytes};
    std::uint32_t peer_bytes = 0;
    RETURN_IF_ERROR(number(peer_bytes, 0, kNumberMax, "sizes"));
    if (peer_bytes > 0) picked.peer_bytes = peer_bytes - 1;
    collective::Choice& choice = picked.choice;
    RETURN_IF_ERROR(word(choice.algorithm, collective::Algorithm::direct, "an algorithm"));
    RETURN_IF_ERROR(word(choice.protocol, collective::Protocol::simple, "a protocol"));
    RETURN_IF_ERROR(number(choice.channels, 1, kChannelsMax, "channels"));
    ASSIGN_OR_RETURN(const std::uint64_t chunk, decoder_.number_up_to(kChoiceChunkMax, "a chunk"));
    if (chunk == 0) return wrong("a chunk of nothing");
    choice.chunk = Bytes{chunk};
    RETURN_IF_ERROR(number(choice.slices_per_chunk, 1, kSlicesPerChunkMax, "slices"));
    RETURN_IF_ERROR(number(choice.credits, 1, kCreditsMax, "credits"));
    return number(choice.channels_per_peer, 0, kChannelsMax, "channels a peer");
  }

  Decoder& decoder_;
  PlannedJob& job_;
};

}  // namespace

void write_nodes(Encoder& encoder, const PlannedJob& job) {
  encoder.number(job.node ? 1 : 0);
  if (!job.node) return;
  encoder.text(job.node->name);
  encoder.number(job.node->ranks);
  encoder.number(job.node->rails);
  encoder.number(job.node->per_host);
  encoder.number(job.node->assumed.size());
  for (const std::string& text : job.node->assumed) encoder.text(text.substr(0, kTextMax));
  for (const Seat& seat : job.seats) encoder.number(seat.rail);
  encoder.number(job.choices.size());
  for (const OpChoice& picked : job.choices) write(encoder, picked);
}

Result<void> read_nodes(Decoder& decoder, PlannedJob& job) { return Reader(decoder, job).read(); }

Result<void> check_choices(const Plan& plan, JobIndex job) {
  const PlannedJob& planned = plan.jobs[job.value];
  if (!planned.node) return {};
  Shapes shapes{plan, job};
  for (const profile::RankClass& rank_class : planned.profile->classes) {
    for (const profile::Op& op : rank_class.ops) {
      if (!profile::is_communication(op.kind)) continue;
      const auto found = std::ranges::lower_bound(
          planned.choices, op_key(op), {}, [](const OpChoice& choice) { return op_key(choice); });
      if (found == planned.choices.end() || op_key(*found) != op_key(op))
        return invalid("nothing is picked for an op " + std::string(to_string(op.kind)));
      if (!collective::can_expand(op.kind, found->choice.algorithm, shapes.of(op.communicator)))
        return invalid(std::string(to_string(op.kind)) + " cannot take the algorithm " +
                       std::string(to_string(found->choice.algorithm)));
    }
  }
  return {};
}

}  // namespace rehearsal::plan
