#include "aggregator/labels/label_change.hpp"

#include "aggregator/policy/label_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>

namespace binnacle::labels {
namespace {

using action = policy::label_wish::action;
using keys = std::set<std::string, std::less<>>;

class comparison {
 public:
  explicit comparison(const kube::node_objects::node& node) : node_(node), ours_(node.ours) {}

  void wish(const std::string& key, const policy::label_wish& w) {
    if (node_.labels.find(key) && !is_ours(key)) {
      out_.taken.insert(key);
      if (w.what == action::set || w.what == action::blocked) {
        ours_.erase(key);
        out_.foreign.push_back(key);
      }
    } else if (w.what == action::set) {
      set(key, w.value);
    }
    if (w.what == action::remove) remove(key);
  }
  /// Removes the label if it is ours. A key that our annotation lists in error is only struck off the list.
  void remove(const std::string& key) {
    if (is_ours(key) && node_.labels.find(key)) out_.labels[key] = std::nullopt;
    ours_.erase(key);
  }
  const keys& listed() const noexcept { return node_.ours; }

  label_change take() {
    if (ours_ != node_.ours) {
      auto& list = out_.annotations[std::string(kube::node_objects::annotation)];
      if (!ours_.empty()) list = fmt::format("{}", fmt::join(ours_, ","));
    }
    return std::move(out_);
  }

 private:
  bool is_ours(const std::string& key) const {
    const auto value = node_.labels.find(key);
    return node_.ours.contains(key) && (!value || policy::can_be_ours(key, *value));
  }
  void set(const std::string& key, const std::string& value) {
    if (node_.labels.find(key) != value) out_.labels[key] = value;
    ours_.insert(key);
  }

  const kube::node_objects::node& node_;
  keys ours_;
  label_change out_;
};

}  // namespace

label_change change_for(const kube::node_objects::node& node, const policy::label_wishes* wishes,
                        const policy::label_claims& claims) {
  comparison c(node);
  if (wishes != nullptr) {
    for (const auto& [key, wish] : *wishes) {
      if (claims.covers(key)) c.wish(key, wish);
    }
  }
  for (const std::string& key : c.listed()) {
    if (!claims.covers(key)) c.remove(key);
  }
  label_change out = c.take();
  if (claims.no_policies && node.labels.find(kube::node_objects::wake_label))
    out.labels[std::string(kube::node_objects::wake_label)] = std::nullopt;
  return out;
}

void add_wake(const kube::node_objects::node& node, label_change& to) {
  if (!to.labels.empty()) return;  // any label will do
  std::uint32_t count = 0;
  const auto last = node.labels.find(kube::node_objects::wake_label).value_or("");
  std::from_chars(last.data(), last.data() + last.size(), count);
  to.labels[std::string(kube::node_objects::wake_label)] = std::to_string(count + 1);
}

http::call patch_of(const std::string& name, const kube::node_objects::node& node,
                    const label_change& change) {
  return kube::node_patch(name, change.labels, change.annotations,
                          change.annotations.empty() ? "" : node.version);
}

}  // namespace binnacle::labels
