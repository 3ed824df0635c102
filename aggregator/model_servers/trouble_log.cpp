#include "aggregator/model_servers/trouble_log.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::model_servers {

trouble_log::lines trouble_log::changes(const std::vector<asker::ill>& ill, instant now) {
  lines out;
  std::size_t more = 0;
  auto well = std::exchange(told_, {});  // those that remain in it
  for (const asker::ill& one : ill) {
    told& last = told_[one.who];
    if (auto before = well.extract(one.who)) last = std::move(before.mapped());
    if (last.sentence == one.sentence) continue;
    if (!last.sentence.empty() && now - last.at < again_after) continue;
    last = {one.sentence, now};
    if (out.warnings.size() < most_at_once) {
      out.warnings.push_back(one.sentence);
    } else {
      ++more;
    }
  }
  if (more > 0)
    out.warnings.push_back(fmt::format("model servers and models: {} more have new trouble", more));
  // Some may only have been forgotten, since no node has such a model any more.
  if (well.empty()) return out;
  out.relief = told_.empty() ? "no model server that is asked has trouble any more"
                             : fmt::format(
                                   "model servers and models: {} have no trouble any more or are no "
                                   "longer asked, {} have trouble",
                                   well.size(), told_.size());
  return out;
}

}  // namespace binnacle::model_servers
