#include "aggregator/callers/named.hpp"

#include "aggregator/callers/attributes.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::callers {

http::guard named_only(std::vector<std::string> names, http::guard others,
                       std::function<http::response(std::string_view sentence)> how) {
  if (names.empty()) return others;
  return [names = std::move(names), others = std::move(others), how = std::move(how)](
             const http::request& r, http::guard_answer then) {
    const auto is_named = [&](const std::string& name) {
      return std::ranges::find(names, name) != names.end();
    };
    const bool strange =
        r.peer && !is_named(r.peer->common_name) && std::ranges::none_of(r.peer->dns_names, is_named);
    if (strange && !open_to_all(r))
      return then({how("the certificate of " + in_quotes(r.peer->common_name) + " is not for this port")});
    if (others) return others(r, std::move(then));
    then({});
  };
}

}  // namespace binnacle::callers
