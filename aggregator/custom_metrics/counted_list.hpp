#pragma once

#include "aggregator/custom_metrics/asked.hpp"
#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/custom_metrics/value_list.hpp"
#include "aggregator/questions/question.hpp"
#include "common/http/message.hpp"

#include <cstddef>
#include <string_view>

namespace binnacle::custom_metrics {

/// The value_list that answers a question, and what the face counts of it.
class counted_list {
 public:
  /// `a` and `counted` must outlive the list. `expected`: as of value_list.
  counted_list(const asked& a, face::counters& counted, std::size_t expected)
      : asked_(a),
        counted_(counted),
        values_(a.where.api, a.where.metric, a.selector_json, expected, a.where.name_space) {}

  /// Adds the object's value; does nothing if there is none now.
  void add(std::string_view object, const questions::reading& got) {
    if (!got.value.present(asked_.now)) return;
    values_.add(object, got.value.value, asked_.wall(got.value.read_at), got.span);
    ++counted_.items;
  }
  http::response take() {
    ++counted_.lists;
    return http::response::json(values_.take());
  }

 private:
  const asked& asked_;
  face::counters& counted_;
  value_list values_;
};

}  // namespace binnacle::custom_metrics
