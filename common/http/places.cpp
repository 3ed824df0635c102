#include "common/http/places.hpp"

#include <map>
#include <utility>

namespace binnacle::http {

void guest::waits_for(wait what, instant now) {
  waits_ = what;
  since_ = now;
  progress_ = 0;
}

void guest::came_on(std::size_t bytes, instant now) {
  progress_ += bytes;
  if (progress_ >= least_progress) waits_for(wait::peer, now);
}

worth guest::worth_now(instant now, duration patience) const {
  if (waits_ == wait::end) return worth::unknown;
  if (waits_ == wait::request) return is_known_ ? worth::idle : worth::unknown;
  if (waits_ == wait::handler) return worth::none;
  if (now - since_ >= patience) return worth::stuck;
  return has_certificate_ ? worth::none : worth::moving;
}

void places::leave(guest& who) {
  if (who.seat_) seats_.leave(*who.seat_);
  who.seat_.reset();
  leave_large(who);
  leave_answer(who);
}

void places::leave_large(guest& who) {
  if (who.large_) large_.leave(*who.large_);
  who.large_.reset();
}

guest* places::gives_way_to_answer(std::size_t bytes, instant now) const {
  if (answer_bytes_ + counted(bytes) <= most_.answer_bytes) return nullptr;
  std::map<network, std::size_t> waiting;
  guest* slowest = nullptr;
  for (guest* one : answering_) {
    waiting[one->from()] += one->answer_;
    if (slowest == nullptr || one->since() < slowest->since()) slowest = one;
  }
  if (slowest == nullptr || now - slowest->since() >= patience_) return slowest;
  const auto goes_first = [&waiting](const guest* a, const guest* b) {
    return std::pair(waiting[b->from()], a->since()) < std::pair(waiting[a->from()], b->since());
  };
  return *std::min_element(answering_.begin(), answering_.end(), goes_first);
}

void places::enter_answer(guest& who, std::size_t bytes) {
  leave_answer(who);
  who.answer_ = counted(bytes);
  who.answering_ = answering_.insert(answering_.end(), &who);
  answer_bytes_ += who.answer_;
}

void places::leave_answer(guest& who) {
  if (!who.answering_) return;
  answering_.erase(*who.answering_);
  who.answering_.reset();
  answer_bytes_ -= who.answer_;
}

guest* places::gives_way_to(const network& from, instant now) const {
  guest* found = nullptr;
  const auto& most = seats_.largest();
  // Some addresses that share all places keep others out as well as one does.
  const bool takes_all = 2 * most.size() > seats_.size() || most.size() >= 8 * (seats_.count(from) + 1);
  // Only one worth less than this may be closed.
  worth least = takes_all && most.front()->from() != from ? worth::none : worth::moving;
  for (guest* one : most) {
    const worth its = one->worth_now(now, patience_);
    if (its > least || (its == least && (found == nullptr || one->since() >= found->since()))) continue;
    found = one;
    least = its;
    if (its == worth::unknown) break;  // the list is in order of arrival, so this is the oldest one
  }
  return found;
}

}  // namespace binnacle::http
