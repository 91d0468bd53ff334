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

std::optional<ExitCode> exit_code_of_verdict(std::string_view verdict) {
  if (verdict == "pass") return ExitCode::pass;
  if (verdict == "warn") return ExitCode::warn;
  if (verdict == "fail") return ExitCode::fail;
  if (verdict == "unknown") return ExitCode::unknown;
  return std::nullopt;
}

ExitCode exit_code_of_number(unsigned number) {
  return number <= 3 ? static_cast<ExitCode>(number) : ExitCode::unknown;
}

ExitCode report_error(const Error& error) {
  std::fprintf(stderr, "rehearse: %s\n", error.text().c_str());
  return exit_code_of(error);
}

}  // namespace rehearsal::cli
