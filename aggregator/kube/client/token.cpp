#include "aggregator/kube/client/token.hpp"

#include <algorithm>

namespace binnacle::kube {

result<void> token_cache::took(std::string token, instant fresh_until) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!token.empty() && blank(token.back())) token.pop_back();
  token.erase(token.begin(), std::find_if_not(token.begin(), token.end(), blank));
  if (token.empty()) return error{errc::invalid_input, "the token is empty"};
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; }))
    return error{errc::invalid_input, "the token has characters that no token has"};
  value_ = std::move(token);
  fresh_until_ = fresh_until;
  return {};
}

}  // namespace binnacle::kube
