#include "core/base/result.hpp"

#include <cstring>

namespace rehearsal {
namespace {

constexpr ErrorCode kErrorCodeLast = ErrorCode::system;

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_input:
      return "invalid_input";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::refused:
      return "refused";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::protocol:
      return "protocol";
    case ErrorCode::disconnected:
      return "disconnected";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::system:
      return "system";
  }
  return "unknown";
}

std::string_view to_string(ErrorSource source) {
  switch (source) {
    case ErrorSource::config:
      return "config";
    case ErrorSource::control:
      return "control";
    case ErrorSource::transport:
      return "transport";
    case ErrorSource::host:
      return "host";
  }
  return "unknown";
}

Error Error::within(std::string context) const {
  return Error{code, source, std::move(context), std::make_shared<const Error>(*this)};
}

std::optional<ErrorCode> error_code(std::string_view text) {
  for (int number = 0; number <= static_cast<int>(kErrorCodeLast); ++number)
    if (const auto code = static_cast<ErrorCode>(number); to_string(code) == text) return code;
  return std::nullopt;
}

std::string Error::text() const {
  std::string text = message;
  for (const Error* inner = cause.get(); inner != nullptr; inner = inner->cause.get()) {
    text += ": " + inner->message;
  }
  return text;
}

Failure system_failure(ErrorSource source, std::string_view what, int error_number) {
  return fail(ErrorCode::system, source, std::string(what) + ": " + std::strerror(error_number));
}

}  // namespace rehearsal
