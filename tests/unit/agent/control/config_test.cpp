#include "agent/control/config.hpp"

#include <gmock/gmock.h>

#include "runtime/config.hpp"

namespace rehearsal::agent {
namespace {

using testing::HasSubstr;

Result<Config> read(const std::string& text) {
  ASSIGN_OR_RETURN(const auto document, yaml::parse(text, "agent.yaml"));
  Config config;
  RETURN_IF_ERROR(apply(document, config));
  return config;
}

TEST(AgentConfig, EveryKey) {
  const auto config = read(
      "coordinator: head-node:7000\n"
      "name: host1\n"
      "nics:\n"
      "  - {name: eth1}\n"
      "  - {name: eth2, address: 10.79.2.3}\n"
      "shared_nics: true\n"
      "worker_cores: 4-7\n"
      "metrics: 127.0.0.1:9000\n"
      "helper: /run/other/socket\n"
      "external: /run/other/external\n"
      "drain_limit: 2min\n"
      "log: error\n");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->coordinator, (runtime::Endpoint{"head-node", 7000}));
  EXPECT_EQ(config->name, "host1");
  EXPECT_THAT(config->nics,
              testing::ElementsAre(NicChoice{"eth1"}, NicChoice{"eth2", "10.79.2.3"}));
  EXPECT_TRUE(config->shared_nics);
  EXPECT_EQ(config->worker_cores,
            (host::CoreWish{.kind = host::CoreWish::Kind::named, .cores = {4, 5, 6, 7}}));
  EXPECT_EQ(config->metrics, (runtime::Endpoint{"127.0.0.1", 9000}));
  EXPECT_EQ(config->helper, "/run/other/socket");
  EXPECT_EQ(config->external, "/run/other/external");
  EXPECT_EQ(config->drain_limit, std::chrono::minutes{2});
  EXPECT_EQ(config->log, runtime::LogThreshold::error);
}

TEST(AgentConfig, MistakesNameTheirPlace) {
  const auto message = [](const std::string& text) {
    const auto config = read(text);
    return config ? "accepted" : config.error().text();
  };
  EXPECT_THAT(message("nics: eth1\n"), HasSubstr("agent.yaml:1:7: nics"));
  EXPECT_THAT(message("nics:\n  - {address: 10.79.1.3}\n"), HasSubstr("agent.yaml:2"));
  EXPECT_THAT(message("nics:\n  - {name: eth1, speed: 1}\n"), HasSubstr("agent.yaml:2"));
  EXPECT_THAT(message("shared_nics: yes\n"), HasSubstr("shared_nics"));
  EXPECT_THAT(
      message("worker_cores: near\n"),
      HasSubstr("worker_cores: 'near' names no cores; right would be auto, none or a list"));
  EXPECT_THAT(message("name: CHANGEME\n"), HasSubstr("name"));
}

TEST(AgentConfig, AHelperIsLookedForWhereItsServicePutsItUnlessToldOtherwise) {
  EXPECT_EQ(Config{}.helper, kHelperSocketPath);
  EXPECT_EQ(read("helper: /tmp/socket\n")->helper, "/tmp/socket");
  EXPECT_TRUE(read("helper: none\n")->helper.empty());
  EXPECT_EQ(Config{}.external, kExternalSocketPath);
  EXPECT_TRUE(read("external: none\n")->external.empty());
}

TEST(AgentConfig, NamesOfAgentsArePlain) {
  EXPECT_TRUE(check_name("rack-7.host_1"));
  for (const char* name : {"", "two words", "\xff", "a/b", "-a"}) {
    const auto checked = check_name(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_THAT(checked.error().text(), HasSubstr("letters, digits"));
  }
  EXPECT_FALSE(check_name(std::string(65, 'a')));
}

TEST(AgentConfig, TheShippedExampleIsRead) {
  const auto document = runtime::load_config(REHEARSAL_SOURCE_DIR "/deploy/rehearsal-agent.yaml");
  ASSERT_TRUE(document) << document.error().text();
  Config config;
  const auto applied = apply(*document, config);
  ASSERT_TRUE(applied) << applied.error().text();
  EXPECT_EQ(config.metrics, Config{}.metrics);
}

}  // namespace
}  // namespace rehearsal::agent
