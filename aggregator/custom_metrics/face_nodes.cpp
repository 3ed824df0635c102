// The part of `face` that answers questions about nodes.
#include "aggregator/custom_metrics/asked.hpp"
#include "aggregator/custom_metrics/counted_list.hpp"
#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/custom_metrics/status.hpp"
#include "aggregator/store/walk.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

namespace binnacle::custom_metrics {
namespace {

// About a millisecond each. Series are looked at where the name's meaning has to be worked out.
constexpr std::size_t nodes_per_slice = 200;
constexpr std::size_t looked_at_per_slice = 5'000;

/// A label of a node without a Node object. Standalone, no node has one.
std::optional<std::string_view> label_of(const store::node_view& node, std::string_view key) {
  if (key == "kubernetes.io/hostname") return node.name;
  const auto at = node.labels.find(std::string(key));
  return at == node.labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
}

/// The nodes that have a value and that `wanted` selects.
class node_list final : public http::slices {
 public:
  node_list(asked a, const store::view& nodes, std::function<bool(const store::node_view&)> wanted,
            questions::question ask, face::counters& counted, list_memory& lists)
      : asked_(std::move(a)),
        place_(nodes),
        wanted_(std::move(wanted)),
        ask_(std::move(ask)),
        list_(asked_, counted, nodes.nodes().size(), lists) {}

  bool step() override {
    std::size_t looked_at = 0;
    for (std::size_t i = 0; i < nodes_per_slice && looked_at < looked_at_per_slice; ++i) {
      const store::node_view* node = place_.next();
      if (node == nullptr || list_.is_over()) return false;
      if (!wanted_(*node)) continue;
      const questions::reading got = ask_(*node, asked_.now);
      looked_at += got.looked_at;
      list_.add(node->name, got);
    }
    return true;
  }

  http::response take() override { return list_.take(); }

 private:
  const asked asked_;
  store::walk place_;
  const std::function<bool(const store::node_view&)> wanted_;
  const questions::question ask_;
  counted_list list_;
};

}  // namespace

bool face::selects(const questions::selector& labels, const store::node_view& node) const {
  if (labels.empty()) return true;
  if (sources_.objects) {
    if (const auto of_object = sources_.objects->labels(node.name)) return labels.matches(*of_object);
  }
  return labels.matches([&node](std::string_view key) { return label_of(node, key); });
}

face::outcome face::nodes(const asked& a) {
  if (sources_.objects && !a.labels.empty()) {
    if (const std::string why = sources_.objects->unknown_because(); !why.empty())
      return status(503, "ServiceUnavailable", why);
  }
  return once_known(a, [this, a](bool known) -> std::unique_ptr<http::slices> {
    const std::string& metric = a.where.metric;
    if (!known) {
      return http::ready(not_found(fmt::format(
          "the server could not find the metric {} for nodes: no node has announced it", metric)));
    }
    auto wanted = [this, labels = a.labels](const store::node_view& node) { return selects(labels, node); };
    return std::make_unique<node_list>(a, nodes_, std::move(wanted), sources_.ask(metric, a.series), counted_,
                                       list_memory_);
  });
}

std::unique_ptr<http::slices> face::node(const asked& a) {
  const path& p = a.where;
  const store::node_view* node = nodes_.find(p.object);
  if (node == nullptr) return http::ready(not_found(a.missing() + ": no agent of that name has connected"));
  const questions::reading got = sources_.ask(p.metric, a.series)(*node, a.now);
  if (!got.value.present(a.now)) {
    return once_known(a, [a, value = got.value](bool known) {
      if (!known) return http::ready(not_found(a.missing() + ": no node has announced it"));
      const bool unmatched = !a.series.empty() && value.absent_because(a.now) == absence::missing;
      return http::ready(
          not_found(a.missing() + ": " +
                    (unmatched ? "no series of the node has such labels" : why_absent(value, a.now))));
    });
  }
  counted_list list(a, counted_, 1, list_memory_);
  list.add(node->name, got);
  return http::ready(list.take());
}

}  // namespace binnacle::custom_metrics
