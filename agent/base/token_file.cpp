#include "agent/base/token_file.hpp"

#include "agent/kernel/kernel_file.hpp"
#include "common/text/text.hpp"
#include "common/wire/limits.hpp"

#include <algorithm>
#include <vector>

namespace binnacle::agent {

result<std::string> read_token(const std::string& path) {
  std::vector<char> buffer;
  const auto text = kernel_file(path).read(buffer, wire::max_credential + 16);  // with line ends
  if (!text) return text.error();
  const auto all = trimmed(*text);
  std::string token(all.substr(0, all.find_first_of(" \t\r\n")));
  std::ranges::fill(buffer, '\0');
  if (token.empty()) return error{errc::invalid_input, path + ": the file of the token is empty"};
  return token;
}

}  // namespace binnacle::agent
