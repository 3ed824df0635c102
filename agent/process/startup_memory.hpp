#pragma once

namespace binnacle::agent {

/// Gives back what only the start needed: free memory of the heap, and the pages of our program and libraries
/// that have been run or read so far. Nothing is lost: a page that is needed again comes back from the file
/// (a minor fault, since the page cache has it); most, such as the reading of settings and of certificates,
/// are not. About a third of a program's resident memory. Blocks: less than a millisecond.
/// Source: madvise(2) MADV_DONTNEED of a private file mapping that nobody wrote to; malloc_trim(3).
void give_back_startup_memory() noexcept;

}  // namespace binnacle::agent
