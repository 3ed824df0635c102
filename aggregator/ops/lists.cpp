#include "aggregator/ops/lists.hpp"

#include "aggregator/decision/search.hpp"
#include "aggregator/ops/json_pieces.hpp"
#include "aggregator/ops/listed_families.hpp"
#include "aggregator/ops/own_metrics_text.hpp"
#include "aggregator/ops/policy_nodes.hpp"
#include "aggregator/ops/power_json.hpp"
#include "aggregator/ops/units.hpp"
#include "aggregator/store/walk.hpp"
#include "common/exposition/exposition.hpp"
#include "common/exposition/target_labels.hpp"
#include "common/metrics/families.hpp"
#include "common/shortest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace binnacle::ops {
namespace {

// About a millisecond each.
constexpr std::size_t looks_per_slice = 250'000;  // at candidates
constexpr std::size_t values_per_slice = 500;     // of decisions, with their sentences

class json_list final : public http::slices {
 public:
  json_list(const policy::view& nodes, fleet_query q, std::size_t most)
      : nodes_(nodes),
        query_(std::move(q)),
        most_(most),
        verdicts_(nodes.policies(), bytes_for_verdicts(std::min(query_.limit, nodes.nodes().size()))),
        work_of_a_node_(8 + query_.metrics.size() / 4 + verdicts_.work()),
        place_(nodes) {
    json_writer& out = answer_.out();
    out.begin_object().field("time", query_.time).key("metrics").begin_array();
    for (const auto& m : query_.metrics)
      out.begin_object().field("name", m.name).field("unit", unit_of(m.name)).end_object();
    out.end_array().key("nodes").begin_array();
  }

  bool step() override {
    if (!has_room()) return false;
    std::size_t work = 0;
    const bool more = place_.go_on([&](const store::node_view& node) {
      const std::size_t looked_at =
          write_node(answer_.out(), node, query_.metrics, verdicts_, model_of(nodes_, node.id), query_.now);
      ++listed_;
      work += work_of_a_node_ + looked_at / series_of_a_verdict;
      return work < work_per_slice && has_room();
    });
    answer_.end_slice();
    return more;
  }

  http::response take() override {
    const std::size_t total = nodes_.nodes().size();
    json_writer& out = answer_.out();
    // Nodes that were listed may have been forgotten since.
    out.end_array().field("total", total).field("omitted", total - std::min(total, listed_));
    if (verdicts_.left_out() > 0) out.field("strategiesOmitted", verdicts_.left_out());
    out.end_object();
    return answer_.take();
  }

 private:
  static constexpr std::size_t work_per_slice = 1'800;   // in verdicts: 200 nodes with one policy
  static constexpr std::size_t series_of_a_verdict = 3;  // to look at them takes as long as to write one

  /// Three quarters of the answer may be verdicts, so that they leave out no node.
  std::size_t bytes_for_verdicts(std::size_t listed) const {
    return most_ / 4 * 3 / std::max<std::size_t>(listed, 1);
  }
  bool has_room() const { return listed_ < query_.limit && answer_.bytes() <= most_; }

  const policy::view& nodes_;
  const fleet_query query_;
  const std::size_t most_;
  const verdict_writer verdicts_;
  const std::size_t work_of_a_node_;
  store::walk place_;
  json_pieces answer_;
  std::size_t listed_ = 0;
};

/// Each once, our own in front, else by name.
std::vector<std::string> own_first(std::vector<std::string> families) {
  std::ranges::sort(families);
  families.erase(std::unique(families.begin(), families.end()), families.end());
  std::stable_partition(families.begin(), families.end(),
                        [](const std::string& name) { return metrics::find(name) != nullptr; });
  return families;
}

class exposition_list final : public http::slices {
 public:
  exposition_list(const store::view& nodes, std::vector<std::string> families, instant now, std::size_t most)
      : families_(own_first(std::move(families))), place_(nodes), now_(now), most_(most) {
    if (families_.empty()) choice_.emplace(nodes);
  }

  bool step() override {
    if (choice_) return choose();
    if (at_ == families_.size()) return false;
    for (std::size_t work = 0; work + out_.bytes() < work_per_slice;) {
      if (!left_.empty()) {
        work += add_next();
        continue;
      }
      const store::node_view* node = place_.next();
      if (node == nullptr) {
        ++at_;
        begun_ = false;
        place_.restart();
        break;
      }
      open(*node);
      work += work_of_a_visit;
    }
    std::string piece = out_.take();
    bytes_ += piece.size();
    if (!piece.empty()) pieces_.push_back(std::move(piece));
    if (bytes_ <= most_) return true;
    pieces_.push_back(
        "# cut off: the fleet has more than fits here; ask for single families with ?family=NAME\n");
    return false;
  }

  http::response take() override {
    http::response a;
    a.content_type = std::string(exposition::writer::content_type);
    a.body = std::move(pieces_);
    return a;
  }

 private:
  /// The families come first, because the text format wants all series of a family together.
  bool choose() {
    if (choice_->step()) return true;
    if (choice_->some_left_out())
      pieces_.push_back(
          fmt::format("# more than {} families of exporters: those beyond are left out; ask for them with "
                      "?family=NAME\n",
                      listed_families::most_foreign));
    families_ = choice_->take();
    choice_.reset();
    return true;
  }

  void open(const store::node_view& node) {
    if (node.cells == nullptr) return;
    left_ = node.cells->series().of_family(families_[at_]);
    if (left_.empty()) return;
    name_ = node.name;
    cells_ = node.cells;
  }

  /// Writes the open node's next series, if it has a value. Returns what that takes beside the bytes.
  std::size_t add_next() {
    const std::uint32_t i = left_.front();
    left_ = left_.subspan(1);
    const store::sample s = cells_->load(i);
    if (!s.present(now_)) return work_of_a_look;
    const auto& series = cells_->series().all[i];
    const std::string& family = families_[at_];
    const metrics::family* known = metrics::find(family);
    if (!begun_) {
      out_.begin(family, series.type, known != nullptr ? known->help : std::string_view(series.help));
      begun_ = true;
    }
    out_.add(exposition::with_target({{"node", name_}}, series.labels),
             known != nullptr ? s.value : shortest(s.value));
    return work_of_a_line;
  }

  // What takes as long as to write so many bytes.
  static constexpr std::size_t work_per_slice = 64u << 10;  // some 400 lines of a few labels
  static constexpr std::size_t work_of_a_visit = 32;
  static constexpr std::size_t work_of_a_look = 4;
  static constexpr std::size_t work_of_a_line = 40;

  std::vector<std::string> families_;      // our own first: they are there if the page is cut off
  std::size_t at_ = 0;                     // in families_
  bool begun_ = false;                     // the family's HELP and TYPE are written
  std::optional<listed_families> choice_;  // until the families are chosen; none: they were given
  store::walk place_;
  // The node whose series are being written, in several slices if they are many. It keeps the catalog that it
  // had: no series comes twice if it announces another one meanwhile, and its text ends if it is forgotten.
  std::string name_;
  std::shared_ptr<const store::row> cells_;
  std::span<const std::uint32_t> left_;  // its series of the family, still to write
  instant now_;
  std::size_t most_;
  exposition::writer out_;
  std::vector<std::string> pieces_;
  std::size_t bytes_ = 0;
};

class own_list final : public http::slices {
 public:
  own_list(std::vector<own_sample> own, const policy::view& nodes,
           std::vector<policy::strategy_status> strategies)
      : of_policies_(nodes, std::move(strategies)) {
    text_.add(std::move(own));
  }

  bool step() override {
    if (gathered_) return text_.write(samples_per_slice);
    std::vector<own_sample> more;
    gathered_ = !of_policies_.go_on(verdicts_per_slice, more);
    text_.add(std::move(more));
    return true;
  }

  http::response take() override {
    http::response a;
    a.content_type = std::string(exposition::writer::content_type);
    a.body = text_.take();
    return a;
  }

 private:
  static constexpr std::size_t verdicts_per_slice = 50'000;
  static constexpr std::size_t samples_per_slice = 1'000;

  policy_samples of_policies_;
  bool gathered_ = false;
  own_text text_;
};

class decisions_in_slices final : public http::slices {
 public:
  decisions_in_slices(const decision::ring& decisions, const decision::query& q,
                      decision::explain_options how, std::size_t most)
      : decisions_(decisions), how_(std::move(how)), most_(most), search_(decisions, q) {
    answer_.out().begin_object().key("decisions").begin_array();
  }

  bool step() override {
    if (!searched_) {
      searched_ = !search_.go_on(looks_per_slice);
      return true;
    }
    std::size_t room = values_per_slice;
    if (!open_ && !begin_next(room)) return false;
    const decision::record* r = decisions_.at(search_.found()[at_]);  // new decisions may have moved it
    if (r != nullptr) (void)open_->write_nodes(*r, decisions_.names(), room);
    answer_.end_slice();
    if (r != nullptr && !open_->complete() && has_room()) return true;
    open_->end();
    open_.reset();
    ++at_;
    return true;
  }

  http::response take() override {
    json_writer& out = answer_.out();
    out.end_array().field("kept", decisions_.size()).field("total", decisions_.total());
    out.field("dropped", decisions_.dropped()).field("omitted", search_.found().size() - at_).end_object();
    return answer_.take();
  }

 private:
  bool has_room() const { return answer_.bytes() <= most_; }
  /// Begins the next decision, and takes from `room` what its head cost. A decision that was dropped
  /// meanwhile is left out.
  bool begin_next(std::size_t& room) {
    constexpr std::size_t looks_of_a_value = 256;
    for (; at_ < search_.found().size() && has_room(); ++at_) {
      const decision::record* r = decisions_.at(search_.found()[at_]);
      if (r == nullptr) continue;
      open_.emplace(answer_.out(), *r, decisions_.names(), how_);
      room -= std::min(room, (r->candidates.size() + r->cells.size()) / looks_of_a_value);
      return true;
    }
    return false;
  }

  const decision::ring& decisions_;
  const decision::explain_options how_;
  const std::size_t most_;
  decision::search search_;
  bool searched_ = false;
  std::size_t at_ = 0;                           // in search_.found()
  std::optional<decision::record_writer> open_;  // of that decision
  json_pieces answer_;
};

}  // namespace

std::unique_ptr<http::slices> fleet_json(const policy::view& nodes, fleet_query q, std::size_t bytes) {
  return std::make_unique<json_list>(nodes, std::move(q), bytes);
}

std::unique_ptr<http::slices> fleet_exposition(const store::view& nodes, std::vector<std::string> families,
                                               instant now, std::size_t bytes) {
  return std::make_unique<exposition_list>(nodes, std::move(families), now, bytes);
}

std::unique_ptr<http::slices> own_exposition(std::vector<own_sample> own, const policy::view& nodes,
                                             std::vector<policy::strategy_status> strategies) {
  return std::make_unique<own_list>(std::move(own), nodes, std::move(strategies));
}

std::unique_ptr<http::slices> decision_list(const decision::ring& decisions, const decision::query& q,
                                            decision::explain_options how, std::size_t bytes) {
  return std::make_unique<decisions_in_slices>(decisions, q, std::move(how), bytes);
}

}  // namespace binnacle::ops
