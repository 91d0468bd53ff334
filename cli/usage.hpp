#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace rehearsal::cli {

/// What was wrong with the options that `app` could not parse, on one line: "no command 'rnu'; did
/// you mean 'run'?".
std::string usage_error_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace rehearsal::cli
