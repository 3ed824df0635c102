#include "agent/ipmi/protocol/line_buffer.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "tests/fuzz/target.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz_ipmi_protocol {

/// Lines that the agent or the helper may receive. A line that is accepted means the same after it was
/// written and read again. A line that is not accepted is refused with a sentence.
namespace {

using namespace binnacle;

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

template <class Decode>
void try_line(std::string_view line, Decode decode) {
  const auto read = decode(line);
  if (!read) {
    demand(!read.error().message.empty() && read.error().message.size() < 1'000,
           "an error without a fair sentence");
    return;
  }
  const auto said = ipmi::encode(*read);
  demand(said.size() <= ipmi::max_line + 1 && said.back() == '\n', "what was written is no line");
  const auto again = decode(std::string_view(said).substr(0, said.size() - 1));
  demand(again.has_value(), "what was written cannot be read");
  demand(ipmi::encode(*again) == said, "read back differently");
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  ipmi::line_buffer buffer;
  buffer.append({reinterpret_cast<const char*>(data), size});
  for (;;) {
    const auto line = buffer.next();
    if (!line || !*line) return 0;
    try_line(**line, ipmi::decode_from_helper);
    try_line(**line, ipmi::decode_from_agent);
  }
}

}  // namespace fuzz_ipmi_protocol
