#include "aggregator/ops/listed_families.hpp"

#include "common/metrics/families.hpp"

namespace binnacle::ops {
namespace {

// About a millisecond each.
constexpr std::size_t nodes_met_per_slice = 2'000;
constexpr std::size_t names_met_per_slice = 5'000;
constexpr std::size_t names_in_turns_per_slice = 3'000;

}  // namespace

bool listed_families::step() {
  if (met_all_) return take_turns();
  meet_nodes();
  return true;
}

void listed_families::meet_nodes() {
  std::size_t names = 0;
  for (std::size_t visits = 0; visits < nodes_met_per_slice && names < names_met_per_slice; ++visits) {
    const store::node_view* node = place_.next();
    if (node == nullptr) {
      met_all_ = true;
      return;
    }
    if (node->cells == nullptr) continue;
    const auto& announced = node->cells->series().names;
    const auto [at, is_new] = places_.try_emplace(announced.get(), kinds_.size());
    if (is_new) {
      turns_.push_back(kinds_.size());
      kinds_.push_back({announced});
      for (const std::string& name : announced->families) {
        if (const metrics::family* known = metrics::find(name)) own_.insert(known->name);
      }
      names += announced->families.size();
    }
    ++kinds_[at->second].nodes;
  }
}

bool listed_families::take_turns() {
  std::size_t looked_at = 0;
  while (!turns_.empty() && looked_at < names_in_turns_per_slice) {
    kind& one = kinds_[turns_.front()];
    const auto& names = one.names->families;
    // A turn that is too long for this slice ends early.
    for (std::size_t added = 0;
         added < one.nodes && one.next < names.size() && looked_at < names_in_turns_per_slice;
         ++one.next, ++looked_at) {
      const std::string& name = names[one.next];
      if (own_.contains(name) || listed_.contains(name)) continue;
      if (foreign_.size() == most_foreign) {
        some_left_out_ = true;
        return false;
      }
      listed_.insert(name);
      foreign_.push_back(name);
      ++added;
    }
    if (one.next < names.size()) turns_.push_back(turns_.front());
    turns_.pop_front();
  }
  return !turns_.empty();
}

std::vector<std::string> listed_families::take() {
  std::vector<std::string> all(own_.begin(), own_.end());
  all.insert(all.end(), foreign_.begin(), foreign_.end());
  return all;
}

}  // namespace binnacle::ops
