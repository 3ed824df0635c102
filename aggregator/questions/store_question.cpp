#include "aggregator/questions/store_question.hpp"

#include "aggregator/store/derive.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace binnacle::questions {
namespace {

/// What the metric means at nodes of one shape.
struct meaning {
  std::weak_ptr<const store::shape> shape;  // expired: another may have its address by now
  store::plan plan;
  duration period{};  // of the slowest group that it reads
};

/// A metric and selector with its meanings, kept from request to request: where every node has a shape of its
/// own, working them out takes longer than reading the values.
class asker {
 public:
  asker(std::string_view metric, const selector& series, const metrics::alias_table& names)
      : metric_(metric), name_(names.resolve(metric)) {
    if (series.empty()) return;
    keep_ = [series](const metrics::label_set& labels) {
      return series.matches([&](std::string_view key) {
        const auto at =
            std::find_if(labels.begin(), labels.end(), [&](const auto& l) { return l.first == key; });
        return at == labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
      });
    };
  }

  /// The window that the name carries, unless series are selected: zero for none.
  duration window() const noexcept { return keep_ ? duration::zero() : name_.window; }

  reading ask(const store::node_view& node, instant now) {
    const meaning& m = meaning_at(node.cells->shared_shape());
    reading r;
    r.value = store::evaluate(m.plan, *node.cells, now);
    store::finish(m.plan, r.value);
    r.span = m.period;
    if (r.value.reason != absence::none) r.value.read_at = last_read(m.plan, *node.cells);
    return r;
  }

 private:
  /// When the oldest of the plan's groups was last read; the epoch if one never was.
  static instant last_read(const store::plan& plan, const store::row& cells) noexcept {
    instant oldest{};
    for (const std::uint16_t group : plan.groups) {
      const instant at = cells.read_at(group);
      if (group == plan.groups.front() || at < oldest) oldest = at;
    }
    return oldest;
  }

  const meaning& meaning_at(const std::shared_ptr<const store::shape>& shape) {
    if (meanings_.size() >= sweep_at_) {
      boost::unordered::erase_if(meanings_, [](const auto& m) { return m.second->shape.expired(); });
      sweep_at_ = 2 * meanings_.size() + 64;
    }
    auto& found = meanings_[shape.get()];
    if (found == nullptr || found->shape.expired()) {
      found = std::make_unique<meaning>();
      found->shape = shape;
      found->plan = store::compile(*shape, metric_, name_, keep_);
      for (const std::uint16_t group : found->plan.groups) {
        found->period =
            std::max<duration>(found->period, std::chrono::milliseconds(shape->groups[group].period_ms));
      }
    }
    return *found;
  }

  std::string metric_;
  metrics::resolved name_;
  store::series_filter keep_;
  boost::unordered_flat_map<const store::shape*, std::unique_ptr<meaning>> meanings_;
  std::size_t sweep_at_ = 64;
};

/// The askers of the metrics asked for lately.
class asker_cache {
 public:
  explicit asker_cache(const metrics::names_in_force& names) : names_(names) {}

  std::shared_ptr<asker> of(std::string_view metric, const selector& series) {
    if (of_ != names_.table()) known_.clear();
    of_ = names_.table();
    std::pair key(std::string(metric), series.text());
    const auto at = known_.find(key);
    if (at != known_.end()) return at->second;
    if (known_.size() >= most) known_.clear();
    return known_.emplace(std::move(key), std::make_shared<asker>(metric, series, *of_)).first->second;
  }

 private:
  static constexpr std::size_t most = 64;
  const metrics::names_in_force& names_;
  std::shared_ptr<const metrics::alias_table> of_;  // what known_ was made with
  std::map<std::pair<std::string, std::string>, std::shared_ptr<asker>> known_;
};

}  // namespace

question_maker ask_store(watched_columns& windows, const metrics::names_in_force& names) {
  const auto cache = std::make_shared<asker_cache>(names);
  return [&windows, cache](std::string_view metric, const selector& series) -> question {
    const auto about = cache->of(metric, series);
    if (about->window() == duration::zero()) {
      return [about](const store::node_view& node, instant now) {
        return node.cells == nullptr ? reading() : about->ask(node, now);
      };
    }
    const store::column_spec spec{std::string(metric), {}, store::statistic::avg};
    return [about, spec, &windows, looked = false, column = std::shared_ptr<const store::shared_column>()](
               const store::node_view& node, instant now) mutable {
      if (node.cells == nullptr) return reading();
      if (!looked) column = windows.get(spec, now);
      looked = true;
      return column == nullptr ? about->ask(node, now) : reading{column->load(node.id), about->window()};
    };
  };
}

}  // namespace binnacle::questions
