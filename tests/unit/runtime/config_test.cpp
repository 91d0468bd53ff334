#include "runtime/config.hpp"

#include <gmock/gmock.h>

#include "runtime/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::runtime {
namespace {

using testing::HasSubstr;

TEST(Endpoint, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_endpoint("10.78.0.1:7470"), (Endpoint{"10.78.0.1", 7470}));
  EXPECT_EQ(parse_endpoint("[fd00::1]:0"), (Endpoint{"fd00::1", 0}));
  EXPECT_EQ(parse_endpoint("head-node:65535"), (Endpoint{"head-node", 65535}));
  for (const char* text : {"", ":", ":7470", "10.78.0.1", "10.78.0.1:", "10.78.0.1:65536",
                           "10.78.0.1:-1", "10.78.0.1:7x", "fd00::1:7470", "[]:7470"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_THAT(endpoint.error().message, HasSubstr("right would be")) << text;
  }
}

TEST(Endpoint, ListensOnIpAddressesOnly) {
  EXPECT_EQ(parse_listen_endpoint("10.78.0.1:0"), (Endpoint{"10.78.0.1", 0}));
  EXPECT_EQ(parse_listen_endpoint("[fd00::1]:7470"), (Endpoint{"fd00::1", 7470}));
  for (const char* text : {"7470", "head-node:7470", "10.78.0:7470x"}) {
    const auto endpoint = parse_listen_endpoint(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_THAT(endpoint.error().message,
                HasSubstr("right would be 10.78.0.1:7470 or [fd00::1]:7470"));
  }
}

TEST(Endpoint, WritesWhatItReads) {
  for (const char* text : {"10.78.0.1:7470", "[fd00::1]:1", "head-node:2"}) {
    EXPECT_EQ(to_string(*parse_endpoint(text)), text);
  }
}

TEST(LoadConfig, ErrorsNameFileLineAndKey) {
  const rehearsal::test::TemporaryFolder folder;
  const auto path = folder.path() / "daemon.yaml";
  ASSERT_TRUE(write_file_atomically(path, "log: info\nlisten: nowhere\n"));
  const auto document = load_config(path);
  ASSERT_TRUE(document) << document.error().text();
  const auto keys = document->root().as_mapping({"log", "listen"});
  ASSERT_TRUE(keys);
  EXPECT_EQ(log_threshold_of(*keys->optional("log")), LogThreshold::info);
  const auto wrong = endpoint_of(*keys->optional("listen"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("daemon.yaml:2:"));
  EXPECT_THAT(wrong.error().text(), HasSubstr("listen"));
  EXPECT_FALSE(log_threshold_of(*keys->optional("listen")));
}

TEST(LoadConfig, MissingAndHugeFilesAreErrors) {
  const rehearsal::test::TemporaryFolder folder;
  const auto missing = load_config(folder.path() / "none.yaml");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("none.yaml"));
  const auto path = folder.path() / "huge.yaml";
  ASSERT_TRUE(write_file_atomically(path, std::string(yaml::kDocumentBytesMax + 1, '#')));
  const auto huge = load_config(path);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace rehearsal::runtime
