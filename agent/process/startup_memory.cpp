#include "agent/process/startup_memory.hpp"

#include <cstdint>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace binnacle::agent {
namespace {

// Gives back the segments of one loaded object that hold only the file's contents. A writable segment holds
// data of ours, even if the linker made it read-only after relocation, so it is left out.
int give_back_object(dl_phdr_info* object, std::size_t, void*) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) / page * page;
    const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    // It fails for a locked mapping. The pages then just stay.
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void give_back_startup_memory() noexcept {
  ::malloc_trim(0);
  ::dl_iterate_phdr(give_back_object, nullptr);
}

}  // namespace binnacle::agent
