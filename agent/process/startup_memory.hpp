#pragma once

namespace binnacle::agent {

/// Gives back memory that only the start needed: free memory of the heap, and the pages of our program and
/// libraries that have been used so far. That is about a third of a program's resident memory. Nothing is
/// lost: a page that is needed again comes back from the file by a minor fault, because the page cache has
/// it. Most pages, such as the code that reads settings and certificates, are not needed again. Blocks: less
/// than a millisecond.
/// Source: madvise(2) MADV_DONTNEED of a private file mapping that nobody wrote to; malloc_trim(3).
void give_back_startup_memory() noexcept;

}  // namespace binnacle::agent
