#pragma once

namespace rehearsal::diagnosis {

/// How sure it is that `effect` is none of a noise with standard deviation `noise` (of the same
/// unit): 0 to 1. Since the worst of many places is looked at, `by_accident` times the noise says
/// nothing; twice the noise beyond that is half believed.
double certainty_of(double effect, double noise, double by_accident);

}  // namespace rehearsal::diagnosis
