#pragma once

// Must be included before any other header of Cap'n Proto. For this room and aggregator/snapshot only.
#include <capnp/common.h>
#include <kj/string.h>

// capnp/blob.h of 0.9 compares a const char* with a kj::StringPtr and relies on C++20 to swap the operands.
// Since P2468 (clang 16, gcc 13) a compiler may not swap them if there is also an operator!=. So these
// operators must be defined here.
#if CAPNP_VERSION < 10000 && \
    ((defined(__clang__) && __clang_major__ >= 16) || (!defined(__clang__) && __GNUC__ >= 13))
namespace kj {
inline bool operator==(const char* a, const StringPtr& b) { return b == StringPtr(a); }
inline bool operator!=(const char* a, const StringPtr& b) { return !(b == StringPtr(a)); }
}  // namespace kj
#endif
