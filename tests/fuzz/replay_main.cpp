#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// BINNACLE_FUZZ_TARGETS(each), from meson.build, lists the targets: each(name) for every file
// fuzz_<name>.cpp.
#define DECLARE(name)                                       \
  namespace fuzz_##name {                                   \
    int target(const std::uint8_t* data, std::size_t size); \
  }
BINNACLE_FUZZ_TARGETS(DECLARE)
#undef DECLARE

namespace {

using target = int (*)(const std::uint8_t*, std::size_t);

/// Returns null if there is no such target.
target find_target(std::string_view wanted) {
#define FIND(name) \
  if (wanted == #name) return fuzz_##name::target;
  BINNACLE_FUZZ_TARGETS(FIND)
#undef FIND
  return nullptr;
}

void run(target fuzz, const std::string& input) {
  // A copy of exactly this size, so that a sanitizer sees a read past the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  fuzz(bytes.data(), bytes.size());
}

}  // namespace

/// Arguments: a target's name, and folders. Runs the target with the empty input, with every file of the
/// folders, and with each file cut in half. So builds without a fuzzer still test what a fuzzer once found.
/// It fails if the target is unknown or a folder is missing or empty: nothing would be tested.
int main(int argc, char** argv) {
  const target fuzz = find_target(argc > 1 ? argv[1] : "");
  if (fuzz == nullptr) {
    std::fprintf(stderr,
                 "replay: the first argument is the name of a fuzz target: quantity for fuzz_quantity.cpp\n");
    return 2;
  }
  run(fuzz, {});
  for (int i = 2; i < argc; ++i) {
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
      run(fuzz, input);
      run(fuzz, input.substr(0, input.size() / 2));
    }
  }
  return 0;
}
