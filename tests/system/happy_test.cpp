// What a user does first: plan, run, look again.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/system/system_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Happy : public SystemCluster {};

void expect_numbers(const json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    EXPECT_TRUE(object.contains(key)) << "no " << key << " in " << object.dump();
}

void expect_all_fields(const json& summary) {
  expect_numbers(summary, {"schema_version", "verdict", "plan_hash", "jobs", "sync", "bursts"});
  for (const json& job : summary["jobs"]) {
    expect_numbers(job, {"name", "ranks", "iterations", "ops", "bytes", "collectives"});
    expect_numbers(job["iterations"], {"planned", "completed", "time_seconds"});
    expect_numbers(job["iterations"]["time_seconds"], {"mean", "p50", "p95", "p99", "max"});
    expect_numbers(job["ops"], {"planned", "completed"});
    expect_numbers(job["bytes"], {"planned", "sent", "received"});
    for (const json& collective : job["collectives"])
      expect_numbers(collective, {"kind", "communicator", "bytes", "count", "time_seconds",
                                  "algbw_bytes_per_second", "busbw_bytes_per_second"});
  }
  expect_numbers(summary["sync"], {"mode", "start_skew_seconds", "clock_error_bound_seconds"});
  expect_numbers(summary["sync"]["start_skew_seconds"], {"p50", "p99", "max"});
  for (const json& burst : summary["bursts"]) {
    expect_numbers(
        burst, {"host", "nic", "direction", "source", "bin_seconds", "peak_to_mean", "backlog"});
    for (const json& ratio : burst["peak_to_mean"])
      expect_numbers(ratio, {"window_seconds", "value", "resolution_ok"});
  }
}

TEST_F(Happy, ARunPassesAndItsBytesAreThoseOfThePlanAndOfTheKernel) {
  const auto path = drill("happy", profile(8, "8MiB", "2ms"), 5, all_hosts());
  std::vector<Counters> before;
  for (const std::string& host : all_hosts())
    for (std::uint32_t rail = 0; rail < kRails; ++rail) before.push_back(counters(host, rail));

  int code = -1;
  const std::string output = rehearse({"run", path, "--out", folder() / "out"}, code);
  ASSERT_EQ(code, 0) << output;
  EXPECT_THAT(output, HasSubstr("run folder: "));

  const json report = summary(folder() / "out");
  EXPECT_EQ(report["verdict"], "pass") << report["reasons"];
  expect_all_fields(report);
  const json& job = report["jobs"][0];
  EXPECT_EQ(job["iterations"]["completed"], 5);
  EXPECT_EQ(job["ops"]["completed"], job["ops"]["planned"]);
  EXPECT_EQ(job["bytes"]["sent"], job["bytes"]["planned"]);
  EXPECT_EQ(job["bytes"]["received"], job["bytes"]["planned"]);
  EXPECT_GT(job["bytes"]["planned"].get<std::uint64_t>(), std::uint64_t{8} << 20);

  std::size_t index = 0;
  for (const std::string& host : all_hosts()) {
    for (std::uint32_t rail = 0; rail < kRails; ++rail, ++index) {
      const Counters after = counters(host, rail);
      const std::uint64_t sent = after.sent - before[index].sent;
      const std::string name = "rail" + std::to_string(rail);
      for (const json& nic : report["nics"]) {
        if (nic["host"] != host || nic["nic"] != name) continue;
        const auto planned = nic["planned_sent_bytes"].get<std::uint64_t>();
        EXPECT_GT(planned, 0U) << host << " " << name;
        EXPECT_GE(sent, planned) << host << " " << name;
        // Headers, acknowledgements, handshakes, a few retransmissions.
        EXPECT_LE(sent, planned + planned / 10 + 100'000) << host << " " << name;
      }
    }
  }
}

TEST_F(Happy, TheRunFolderIsWholeAndTheReportCanBeMadeAgain) {
  const auto path = drill("folder", profile(8, "256KiB", "1ms"), 3, all_hosts());
  int code = -1;
  const std::string output = rehearse({"run", path, "--out", folder() / "out"}, code);
  ASSERT_EQ(code, 0) << output;

  std::ifstream lines{folder() / "out" / "results.jsonl"};
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    const json entry = json::parse(line, nullptr, false);
    ASSERT_TRUE(entry.is_object()) << line;
    EXPECT_TRUE(entry.contains("schema_version")) << line;
    ++count;
  }
  EXPECT_GT(count, 0);
  std::ifstream plan{folder() / "out" / "plan.json"};
  const json plan_json = json::parse(plan, nullptr, false);
  ASSERT_TRUE(plan_json.is_object());
  EXPECT_TRUE(plan_json.contains("schema_version"));

  // What `run` printed ends with the table that `report` makes.
  const std::string table = rehearse({"report", folder() / "out"}, code);
  EXPECT_EQ(code, 0);
  EXPECT_GT(table.size(), 200U);
  EXPECT_THAT(output, HasSubstr(table));
  const std::string as_json = rehearse({"report", folder() / "out", "--json"}, code);
  EXPECT_EQ(json::parse(as_json, nullptr, false), summary(folder() / "out"));

  rehearse({"run", path, "--out", folder() / "out"}, code);
  EXPECT_EQ(code, 64) << "a folder with a report must not be written over";
}

TEST_F(Happy, EveryWayOfKeepingInStepComesToItsEnd) {
  for (const std::string mode : {"free", "phase"}) {
    const auto path =
        drill(mode, profile(8, "1MiB", "1ms"), 4, all_hosts(), "synchronisation: " + mode + "\n");
    int code = -1;
    const std::string output = rehearse({"run", path, "--out", folder() / mode}, code);
    EXPECT_EQ(code, 0) << output;
    const json report = summary(folder() / mode);
    EXPECT_EQ(report["sync"]["mode"], mode);
    EXPECT_EQ(report["jobs"][0]["iterations"]["completed"], 4);
  }
}

TEST_F(Happy, PlanSendsNothingAndItsHashIsKept) {
  const auto path = drill("plan", profile(8, "4MiB", "1ms"), 2, all_hosts());
  const std::uint64_t before = sent_by_all();
  int code = -1;
  const std::string table = rehearse({"plan", path}, code);
  ASSERT_EQ(code, 0) << table;
  const json plan = json::parse(rehearse({"plan", path, "--json"}, code), nullptr, false);
  ASSERT_TRUE(plan.is_object());
  ASSERT_TRUE(plan.contains("plan_hash"));
  const std::string hash = plan["plan_hash"];
  EXPECT_THAT(table, HasSubstr(hash.substr(0, 12)));
  EXPECT_LT(sent_by_all() - before, 20'000U) << "planning must not send";

  std::string output = rehearse(
      {"run", path, "--out", folder() / "other", "--plan-hash", std::string(64, '0')}, code);
  EXPECT_EQ(code, 3) << output;
  EXPECT_FALSE(std::filesystem::exists(folder() / "other"));
  output = rehearse({"run", path, "--out", folder() / "same", "--plan-hash", hash}, code);
  EXPECT_EQ(code, 0) << output;
}

TEST_F(Happy, AroundItsTrafficARunTakesLessThanTwoSeconds) {
  const auto path = drill("short", profile(8, "4KiB", "1us"), 1, all_hosts());
  // The best of a few: the machine may be busy with something else.
  Duration best = Duration::max();
  for (int i = 0; i < 5 && best > std::chrono::seconds{2}; ++i) {
    const Instant begin = now();
    int code = -1;
    const std::string output =
        rehearse({"run", path, "--out", folder() / ("out" + std::to_string(i))}, code);
    ASSERT_EQ(code, 0) << output;
    best = std::min<Duration>(best, now() - begin);
  }
  EXPECT_LT(to_seconds(best), 2.0);
  RecordProperty("seconds", std::to_string(to_seconds(best)));
}

TEST_F(Happy, AHostThatIsNotThereIsNamedWithThoseThatAre) {
  const auto path = drill("missing", profile(8, "4KiB", "1us"), 1, {"h1", "h9"});
  int code = -1;
  const std::string output = rehearse({"run", path, "--out", folder() / "out"}, code);
  EXPECT_EQ(code, 64) << output;
  EXPECT_THAT(output, HasSubstr("h9"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
}

}  // namespace
}  // namespace rehearsal::test
