#include "agent/sources/scrape/target.hpp"

#include "common/metrics/families.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_targets = 32;

}  // namespace

std::string scrape_target::url() const {
  return fmt::format("{}://{}{}", secure ? "https" : "http", to_string(at), path);
}

duration scrape_target::longest_age() const noexcept {
  return stale_after > duration::zero() ? stale_after : metrics::stale_after(period);
}

result<scrape_target> parse_target(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    return error{errc::invalid_input,
                 fmt::format("\"{}\" {}: use http://HOST:PORT/metrics or https://HOST:PORT/metrics",
                             url.substr(0, 200), why)};
  };
  scrape_target out;
  const auto [scheme, authority, rest] = split_url(url);
  if (scheme != "http" && scheme != "https") return wrong("is not an address of an exporter");
  if (!may_stand_in_url(url)) return wrong("has a character that an address cannot have");
  out.secure = scheme == "https";
  // Refuse a password in an address, because it would be in every message about the address.
  if (authority.find('@') != authority.npos)
    return error{errc::invalid_input,
                 "an exporter's address holds a user or password: give token-file in scrape-file instead"};
  const auto at = read_endpoint(authority, out.secure ? 443 : 80);
  if (!at) return wrong("has no host and port");
  out.at = *at;
  out.path = rest;
  if (const auto fragment = out.path.find('#'); fragment != out.path.npos) out.path.resize(fragment);
  if (out.path.empty()) out.path = "/metrics";
  if (out.path.front() != '/') out.path.insert(0, "/");
  out.name = to_string(out.at);
  if (out.path != "/metrics") out.name += out.path;
  return out;
}

result<void> check_targets(const std::vector<scrape_target>& all) {
  if (all.size() > most_targets) {
    return error{errc::invalid_input, fmt::format("{} exporters are named, {} at most are read: name fewer",
                                                  all.size(), most_targets)};
  }
  for (const auto& one : all) {
    const auto same = [&](const scrape_target& other) { return other.name == one.name; };
    if (std::count_if(all.begin(), all.end(), same) > 1) {
      return error{
          errc::invalid_input,
          fmt::format("two exporters are named {}: give one of them another name in scrape-file", one.name)};
    }
  }
  return {};
}

}  // namespace binnacle::agent
