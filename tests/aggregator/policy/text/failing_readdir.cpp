#include "tests/aggregator/policy/text/failing_readdir.hpp"

#include <cerrno>
#include <dirent.h>
#include <dlfcn.h>

namespace {

int failing_with = 0;  // 0: readdir() works as in libc

}  // namespace

// This definition takes the place of the one in libc.
dirent* readdir(DIR* dir) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (failing_with == 0) return real(dir);
  errno = failing_with;
  return nullptr;
}

namespace binnacle::policy::test {

failing_readdir::failing_readdir(int error_number) { failing_with = error_number; }
failing_readdir::~failing_readdir() { failing_with = 0; }

}  // namespace binnacle::policy::test
