#include <algorithm>
#include <bit>

#include "core/collective/partition.hpp"
#include "core/collective/pat_order.hpp"

namespace rehearsal::collective {

namespace {

/// Numbers below `end` whose lowest set bit is that of `power`.
std::uint64_t odd_multiples(std::uint64_t power, std::uint64_t end) {
  return (end + power - 1) / (2 * power);
}

/// Blocks that go to one peer from one place of the trees that are walked at once: `trees` of them,
/// of which `existing` have a block there. Adds the messages of `places` such places.
struct Place {
  std::uint64_t trees;
  std::uint64_t existing;
};
using Messages = PatCount (*)(const Place& place, std::uint32_t per_message);

/// All groups have room for as many; a group that is not a single piece always has a block.
PatCount scattered(const Place& place, std::uint32_t per_message) {
  const std::uint64_t room = std::min<std::uint64_t>(per_message, place.trees);
  const std::uint64_t messages = room == 1 ? place.existing : place.trees / room;
  return {.pieces = place.existing,
          .messages = messages,
          .slots = messages * room,
          .slots_max = static_cast<std::uint32_t>(room)};
}

/// One group after the other is filled, and a message ends with the last block.
PatCount gathered(const Place& place, std::uint32_t per_message) {
  const std::uint64_t most = std::min<std::uint64_t>(per_message, place.existing);
  return {.pieces = place.existing,
          .messages = divide_up(place.existing, per_message),
          .slots = place.existing,
          .slots_max = static_cast<std::uint32_t>(most)};
}

PatCount counted(Messages messages, std::uint32_t ranks, PatAggregation aggregation,
                 std::uint32_t dimension) {
  const std::uint64_t power = std::uint64_t{1} << dimension;
  PatCount total;
  const auto add = [&](std::uint64_t places, const Place& place) {
    if (places == 0 || place.existing == 0) return;
    const PatCount one = messages(place, aggregation.per_message);
    total.pieces += places * one.pieces;
    total.messages += places * one.messages;
    total.slots += places * one.slots;
    total.slots_max = std::max(total.slots_max, one.slots_max);
  };
  const std::uint64_t delta = std::bit_ceil(ranks) / aggregation.factor;
  if (power >= delta) {  // among the tops
    add(1, {aggregation.factor * delta / (2 * power), odd_multiples(power, ranks)});
  } else {  // below them: the first ranks % delta places exist once more than the others
    const std::uint64_t more = odd_multiples(power, ranks % delta);
    add(more, {aggregation.factor, ranks / delta + 1});
    add(odd_multiples(power, delta) - more, {aggregation.factor, ranks / delta});
  }
  return total;
}

}  // namespace

PatCount PatScatterOrder::count(std::uint32_t ranks, PatAggregation aggregation,
                                std::uint32_t dimension) noexcept {
  return counted(scattered, ranks, aggregation, dimension);
}

PatCount PatGatherOrder::count(std::uint32_t ranks, PatAggregation aggregation,
                               std::uint32_t dimension) noexcept {
  return counted(gathered, ranks, aggregation, dimension);
}

}  // namespace rehearsal::collective
