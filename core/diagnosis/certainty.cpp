#include "core/diagnosis/certainty.hpp"

namespace rehearsal::diagnosis {
namespace {

constexpr double kHalfBelieved = 2;

}  // namespace

double certainty_of(double effect, double noise, double by_accident) {
  if (noise <= 0) return effect > 0 ? 1 : 0;
  const double beyond = effect / noise - by_accident;
  return beyond <= 0 ? 0 : beyond / (beyond + kHalfBelieved);
}

}  // namespace rehearsal::diagnosis
