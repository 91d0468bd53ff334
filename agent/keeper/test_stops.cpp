#include "agent/keeper/test_stops.hpp"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/base/text.hpp"

namespace rehearsal::agent {

Result<TestStops> test_stops_from_environment() {
  TestStops stops;
  if (const char* boot_id = std::getenv("REHEARSAL_HELPER_BOOT_ID")) stops.boot_id = boot_id;
  const char* stop_at = std::getenv("REHEARSAL_HELPER_STOP_AT");
  if (stop_at == nullptr) return stops;
  const std::string_view text = stop_at;
  const std::size_t colon = std::min(text.find(':'), text.size());
  int count = 1;
  if (colon < text.size()) {
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), count);
  }
  for (const fault::Step step : fault::kSteps) {
    if (to_string(step) != text.substr(0, colon)) continue;
    stops.on_step = [step, left = std::make_shared<int>(count)](fault::Step reached) {
      if (reached == step && --*left == 0) ::raise(SIGSTOP);
    };
    return stops;
  }
  return invalid("REHEARSAL_HELPER_STOP_AT: there is no step " + in_quotes(text));
}

}  // namespace rehearsal::agent
