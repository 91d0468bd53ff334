// Runs a fuzz target over files that are known, where there is no libFuzzer: all files of the
// folders given, each also cut short and with single bytes changed.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// Of each file so many cuts and changes, spread evenly over it.
constexpr std::size_t kVariants = 64;

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

void run_with_variants(const std::string& bytes) {
  run(bytes);
  const std::size_t stride = bytes.size() / kVariants + 1;
  for (std::size_t at = 0; at < bytes.size(); at += stride) {
    run(bytes.substr(0, at));
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    run(changed);
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::size_t files = 0;
  run("");
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(arguments[i])) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{arguments[i]}) {
      if (!entry.is_regular_file()) continue;
      std::ifstream stream{entry.path(), std::ios::binary};
      run_with_variants({std::istreambuf_iterator<char>{stream}, {}});
      ++files;
    }
  }
  std::printf("%zu files of the corpus, each in about %zu variants\n", files, 2 * kVariants + 1);
  return 0;
}
