#include "core/collective/rails.hpp"

namespace rehearsal::collective {

Shape::Crossing crossing_of(const Settings& settings) noexcept {
  if (settings.cross_nic == 1) return Shape::Crossing::free;
  if (settings.cross_nic == 2 && settings.pxn_level == 0) return Shape::Crossing::alternate;
  return Shape::Crossing::none;
}

RailPath collective_rails(const Shape& shape, std::uint32_t channel, std::uint32_t source,
                          std::uint32_t destination) noexcept {
  const std::uint32_t from = shape.rail_of(source);
  const std::uint32_t to = shape.rail_of(destination);
  if (shape.crossing() != Shape::Crossing::none || from == to) return {from, to};
  const std::uint32_t rail = shape.rail_of_channel(channel);
  return {rail, rail};
}

RailPath pair_rails(const Shape& shape, const Settings& settings, std::uint32_t source,
                    std::uint32_t destination) noexcept {
  const std::uint32_t to = shape.rail_of(destination);
  const bool may_change = settings.pxn_level > 0 || settings.cross_nic == 0;
  const bool changes = may_change && shape.stands_on(shape.node_of(source), to);
  return {changes ? to : shape.rail_of(source), to};
}

}  // namespace rehearsal::collective
