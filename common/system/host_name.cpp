#include "common/system/host_name.hpp"

#include <array>
#include <unistd.h>

namespace binnacle {

std::string host_name() {
  std::array<char, 256> name{};  // POSIX allows 255 bytes; the last one stays zero
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : std::string();
}

}  // namespace binnacle
