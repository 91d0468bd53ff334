#include "core/plan/plan_warnings.hpp"

#include "core/base/text.hpp"
#include "core/plan/connection_estimate.hpp"

namespace rehearsal::plan {
namespace {

void warn_of_nothing_on_the_wire(const Plan& plan, const Load& load,
                                 std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    if (load.jobs[i].ops == 0 || load.jobs[i].on_wire.count() != 0) continue;
    if (load.jobs[i].local.count() == 0) continue;
    warnings.push_back("job " + in_quotes(plan.jobs[i].name) +
                       ": all its ranks stand on one host, so nothing of it reaches the wire");
  }
}

}  // namespace

std::vector<std::string> plan_warnings(const Plan& plan, const Load& load) {
  std::vector<std::string> warnings;
  warn_of_nothing_on_the_wire(plan, load, warnings);
  if (const auto fits = check_connections(plan); !fits)
    warnings.push_back("this cannot be run: " + fits.error().message);
  return warnings;
}

}  // namespace rehearsal::plan
