#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

int run(const std::string& input) {
  // A copy of exactly this size, so that a sanitizer sees a read past the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  return LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

/// Gives a fuzz target the empty input, every file of the folders named, and each of them cut in half: what a
/// fuzzer found once stays found in builds without one. A folder that is missing or empty is a failure: then
/// nothing is tested.
int main(int argc, char** argv) {
  run({});
  for (int i = 1; i < argc; ++i) {
    std::error_code missing;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i], missing)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    if (files.empty()) {
      std::fprintf(stderr, "replay: no seeds in %s\n", argv[i]);
      return 1;
    }
    std::ranges::sort(files);
    for (const auto& path : files) {
      std::fprintf(stderr, "replay: %s\n", path.c_str());  // the last line before a crash names the input
      std::ifstream file(path, std::ios::binary);
      const std::string input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      run(input);
      run(input.substr(0, input.size() / 2));
    }
  }
  return 0;
}
