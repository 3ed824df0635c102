#pragma once

/// The head of a fuzz target, within the namespace `fuzz_<name>` of its file: `FUZZ_TARGET(const
/// std::uint8_t* data, std::size_t size) {`. libFuzzer knows one function by its C name. The program that
/// replays all targets' seeds calls each by its namespace.
#ifdef BINNACLE_FUZZ_TARGETS
#define FUZZ_TARGET int target
#else
#define FUZZ_TARGET extern "C" int LLVMFuzzerTestOneInput
#endif
