#include "runtime/log.hpp"

#include <gmock/gmock.h>

namespace rehearsal::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Log, OneLineAnEventOnStandardErrorWithinTheThreshold) {
  testing::internal::CaptureStderr();
  {
    const Logging logging(LogThreshold::warning);
    log_info("too quiet");
    log_warning("host \x1b[31mred\nhost2");
    log_error("loud");
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, Not(HasSubstr("too quiet")));
  EXPECT_THAT(written, HasSubstr(" warning host ?[31mred?host2\n"));
  EXPECT_THAT(written, HasSubstr(" error loud\n"));
  log_error("nobody listens");
}

}  // namespace
}  // namespace rehearsal::runtime
