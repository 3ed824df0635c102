#include "agent/sources/scrape/scrape_kind.hpp"

#include "agent/sources/scrape/scrape_source.hpp"
#include "common/system/read_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_file_bytes = 1u << 20;

}  // namespace

void scrape_kind::bind(config_spec& spec) {
  spec.group("scrape: exporters on this node");
  add_period(spec, name(), period_);
  spec.add("scrape", addresses_,
           "addresses of exporters on this node, such as http://127.0.0.1:9400/metrics");
  spec.add("scrape-metrics", metrics_,
           "names of metrics to take from them, * allowed; none: all but histograms' buckets");
  spec.add("scrape-file", file_,
           "YAML file with more exporters, each with its own settings (agent/README.md)");
}

result<void> scrape_kind::complete(const settings& s) {
  targets_.clear();
  if (!wanted(s)) return {};
  const auto period = s.period_of(period_);
  for (const auto& url : addresses_) {
    auto target = parse_target(url);
    if (!target) return invalid("scrape: " + target.error().message);
    if (target->secure)
      return invalid(
          fmt::format("scrape: {} needs a CA to be verified with: name it and the CA in scrape-file", url));
    target->period = period;
    target->timeout = std::min(target->timeout, period);
    target->metrics = metrics_;
    targets_.push_back(*std::move(target));
  }
  if (!file_.empty()) {
    const auto text = read_file(file_, most_file_bytes);
    if (!text)
      return error{text.error().code, fmt::format("scrape-file {}: {}", file_, text.error().message)};
    auto more = parse_targets(*text, file_, period);
    if (!more) return more.error();
    std::move(more->begin(), more->end(), std::back_inserter(targets_));
  }
  return check_targets(targets_);
}

void scrape_kind::add_needs(const settings& /*s*/, source_needs& needs) const {
  for (const auto& t : targets_) {
    for (const auto* one : {&t.pem.authority, &t.pem.certificate, &t.pem.key, &t.token_file}) {
      if (!one->empty()) needs.files.push_back(*one);
    }
  }
}

std::unique_ptr<source> scrape_kind::make(const settings& s, const source_parts& with) const {
  if (targets_.empty()) return nullptr;
  return std::make_unique<scrape_source>(scrape_options{targets_, s.period_of(period_), with.names});
}

std::vector<finding> scrape_kind::why_not_made() const {
  return {{finding::grade::absent, "exporters of this node", "none is named",
           "name them with scrape or scrape-file, if you want any of their numbers"}};
}

}  // namespace binnacle::agent
