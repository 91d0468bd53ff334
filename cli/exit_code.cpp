#include "cli/exit_code.hpp"

#include <cstdio>

namespace rehearsal::cli {

ExitCode exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_input:
    case ErrorCode::unsupported:
    case ErrorCode::not_found:
    case ErrorCode::too_large:
      return ExitCode::usage;
    case ErrorCode::refused:
    case ErrorCode::protocol:
    case ErrorCode::disconnected:
    case ErrorCode::timed_out:
    case ErrorCode::system:
      return ExitCode::unknown;
  }
  return ExitCode::unknown;
}

ExitCode exit_code_of_number(unsigned number) {
  return number <= 3 ? static_cast<ExitCode>(number) : ExitCode::unknown;
}

ExitCode report_error(const Error& error) {
  std::fprintf(stderr, "rehearse: %s\n", error.text().c_str());
  return exit_code_of(error);
}

}  // namespace rehearsal::cli
