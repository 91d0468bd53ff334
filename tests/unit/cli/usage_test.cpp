#include "cli/usage.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace rehearsal::cli {
namespace {

/// What is said of `rehearse <arguments>`.
std::string said_of(std::vector<std::string> arguments) {
  Context context;
  CLI::App app{"", "rehearse"};
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--coordinator", context.coordinator);
  add_profile_command(app, context);
  add_run_command(app, context);
  add_report_command(app, context);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return usage_error_text(app, error);
  }
  return "";
}

TEST(Usage, UnknownCommandsAreNamedWithTheRightOne) {
  EXPECT_EQ(said_of({"rnu"}), "no command 'rnu'; did you mean 'run'?");
  EXPECT_EQ(said_of({"rnu", "drill.yaml", "--out", "x"}), "no command 'rnu'; did you mean 'run'?");
  EXPECT_EQ(said_of({"profile", "shwo", "f"}), "no command 'shwo'; did you mean 'show'?");
  EXPECT_EQ(said_of({"fly-away"}), "no command 'fly-away'; there are profile, run, report");
}

TEST(Usage, UnknownOptionsAreNamedWithTheRightOne) {
  EXPECT_EQ(said_of({"report", "folder", "--jsno"}), "no option '--jsno'; did you mean '--json'?");
  EXPECT_EQ(said_of({"run", "--plan-hsh=1", "d.yaml"}),
            "no option '--plan-hsh'; did you mean '--plan-hash'?");
  EXPECT_EQ(said_of({"run", "d.yaml", "--cordinator", "x"}),
            "no option '--cordinator'; did you mean '--coordinator'?");
}

TEST(Usage, WhatIsMissingOrTooMuch) {
  EXPECT_EQ(said_of({}), "no command given; there are profile, run, report");
  EXPECT_EQ(said_of({"profile"}), "no command given; there are import, show, verify");
  EXPECT_EQ(said_of({"report", "a", "b"}), "'b' is one word too many for rehearse report");
  EXPECT_THAT(said_of({"run"}), testing::HasSubstr("DRILL"));
}

}  // namespace
}  // namespace rehearsal::cli
