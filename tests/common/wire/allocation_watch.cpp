#include "tests/common/wire/allocation_watch.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t requests = 0, largest_request = 0;

void* allocate(std::size_t size) {
  ++requests;
  largest_request = std::max(largest_request, size);
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace binnacle::wire::test {

allocation_watch::allocation_watch() noexcept { requests = largest_request = 0; }
std::size_t allocation_watch::count() const noexcept { return requests; }
std::size_t allocation_watch::largest() const noexcept { return largest_request; }

}  // namespace binnacle::wire::test
