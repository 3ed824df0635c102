#include "aggregator/decision/ring.hpp"

#include "aggregator/decision/search.hpp"

#include <limits>

namespace binnacle::decision {

void node_names::keep(std::size_t i, std::string_view name) {
  if (i >= known_.size()) {
    known_.resize(i + 1);
    names_.resize(i + 1);
  }
  known_[i] = true;
  names_[i] = name;
}

std::uint64_t ring::add(record r) {
  r.id = ++last_id_;
  if (observer_) observer_(r);
  std::size_t size = r.bytes();
  if (size > 2 * record_limit() + sizeof(record)) {
    r.candidates = std::vector<candidate>();  // `= {}` would keep the memory
    r.cells = std::vector<cell>();
    r.power = std::vector<watts_cell>();
    r.strangers = std::vector<std::string>();
    size = r.bytes();
    ++trimmed_;
  }
  hold(r.policy.get());
  while (!records_.empty() && (bytes_ + size > limits_.bytes || records_.size() >= limits_.count))
    drop_oldest();
  bytes_ += size;
  records_.push_back(std::move(r));
  return last_id_;
}

void ring::hold(const policy_facts* facts) {
  if (facts != nullptr && ++holders_[facts] == 1) bytes_ += facts->bytes();
}

void ring::let_go(const policy_facts* facts) {
  if (facts == nullptr) return;
  const auto at = holders_.find(facts);
  if (--at->second != 0) return;
  bytes_ -= facts->bytes();
  holders_.erase(at);
}

void ring::drop_oldest() {
  const record& oldest = records_.front();
  bytes_ -= oldest.bytes();
  let_go(oldest.policy.get());
  records_.pop_front();
  ++dropped_;
}

const record* ring::at(std::uint64_t id) const noexcept {
  if (records_.empty() || id < records_.front().id || id > records_.back().id) return nullptr;
  return &records_[id - records_.front().id];
}

std::vector<const record*> ring::find(const query& q) const {
  search all(*this, q);
  while (all.go_on(std::numeric_limits<std::size_t>::max())) {
  }
  std::vector<const record*> found;
  for (const std::uint64_t id : all.found()) found.push_back(at(id));
  return found;
}

}  // namespace binnacle::decision
