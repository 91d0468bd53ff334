// main for fuzz targets where libFuzzer is not there: `fuzz_x FOLDER [SEED]` runs every file of the
// folder, then about a second of random changes to them. A failing run is repeated with its seed.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using rehearsal::Random;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::string> inputs = {std::string()};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    inputs.push_back(bytes.str());
  }
  return inputs;
}

void change_once(std::string& input, const std::vector<std::string>& corpus, Random& random) {
  if (input.empty()) {
    input = corpus[random.below(corpus.size())];
    return;
  }
  const std::size_t at = random.below(input.size());
  const std::size_t count = random.between(1, std::min<std::size_t>(16, input.size() - at));
  switch (random.below(6)) {
    case 0:
      input[at] = static_cast<char>(input[at] ^ (1 << random.below(8)));
      break;
    case 1:
      input[at] = static_cast<char>(random.next());
      break;
    case 2:
      input.erase(at, count);
      break;
    case 3:
      input.insert(at, input.substr(random.below(input.size()), count));
      break;
    case 4:
      input.resize(at);
      break;
    default: {
      const std::string& other = corpus[random.below(corpus.size())];
      if (!other.empty()) input.insert(at, other, random.below(other.size()), 64);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER [SEED]\n", arguments[0]);
    return 64;
  }
  const std::uint64_t seed =
      count > 2 ? std::strtoull(arguments[2], nullptr, 10) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const std::vector<std::string> corpus = read_corpus(arguments[1]);
  for (const std::string& input : corpus) run(input);

  Random random(seed);
  std::uint64_t runs = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{1};
  while (std::chrono::steady_clock::now() < end) {
    std::string input = corpus[random.below(corpus.size())];
    for (std::uint64_t changes = random.between(1, 8); changes > 0; --changes) {
      change_once(input, corpus, random);
    }
    run(input);
    ++runs;
  }
  std::printf("%zu inputs of the corpus, %llu changed ones\n", corpus.size() - 1,
              static_cast<unsigned long long>(runs));
  return 0;
}
