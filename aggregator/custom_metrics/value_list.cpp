#include "aggregator/custom_metrics/value_list.hpp"

#include "common/text/json_writer.hpp"
#include "common/text/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace binnacle::custom_metrics {

value_list::value_list(version api, std::string_view metric, std::string_view selector_json,
                       std::size_t expected, std::string_view name_space)
    : api_(api) {
  kind_part_ = R"({"describedObject":{"kind":"Node","name":)";
  if (!name_space.empty()) {
    kind_part_ = R"({"describedObject":{"kind":"Pod","namespace":)";
    append_json_string(kind_part_, name_space);
    kind_part_ += R"(,"name":)";
  }
  std::string name;
  append_json_string(name, metric);
  // "/v1": the API's own library joins the empty group and the version in this way.
  metric_part_ = R"(,"apiVersion":"/v1"},)";
  if (api == version::v1beta1) {
    metric_part_ += fmt::format(R"("metricName":{},"timestamp":")", name);
    selector_part_ = fmt::format(R"(,"selector":{})", selector_json);
  } else {
    metric_part_ += fmt::format(R"("metric":{{"name":{},"selector":{}}},"timestamp":")", name, selector_json);
  }
  const std::size_t all = expected * (160 + metric_part_.size() + selector_part_.size()) + 128;
  pieces_.text().reserve(std::min(all, http::text_pieces::room));
  pieces_.text() += fmt::format(
      R"({{"kind":"MetricValueList","apiVersion":"{}/{}","metadata":{{}},"items":[)", group, to_string(api));
}

void value_list::set_second(std::int64_t second) {
  if (second == second_) return;
  second_ = second;
  timestamp_ = rfc3339(std::chrono::system_clock::time_point(std::chrono::seconds(second)));
}

void value_list::add(std::string_view name, decimal value, std::chrono::system_clock::time_point read_at,
                     duration span) {
  set_second(std::chrono::floor<std::chrono::seconds>(read_at.time_since_epoch()).count());
  std::string& out = pieces_.text();
  if (!first_) out += ',';
  first_ = false;
  out += kind_part_;
  append_json_string(out, name);
  out += metric_part_;
  out += timestamp_;
  out += '"';
  if (span > duration::zero()) {
    out += api_ == version::v1beta1 ? R"(,"window":)" : R"(,"windowSeconds":)";
    fmt::format_to(std::back_inserter(out), "{}", std::chrono::ceil<std::chrono::seconds>(span).count());
  }
  out += R"(,"value":")";
  out += canonical(value);
  out += '"';
  out += selector_part_;
  out += '}';
  pieces_.end_slice();
}

std::vector<std::string> value_list::take() {
  pieces_.text() += "]}\n";
  return pieces_.take();
}

}  // namespace binnacle::custom_metrics
