#include "daemon/config.hpp"

#include <gmock/gmock.h>

#include "runtime/config.hpp"

namespace rehearsal::daemon {
namespace {

using testing::HasSubstr;

Result<Config> read(const std::string& text) {
  ASSIGN_OR_RETURN(const auto document, yaml::parse(text, "rehearsald.yaml"));
  Config config;
  RETURN_IF_ERROR(apply(document, config));
  return config;
}

TEST(DaemonConfig, EveryKey) {
  const auto config = read(
      "listen: 10.78.0.1:7000\n"
      "metrics: \"[::1]:9000\"\n"
      "store: /srv/runs\n"
      "store_runs_max: 7\n"
      "drain_limit: 2min\n"
      "log: warning\n");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->listen, (runtime::Endpoint{"10.78.0.1", 7000}));
  EXPECT_EQ(config->metrics, (runtime::Endpoint{"::1", 9000}));
  EXPECT_EQ(config->store, "/srv/runs");
  EXPECT_EQ(config->store_runs_max, 7U);
  EXPECT_EQ(config->drain_limit, std::chrono::minutes{2});
  EXPECT_EQ(config->log, runtime::LogThreshold::warning);
}

TEST(DaemonConfig, MistakesNameTheirPlace) {
  const auto message = [](const std::string& text) {
    const auto config = read(text);
    return config ? "accepted" : config.error().text();
  };
  EXPECT_THAT(message("log: info\nlissten: 1.2.3.4:5\n"), HasSubstr("rehearsald.yaml:2:1"));
  EXPECT_THAT(message("listen: 1.2.3.4\n"), HasSubstr("rehearsald.yaml:1:9: listen"));
  EXPECT_THAT(message("drain_limit: 30\n"), HasSubstr("drain_limit"));
  EXPECT_THAT(message("store_runs_max: 0\n"), HasSubstr("store_runs_max"));
  EXPECT_THAT(message("- listen\n"), HasSubstr("rehearsald.yaml:1"));
}

TEST(DaemonConfig, TheShippedExampleIsReadAndHoldsTheDefaults) {
  const auto document = runtime::load_config(REHEARSAL_SOURCE_DIR "/deploy/rehearsald.yaml");
  ASSERT_TRUE(document) << document.error().text();
  Config config;
  ASSERT_TRUE(apply(*document, config));
  const Config defaults;
  EXPECT_EQ(config.metrics, defaults.metrics);
  EXPECT_EQ(config.store, defaults.store);
  EXPECT_EQ(config.store_runs_max, defaults.store_runs_max);
  EXPECT_EQ(config.drain_limit, defaults.drain_limit);
}

}  // namespace
}  // namespace rehearsal::daemon
