#pragma once

#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>

namespace binnacle::agent {

/// Touches `count` pages of memory for the first time. Each causes a page fault of its own: the memory is
/// new, and no part of it is in a huge page, one fault of which brings many pages (madvise(2),
/// MADV_NOHUGEPAGE). False if there is no memory.
inline bool touch_pages(std::size_t count) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  // It fails on a kernel without huge pages.
  ::madvise(memory, count * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < count; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, count * page);
  return true;
}

}  // namespace binnacle::agent
