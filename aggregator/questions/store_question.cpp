#include "aggregator/questions/store_question.hpp"

#include "aggregator/store/derive.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstdint>
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

  std::size_t bytes() const noexcept {
    const std::size_t terms = plan.terms.capacity() + plan.denominator.capacity() + plan.integral.capacity();
    return sizeof(meaning) + terms * sizeof(store::plan::term) +
           plan.groups.capacity() * sizeof(std::uint16_t);
  }
};

/// The memory that all askers of a cache share. Where each node has a shape of its own with hundreds of
/// series in a family, sixty questions about it would take a gigabyte.
struct shared_memory {
  std::size_t most;
  std::size_t used = 0;
  std::unique_ptr<meaning> unkept = nullptr;  // the last one that had no room
};

/// A metric and selector with its meanings, kept from request to request: where every node has a shape of its
/// own, working them out takes longer than reading the values.
class asker {
 public:
  asker(std::string_view metric, const selector& series, const metrics::alias_table& names,
        std::shared_ptr<shared_memory> memory)
      : metric_(metric), name_(names.resolve(metric)), memory_(std::move(memory)) {
    if (series.empty()) return;
    keep_ = [series](const metrics::label_set& labels) { return series.matches(labels); };
  }

  ~asker() {
    for (const auto& [shape, m] : meanings_) memory_->used -= m->bytes();
  }
  asker(const asker&) = delete;
  asker& operator=(const asker&) = delete;

  /// The window that the name carries, unless series are selected: zero for none.
  duration window() const noexcept { return keep_ ? duration::zero() : name_.window; }

  reading ask(const store::node_view& node, instant now) {
    reading r;
    const meaning& m = meaning_at(node.cells->shared_shape(), r.looked_at);
    r.value = store::evaluate(m.plan, *node.cells, now);
    store::finish(m.plan, r.value);
    r.span = m.period;
    if (r.value.reason != absence::none) r.value.read_at = last_read(m.plan, *node.cells);
    return r;
  }

  /// Forgets what the metric meant at shapes that no node has any more.
  void sweep() {
    boost::unordered::erase_if(meanings_, [this](const auto& m) {
      const bool gone = m.second->shape.expired();
      if (gone) memory_->used -= m.second->bytes();
      return gone;
    });
    sweep_at_ = 2 * meanings_.size() + 64;
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

  const meaning& meaning_at(const std::shared_ptr<const store::shape>& shape, std::size_t& looked_at) {
    const auto at = meanings_.find(shape.get());
    if (at != meanings_.end() && !at->second->shape.expired()) return *at->second;
    if (at != meanings_.end()) {
      memory_->used -= at->second->bytes();
      meanings_.erase(at);
    }
    if (meanings_.size() >= sweep_at_) sweep();
    auto found = work_out(shape);
    looked_at = 1 + shape->of_family(name_.family).size() + found->plan.terms.size();
    if (memory_->used + found->bytes() > memory_->most) return *(memory_->unkept = std::move(found));
    memory_->used += found->bytes();
    return *(meanings_[shape.get()] = std::move(found));
  }

  std::unique_ptr<meaning> work_out(const std::shared_ptr<const store::shape>& shape) const {
    auto out = std::make_unique<meaning>();
    out->shape = shape;
    out->plan = store::compile(*shape, metric_, name_, keep_);
    for (const std::uint16_t group : out->plan.groups) {
      out->period =
          std::max<duration>(out->period, std::chrono::milliseconds(shape->groups[group].period_ms));
    }
    return out;
  }

  std::string metric_;
  metrics::resolved name_;
  store::series_filter keep_;
  const std::shared_ptr<shared_memory> memory_;
  boost::unordered_flat_map<const store::shape*, std::unique_ptr<meaning>> meanings_;
  std::size_t sweep_at_ = 64;
};

/// The askers of the metrics asked for lately.
class asker_cache {
 public:
  asker_cache(const metrics::names_in_force& names, std::size_t most_bytes)
      : names_(names), memory_(std::make_shared<shared_memory>(shared_memory{most_bytes})) {}

  std::shared_ptr<asker> of(std::string_view metric, const selector& series) {
    if (of_ != names_.table()) known_.clear();
    of_ = names_.table();
    std::pair key(std::string(metric), series.text());
    auto at = known_.find(key);
    if (at == known_.end()) {
      while (known_.size() >= most && forget_oldest()) {
      }
      auto made = std::make_shared<asker>(metric, series, *of_, memory_);
      at = known_.emplace(std::move(key), entry{std::move(made)}).first;
    }
    at->second.asked = ++times_asked_;
    std::shared_ptr<asker> out = at->second.who;
    make_room(*out);
    return out;
  }

 private:
  struct entry {
    std::shared_ptr<asker> who;
    std::uint64_t asked = 0;  // a number that grows with each question
  };

  /// Half of the memory is for the one that is asked now.
  void make_room(asker& for_whom) {
    if (memory_->used <= memory_->most / 2) return;
    for_whom.sweep();
    while (memory_->used > memory_->most / 2 && forget_oldest()) {
    }
  }
  /// Forgets the asker that nobody has asked for longest. False: each is being asked.
  bool forget_oldest() {
    auto oldest = known_.end();
    for (auto at = known_.begin(); at != known_.end(); ++at) {
      if (at->second.who.use_count() > 1) continue;
      if (oldest == known_.end() || at->second.asked < oldest->second.asked) oldest = at;
    }
    if (oldest == known_.end()) return false;
    known_.erase(oldest);
    return true;
  }

  static constexpr std::size_t most = 64;  // but for those that are being asked
  const metrics::names_in_force& names_;
  const std::shared_ptr<shared_memory> memory_;
  std::shared_ptr<const metrics::alias_table> of_;  // what known_ was made with
  std::map<std::pair<std::string, std::string>, entry> known_;
  std::uint64_t times_asked_ = 0;
};

}  // namespace

question_maker ask_store(watched_columns& windows, const metrics::names_in_force& names,
                         std::size_t most_bytes) {
  const auto cache = std::make_shared<asker_cache>(names, most_bytes);
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
