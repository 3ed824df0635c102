#include "aggregator/sender/gzip.hpp"

#include <new>
#include <zlib.h>

namespace binnacle::sender {

std::string gzip(std::string_view plain) {
  // 15 bits of window, the most; 16 more ask for gzip's header instead of zlib's. 8 is zlib's own default.
  constexpr int window_bits = 15 + 16, memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();  // its only other errors are wrong arguments
  std::string out(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // the bound is enough for all of it
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace binnacle::sender
