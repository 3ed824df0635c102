#pragma once

/// The first line of a fuzz target, within the namespace `fuzz_<name>` of its file: `FUZZ_TARGET(const
/// std::uint8_t* data, std::size_t size) {`. libFuzzer calls the one function with its C name. The program
/// that replays the seeds of all targets calls each target through its namespace.
#ifdef BINNACLE_FUZZ_TARGETS
#define FUZZ_TARGET int target
#else
#define FUZZ_TARGET extern "C" int LLVMFuzzerTestOneInput
#endif
