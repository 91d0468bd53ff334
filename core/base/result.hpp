#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rehearsal {

/// What kind of expected failure this is; decides exit codes and what the caller may do next.
enum class ErrorCode {
  invalid_input,  ///< what a person or a file gave is wrong: the message says where and what is
                  ///< right
  unsupported,    ///< understood, but not offered here
  not_found,      ///< a file, device, host or id that does not exist
  refused,        ///< understood and possible, but against a limit, a policy or a state
  too_large,      ///< over a size cap
  protocol,       ///< a peer broke the protocol
  disconnected,   ///< the peer is gone
  timed_out,      ///< a deadline passed; the message says who was waited for
  system,         ///< the operating system said no (errno text in the message)
};

/// Where the failure arose.
enum class ErrorSource { config, control, transport, host };

std::string_view to_string(ErrorCode code);
std::string_view to_string(ErrorSource source);

/// The code that to_string() spells so; none for any other text.
std::optional<ErrorCode> error_code(std::string_view text);

/// An expected failure. Each layer may add one line of context; the place that decides logs it
/// once.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::invalid_input;
  ErrorSource source = ErrorSource::config;
  std::string message;
  std::shared_ptr<const Error> cause = nullptr;

  /// The same failure seen from one layer up: `context` becomes the message, this the cause.
  Error within(std::string context) const;

  /// "context: message: cause", outermost first, on one line.
  std::string text() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

/// `return fail(ErrorCode::invalid_input, ErrorSource::config, "...");`
inline Failure fail(ErrorCode code, ErrorSource source, std::string message) {
  return Failure{Error{code, source, std::move(message), nullptr}};
}

/// A failure of input that a person wrote: source `config`, code `invalid_input`.
inline Failure invalid(std::string message) {
  return fail(ErrorCode::invalid_input, ErrorSource::config, std::move(message));
}

/// `strerror(errno)` with what was tried, as code `system`.
Failure system_failure(ErrorSource source, std::string_view what, int error_number);

}  // namespace rehearsal

/// Returns the error of a Result<void>-like expression from the enclosing function.
#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (auto return_if_error_result = (expression); !return_if_error_result)  \
      return ::rehearsal::Failure{std::move(return_if_error_result).error()}; \
  } while (false)

#define REHEARSAL_CONCAT_INNER(a, b) a##b
#define REHEARSAL_CONCAT(a, b) REHEARSAL_CONCAT_INNER(a, b)

/// `ASSIGN_OR_RETURN(auto value, parse(text));`
#define ASSIGN_OR_RETURN(declaration, expression)                                                  \
  auto REHEARSAL_CONCAT(assign_or_return_, __LINE__) = (expression);                               \
  if (!REHEARSAL_CONCAT(assign_or_return_, __LINE__))                                              \
    return ::rehearsal::Failure{std::move(REHEARSAL_CONCAT(assign_or_return_, __LINE__)).error()}; \
  declaration = std::move(*REHEARSAL_CONCAT(assign_or_return_, __LINE__))
