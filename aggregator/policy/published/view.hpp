#pragma once

#include "aggregator/policy/published/heartbeat.hpp"
#include "aggregator/policy/published/published.hpp"
#include "aggregator/predict/model.hpp"
#include "aggregator/store/view.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::policy {

/// Everything the faces read: the store's nodes, the policies in force with their verdicts, and what is known
/// of the nodes' watts. It belongs to the faces loop, as the nodes do. The table of policies comes as a
/// message; verdicts are atomic and need none.
class view : public store::view {
 public:
  const policy_table& policies() const noexcept { return *policies_; }
  void set_policies(std::shared_ptr<const policy_table> p) { policies_ = std::move(p); }

  /// The heartbeat of the loop that judges. Before the first call the verdicts count as kept up.
  void set_heartbeat(std::shared_ptr<const heartbeat> h) { heartbeat_ = std::move(h); }
  /// Whether verdicts are no longer kept up: they count as missing data then.
  bool judging_stopped(instant now) const noexcept { return heartbeat_ && heartbeat_->stopped(now); }

  /// What is known of the nodes' watts, by the node's id.
  const predict::model_table& models() const noexcept { return models_; }
  predict::model_table& models() noexcept { return models_; }

  /// The models of model servers (aggregator/model_servers) that get the load in this form.
  const predict::model_table& served(cpu_format f) const noexcept {
    return served_[static_cast<std::size_t>(f)];
  }
  predict::model_table& served(cpu_format f) noexcept { return served_[static_cast<std::size_t>(f)]; }
  void forget_served() {
    for (predict::model_table& t : served_) t.clear();
    served_notes_.clear();
  }
  /// Whose models a strategy uses.
  predict::model_sources models_for(const power_terms& t) const noexcept {
    return {{t.takes_served() ? &served(t.format) : nullptr, t.takes_learned() ? &models_ : nullptr}};
  }
  /// Whether learned curves and rated watts count. They do not if there are policies with minimizepower, and
  /// all of them say model: External.
  bool learned_counts() const noexcept {
    bool any = false;
    for (const auto& one : *policies_) {
      for (const published_strategy& s : one.second->strategies) {
        if (!description_of(s.kind).predicts_watts()) continue;
        if (s.power.takes_learned()) return true;
        any = true;
      }
    }
    return !any;
  }
  /// Why a node's model server says nothing new, a clause; empty: it does, or the node has none.
  std::string_view served_note(std::uint32_t node) const { return note_in(served_notes_, node); }
  void set_served_note(std::uint32_t node, std::string why) { set_note(served_notes_, node, std::move(why)); }
  /// Why nothing is learned from a node's meter, a clause; empty: it is, or the node has none.
  std::string_view learned_note(std::uint32_t node) const { return note_in(learned_notes_, node); }
  void set_learned_note(std::uint32_t node, std::string why) {
    set_note(learned_notes_, node, std::move(why));
  }
  /// The node has gone.
  void forget_models(std::uint32_t node) {
    models_.set(node, nullptr);
    for (predict::model_table& t : served_) t.set(node, nullptr);
    served_notes_.erase(node);
    learned_notes_.erase(node);
  }

 private:
  using notes = std::map<std::uint32_t, std::string>;  // by the node's id
  static std::string_view note_in(const notes& all, std::uint32_t node) {
    const auto at = all.find(node);
    return at == all.end() ? std::string_view() : at->second;
  }
  static void set_note(notes& all, std::uint32_t node, std::string why) {
    if (why.empty()) {
      all.erase(node);
    } else {
      all[node] = std::move(why);
    }
  }

  std::shared_ptr<const heartbeat> heartbeat_;
  predict::model_table models_;
  std::array<predict::model_table, cpu_formats> served_;
  notes served_notes_, learned_notes_;
  std::shared_ptr<const policy_table> policies_ = std::make_shared<policy_table>();
};

}  // namespace binnacle::policy
