#pragma once

#include "aggregator/custom_metrics/asked.hpp"
#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/custom_metrics/status.hpp"
#include "aggregator/custom_metrics/value_list.hpp"
#include "aggregator/questions/question.hpp"
#include "common/http/message.hpp"
#include "common/http/sliced.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace binnacle::custom_metrics {

/// The value_list that answers a question, and what the face counts of it. Each item repeats the selector of
/// series, so a long list is bounded, and so are all lists together: a tenant's pods and autoscalers ask for
/// as many as they like.
class counted_list {
 public:
  /// `a`, `counted` and `lists` must outlive the list. `expected`: as of value_list.
  counted_list(const asked& a, face::counters& counted, std::size_t expected, list_memory& lists)
      : asked_(a),
        counted_(counted),
        lists_(lists),
        values_(a.where.api, a.where.metric, a.selector_json, expected, a.where.name_space) {}
  ~counted_list() { give_back(); }
  counted_list(const counted_list&) = delete;
  counted_list& operator=(const counted_list&) = delete;

  /// Adds the object's value; does nothing if there is none now, or the list is over.
  void add(std::string_view object, const questions::reading& got) {
    if (is_over() || !got.value.present(asked_.now)) return;
    values_.add(object, got.value.value, asked_.wall(got.value.read_at), got.span);
    ++counted_.items;
    lists_.bytes += values_.bytes() - std::exchange(bytes_, values_.bytes());
    too_long_ = bytes_ > list_memory::most_of_one;
    too_many_ = lists_.bytes > list_memory::most_of_all;
    if (is_over()) give_back();
  }
  /// Whether the list, or all lists together, have become too long: take() says so in place of the list.
  bool is_over() const noexcept { return too_long_ || too_many_; }
  http::response take() {
    if (too_long_)
      return bad_request(
          fmt::format("the list is longer than {} MiB: choose fewer objects by a labelSelector, or "
                      "a shorter metricLabelSelector, which each item repeats",
                      list_memory::most_of_one >> 20));
    if (too_many_) return http::slices_running::refusal(failure);
    ++counted_.lists;
    http::response a;
    a.body = values_.take();
    return a;
  }

 private:
  void give_back() {
    values_.take();
    lists_.bytes -= std::exchange(bytes_, 0);
  }

  const asked& asked_;
  face::counters& counted_;
  list_memory& lists_;
  value_list values_;
  std::size_t bytes_ = 0;  // of lists_.bytes
  bool too_long_ = false, too_many_ = false;
};

}  // namespace binnacle::custom_metrics
