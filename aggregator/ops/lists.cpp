#include "aggregator/ops/lists.hpp"

#include "aggregator/decision/search.hpp"
#include "aggregator/ops/json_pieces.hpp"
#include "aggregator/ops/listed_families.hpp"
#include "aggregator/ops/power_json.hpp"
#include "aggregator/ops/units.hpp"
#include "aggregator/store/walk.hpp"
#include "common/exposition/exposition.hpp"
#include "common/exposition/target_labels.hpp"
#include "common/metrics/families.hpp"
#include "common/shortest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace binnacle::ops {
namespace {

// About a millisecond each.
constexpr std::size_t json_nodes_per_slice = 200;
constexpr std::size_t visits_per_slice = 2'000;
constexpr std::size_t lines_per_slice = 500;
constexpr std::size_t looks_per_slice = 250'000;  // at candidates
constexpr std::size_t values_per_slice = 500;     // of decisions, with their sentences

class json_list final : public http::slices {
 public:
  json_list(const policy::view& nodes, fleet_query q)
      : nodes_(nodes), query_(std::move(q)), place_(nodes), out_(text_) {
    out_.begin_object().field("time", query_.time).key("metrics").begin_array();
    for (const auto& m : query_.metrics) {
      out_.begin_object().field("name", m.name).field("unit", unit_of(m.name)).end_object();
    }
    out_.end_array().key("nodes").begin_array();
  }

  bool step() override {
    const verdict_writer verdicts(nodes_.policies());  // policies may change between two slices
    for (std::size_t i = 0; i < json_nodes_per_slice; ++i) {
      const store::node_view* node = listed_ < query_.limit ? place_.next() : nullptr;
      if (node == nullptr) return false;
      write_node(out_, *node, query_.metrics, verdicts, model_of(nodes_, node->id), query_.now);
      ++listed_;
    }
    return true;
  }

  http::response take() override {
    const std::size_t total = nodes_.nodes().size();
    // Nodes that were listed may have been forgotten since.
    out_.end_array().field("total", total).field("omitted", total - std::min(total, listed_)).end_object();
    text_ += '\n';
    return http::response::json(std::move(text_));
  }

 private:
  const policy::view& nodes_;
  fleet_query query_;
  store::walk place_;
  std::string text_;
  json_writer out_;
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
    std::size_t lines = 0;
    for (std::size_t visits = 0; visits < visits_per_slice && lines < lines_per_slice; ++visits) {
      const store::node_view* node = place_.next();
      if (node == nullptr) {
        ++at_;
        begun_ = false;
        place_.restart();
        break;
      }
      if (node->cells != nullptr) lines += add(*node);
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

  std::size_t add(const store::node_view& node) {
    const store::shape& shape = node.cells->series();
    const std::string& family = families_[at_];
    std::size_t lines = 0;
    for (const std::uint32_t i : shape.of_family(family)) {
      const store::sample s = node.cells->load(i);
      if (!s.present(now_)) continue;
      const auto& series = shape.all[i];
      const metrics::family* known = metrics::find(family);
      if (!begun_) {
        out_.begin(family, series.type, known != nullptr ? known->help : std::string_view(series.help));
        begun_ = true;
      }
      out_.add(exposition::with_target({{"node", node.name}}, series.labels),
               known != nullptr ? s.value : shortest(s.value));
      ++lines;
    }
    return lines;
  }

  std::vector<std::string> families_;      // our own first: they are there if the page is cut off
  std::size_t at_ = 0;                     // in families_
  bool begun_ = false;                     // the family's HELP and TYPE are written
  std::optional<listed_families> choice_;  // until the families are chosen; none: they were given
  store::walk place_;
  instant now_;
  std::size_t most_;
  exposition::writer out_;
  std::vector<std::string> pieces_;
  std::size_t bytes_ = 0;
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

std::unique_ptr<http::slices> fleet_json(const policy::view& nodes, fleet_query q) {
  return std::make_unique<json_list>(nodes, std::move(q));
}

std::unique_ptr<http::slices> fleet_exposition(const store::view& nodes, std::vector<std::string> families,
                                               instant now, std::size_t bytes) {
  return std::make_unique<exposition_list>(nodes, std::move(families), now, bytes);
}

std::unique_ptr<http::slices> decision_list(const decision::ring& decisions, const decision::query& q,
                                            decision::explain_options how, std::size_t bytes) {
  return std::make_unique<decisions_in_slices>(decisions, q, std::move(how), bytes);
}

}  // namespace binnacle::ops
