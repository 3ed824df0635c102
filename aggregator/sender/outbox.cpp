#include "aggregator/sender/outbox.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::sender {

void outbox::tidy(instant now) {
  while (!waiting_.empty() && (bytes_ > most_bytes_ || now - waiting_.front().made > most_age_)) {
    bytes_ -= waiting_.front().body.size();
    dropped_ += waiting_.front().samples;
    waiting_.pop_front();
  }
}

void outbox::put(parcel p, instant now) {
  bytes_ += p.body.size();
  waiting_.push_back(std::move(p));
  tidy(now);
}

std::optional<parcel> outbox::take(instant now) {
  tidy(now);
  if (waiting_.empty()) return std::nullopt;
  parcel first = std::move(waiting_.front());
  waiting_.pop_front();
  bytes_ -= first.body.size();
  return first;
}

std::optional<instant> outbox::oldest() const {
  if (waiting_.empty()) return std::nullopt;
  return std::min(waiting_.front().made, waiting_[waiting_.size() > 1 ? 1 : 0].made);
}

void outbox::put_back(parcel p, instant now) {
  bytes_ += p.body.size();
  const auto newer = std::ranges::find_if(waiting_, [&](const parcel& w) { return w.made >= p.made; });
  waiting_.insert(newer, std::move(p));
  tidy(now);
}

void outbox::put_after_next(parcel p, instant now) {
  bytes_ += p.body.size();
  waiting_.insert(waiting_.begin() + (waiting_.empty() ? 0 : 1), std::move(p));
  tidy(now);
}

}  // namespace binnacle::sender
