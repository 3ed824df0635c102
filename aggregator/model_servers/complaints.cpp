#include "aggregator/model_servers/complaints.hpp"

#include "common/text/first_few.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::model_servers {
namespace {

std::string name_of(const kube::object_reference& o) {
  return fmt::format("{} {}{}{}", o.kind, o.name_space, o.name_space.empty() ? "" : "/", o.name);
}

}  // namespace

void complaints::add(const kube::object_reference& about, std::string why, instant now) {
  complaint what{about, std::move(why)};
  auto at = all_.find(what);
  if (at == all_.end()) {
    full_ = all_.size() >= most;
    if (full_) return;
    at = all_.emplace(std::move(what), state{now, now}).first;
  }
  at->second.seen = now;
}

void complaints::end_old(instant now) {
  std::erase_if(all_, [now](const auto& one) { return now - one.second.seen >= ends_after; });
}

kube::note complaints::note_of(const complaint& what) {
  return {what.first, true, "PowerModel", "ReadPowerModel",
          fmt::format("{}: {}", name_of(what.first), what.second)};
}

std::vector<std::string> complaints::sentences(instant now) const {
  constexpr std::size_t most_sentences = 10, most_names = 3;
  std::map<std::string_view, std::vector<std::string>> by_reason;
  for (const auto& [what, c] : all_) {
    if (now - c.since >= said_after) by_reason[what.second].push_back(name_of(what.first));
  }
  std::vector<std::string> out;
  std::size_t more = 0;
  for (const auto& [why, names] : by_reason) {
    if (out.size() == most_sentences) {
      more += names.size();
    } else {
      out.push_back(fmt::format("{}: {}", first_few(names, most_names), why));
    }
  }
  if (more > 0 || full_)
    out.push_back(
        fmt::format("{}{} more objects of WAO's are not as they should be: see `kubectl get events -A`",
                    full_ ? "more than " : "", more));
  return out;
}

}  // namespace binnacle::model_servers
