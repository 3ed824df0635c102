#include "aggregator/model_servers/allowed.hpp"

#include "common/text/endpoint.hpp"
#include "common/text/text.hpp"

#include <algorithm>

namespace binnacle::model_servers {

result<allowed_servers> allowed_servers::read(const std::vector<std::string>& list) {
  allowed_servers out;
  for (const std::string& text : list) {
    const bool any_below = text.starts_with("*.");
    const auto at = read_endpoint(any_below ? std::string_view(text).substr(2) : std::string_view(text), 0);
    if (!at || at->host.find('*') != at->host.npos)
      return error{
          errc::invalid_input,
          in_quotes(text) + " is no server: write HOST, HOST:PORT, or *.SUFFIX for all names below it"};
    out.all_.push_back({any_below ? '.' + at->host : at->host, at->port});
  }
  return out;
}

bool allowed_servers::allow(std::string_view host, std::uint16_t port) const noexcept {
  return std::ranges::any_of(all_, [&](const one& o) {
    const bool named =
        o.host.starts_with('.') ? host.size() > o.host.size() && host.ends_with(o.host) : host == o.host;
    return named && (o.port == 0 || o.port == port);
  });
}

}  // namespace binnacle::model_servers
