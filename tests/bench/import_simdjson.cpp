// import-simdjson: reading a Kineto trace as the importer does, beside simdjson's DOM parser
// reading the same bytes and nothing else. `import_simdjson [ROUNDS] [TRACE.json[.gz]]`; without a
// trace one of about 20 MB is made. Prints one JSON line.
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/import/inflate.hpp"
#include "core/import/kineto.hpp"

namespace {

using namespace rehearsal;

constexpr std::size_t kMadeBytes = 20'000'000;

/// One iteration with the mix of events of a real trace: for each kernel its launch, the flow
/// between them and a few host ops with their shapes; now and then a collective.
std::string made_trace() {
  std::string json =
      "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, "
      "\"world_size\": 8},\n\"traceEvents\": [\n"
      "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 7, "
      "\"tid\": 7, "
      "\"ts\": 1694128201000000, \"dur\": 900000000, \"args\": {\"External id\": 1}}";
  char line[1024];
  for (int i = 1; json.size() < kMadeBytes; ++i) {
    const long ts = 1694128201000000L + 20L * i;
    const bool collective = i % 50 == 0;
    for (int k = 0; k < 4; ++k) {
      std::snprintf(
          line, sizeof line,
          ",\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::addmm\", \"pid\": 7, \"tid\": "
          "7, "
          "\"ts\": %ld, \"dur\": 9, \"args\": {\"External id\": %d, \"Ev Idx\": %d, \"Input "
          "Dims\": "
          "[[512], [2048, 1024], [1024, 512], [], []], \"Input type\": [\"float\", \"float\", "
          "\"float\", \"Scalar\", \"Scalar\"]}}",
          ts + k, 4 * i + k, 4 * i + k);
      json += line;
    }
    if (collective) {
      std::snprintf(
          line, sizeof line,
          ",\n{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"nccl:all_reduce\", "
          "\"pid\": 7, "
          "\"tid\": 7, \"ts\": %ld, \"dur\": 9, \"args\": {\"External id\": %d, \"Input Dims\": "
          "[[394241]], \"Input type\": [\"float\"]}}",
          ts, i);
      json += line;
    }
    std::snprintf(
        line, sizeof line,
        ",\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7, "
        "\"tid\": 7, \"ts\": %ld, \"dur\": 5, \"args\": {\"External id\": %d, \"cbid\": 211, "
        "\"correlation\": %d}}"
        ",\n{\"ph\": \"s\", \"id\": %d, \"pid\": 7, \"tid\": 7, \"ts\": %ld, \"cat\": \"ac2g\", "
        "\"name\": \"ac2g\"}"
        ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s(void*, unsigned long)\", \"pid\": "
        "0, "
        "\"tid\": 7, \"ts\": %ld, \"dur\": 12, \"args\": {\"External id\": %d, \"queued\": 0, "
        "\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d, \"registers per "
        "thread\": 96, \"shared memory\": 41760, \"grid\": [8, 1, 1], \"block\": [640, 1, 1]}}",
        ts + 2, i, i, i, ts + 2, collective ? "ncclKernel_AllReduce_RING_LL_Sum_float" : "gemm",
        ts + 6, i, i);
    json += line;
  }
  return json + "\n]}\n";
}

std::string read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  if (!importer::is_gzip(bytes)) return bytes;
  return importer::gunzip(path, bytes, importer::kFileBytesMax).value_or(std::string());
}

template <typename Work>
double megabytes_per_second(std::size_t bytes, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(bytes) / 1e6 / took.count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  int rounds = 7;
  std::string path;
  for (int i = 1; i < count; ++i) {
    const int number = std::atoi(arguments[i]);
    if (number > 0) {
      rounds = number;
    } else {
      path = arguments[i];
    }
  }
  const std::string json = path.empty() ? made_trace() : read_trace(path);
  std::vector<double> ours;
  std::vector<double> peer;
  for (int round = 0; round < rounds + 1; ++round) {
    bool good = true;
    const double read = megabytes_per_second(json.size(), [&] {
      const auto iteration = importer::read_kineto("rank0.json", json);
      if (!iteration) std::fprintf(stderr, "%s\n", iteration.error().text().c_str());
      good = iteration.has_value();
    });
    const double parsed = megabytes_per_second(json.size(), [&] {
      simdjson::dom::parser parser;
      good = good && parser.parse(json.data(), json.size()).error() == simdjson::SUCCESS;
    });
    if (!good) return 1;
    if (round == 0) continue;  // warms caches and memory up
    ours.push_back(read);
    peer.push_back(parsed);
  }
  std::printf(
      "{\"name\":\"import-simdjson\",\"ours\":%.1f,\"peer\":%.1f,\"unit\":\"MB/s\",\"ratio\":%.3f,"
      "\"rounds\":%d}\n",
      median(ours), median(peer), median(ours) / median(peer), rounds);
  return 0;
}
