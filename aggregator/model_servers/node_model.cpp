#include "aggregator/model_servers/node_model.hpp"

#include "aggregator/store/hardware.hpp"
#include "common/text/endpoint.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <boost/container/static_vector.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace binnacle::model_servers {
namespace {

constexpr double typical_inlet = 22, typical_pressure = 5, typical_share = 0.5;
constexpr double share_step = 0.1;
// Servers are made for inlets in this span (ASHRAE's class A4), so no model was trained far outside of it.
constexpr span any_inlet{5, 45};
constexpr std::array<std::string_view, 3> degrees_of{
    "the inlet temperature", "the first processor's temperature", "the second processor's temperature"};
constexpr std::uint16_t grpc_port = 8500, rest_port = 8501;

/// A value that is asked for beside the load, in the model's terms.
struct input {
  std::optional<double> value;
  double typical, step, least, most;  // least, most: between which values the model means something

  double limited() const { return std::clamp(value.value_or(typical), least, most); }
  bool is_beyond() const { return value && (*value < least - step || *value > most + step); }
};

/// Asked for at each look at each node, so without memory of their own.
using inputs = boost::container::static_vector<input, 3>;

/// The inputs after the load, in the order in which the model takes them.
inputs inputs_of(const node_model& m, const readings& r) {
  constexpr double any = std::numeric_limits<double>::infinity();
  if (!m.shares) {
    return {{m.inlet ? m.inlet : r.inlet, typical_inlet, 1, any_inlet.from, any_inlet.to},
            {m.pressure ? m.pressure : r.pressure, typical_pressure, 1, -any, any}};
  }
  inputs out;
  const std::array<std::optional<double>, 3> degrees{r.inlet, r.cpu1, r.cpu2};
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    const span& s = (*m.shares)[i];
    input one{{}, typical_share, share_step, 0, 1};
    if (degrees[i]) one.value = (*degrees[i] - s.from) / (s.to - s.from);
    out.push_back(one);
  }
  return out;
}

/// The number in a label; labels hold no blanks.
std::optional<double> number(std::string_view text) {
  const auto out = read_number<double>(text);
  return out && std::isfinite(*out) ? out : std::nullopt;
}

result<span> span_by_labels(const label_look_up& labels, std::string_view what) {
  span out;
  for (const auto& [end, to] : {std::pair{"min", &out.from}, std::pair{"max", &out.to}}) {
    const std::string key = fmt::format("{}/{}", what, end);
    const auto text = labels(key);
    if (!text) return invalid(fmt::format("the label {} is missing", key));
    const auto value = number(*text);
    if (!value) return invalid(fmt::format("the label {} is {}, which is no number", key, in_quotes(*text)));
    *to = *value;
  }
  if (out.from == out.to) return invalid(fmt::format("the labels {0}/min and {0}/max are equal", what));
  return out;
}

/// Each has a label NAME/min and a label NAME/max.
constexpr std::array<std::string_view, 3> spans_of_labels{"ambient", "cpu1", "cpu2"};

result<std::array<span, 3>> spans_by_labels(const label_look_up& labels) {
  std::array<span, 3> out;
  std::string faults;  // all of them: who mends the labels does so once
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto s = span_by_labels(labels, spans_of_labels[i]);
    if (s.has_error()) {
      faults += (faults.empty() ? "" : ", and ") + s.error().message;
    } else {
      out[i] = *s;
    }
  }
  if (!faults.empty()) return invalid(std::move(faults));
  return out;
}

}  // namespace

std::optional<result<labelled_model>> read_labels(const label_look_up& labels) {
  const auto host = labels("tensorflow/host");
  if (!host) return std::nullopt;
  const auto text_of = [&](std::string_view key) { return labels(key).value_or(""); };
  const auto at = read_endpoint(fmt::format("{}:{}", *host, text_of("tensorflow/port")), grpc_port);
  if (!at)
    return invalid(
        fmt::format("the labels tensorflow/host and tensorflow/port are {} and {}, which is no address",
                    in_quotes(*host), in_quotes(text_of("tensorflow/port"))));
  if (text_of("tensorflow/name").empty()) return invalid("the label tensorflow/name is missing");
  auto model = tf_model(at->port == rest_port ? carrier::rest : carrier::grpc, at->host, at->port,
                        text_of("tensorflow/name"), text_of("tensorflow/version"),
                        std::string(text_of("tensorflow/signature")));
  if (model.has_error()) return model.error();
  labelled_model out{std::move(*model), {}, spans_by_labels(labels)};
  if (const auto version = text_of("tensorflow/version"); !version.empty() && out.model.version.empty())
    out.remark = fmt::format(
        "the label tensorflow/version is {}, which is no number of a version, so that the newest one is "
        "asked",
        in_quotes(version));
  return out;
}

std::optional<result<node_model>> model_by_labels(const label_look_up& labels) {
  auto read = read_labels(labels);
  if (!read) return std::nullopt;
  if (read->has_error()) return read->error();
  labelled_model& said = **read;
  if (said.spans.has_error()) return said.spans.error();
  node_model out;
  out.model = std::move(said.model);
  out.shares = *said.spans;
  out.remark = std::move(said.remark);
  return out;
}

readings readings_of(const store::row& cells, instant now) {
  readings out;
  const auto value_of = [&](std::string_view family) -> std::optional<double> {
    const auto found = store::first_present(cells, family, now);
    return found.series == nullptr ? std::nullopt : std::optional(found.value);
  };
  out.inlet = value_of("host_inlet_temperature_celsius");
  if (!out.inlet) out.inlet = value_of("inlet_temp");
  out.pressure = value_of("delta_p");
  // In the order of their series: a processor that is silent does not give its place to the other.
  const std::array places{&out.cpu1, &out.cpu2};
  std::size_t place = 0;
  for (const auto i : cells.series().of_family("bmc_cpu_temperature_celsius")) {
    if (place == places.size()) break;
    const auto s = cells.load(i);
    if (s.present(now)) *places[place] = to_double(s.value);
    ++place;
  }
  return out;
}

question question_of(const node_model& m, const readings& r, double cores, policy::cpu_format format,
                     const question* before) {
  question out;
  out.model = m.model;
  out.cores = cores;
  out.top = m.shares ? 1 : format == policy::cpu_format::raw ? cores : 100;
  const bool comparable = before != nullptr && before->model == m.model;
  const inputs all = inputs_of(m, r);
  out.count = static_cast<std::uint8_t>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].value) out.assumed |= static_cast<std::uint8_t>(1U << i);
    const double v = all[i].limited(), step = all[i].step;
    const bool near = comparable && std::abs(v - before->others[i]) <= 0.75 * step;
    // Adding 0 turns a negative zero into zero, which is written the same.
    out.others[i] = near ? before->others[i] : std::round(v / step) * step + 0.0;
  }
  return out;
}

std::vector<std::string> assumptions_of(const question& q) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < q.count; ++i) {
    if ((q.assumed & (1U << i)) == 0) continue;
    if (q.count == degrees_of.size()) {
      out.push_back(fmt::format(
          "nobody measures {} of its node, so that the middle of its span stands for it", degrees_of[i]));
    } else if (i == 0) {
      out.push_back(fmt::format("nobody measures {} of its node, so that {} °C stand for it", degrees_of[0],
                                typical_inlet));
    } else {
      out.push_back(
          fmt::format("nobody brings delta_p of its node, so that {} Pa stand for it (an exporter or a "
                      "*.prom file brings it)",
                      typical_pressure));
    }
  }
  return out;
}

std::vector<std::string> limits_of(const node_model& m, const readings& r) {
  std::vector<std::string> out;
  const inputs all = inputs_of(m, r);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_beyond()) continue;
    const span s = m.shares ? (*m.shares)[i] : any_inlet;
    out.push_back(
        fmt::format("{} of its node is outside of {} to {} °C, {}, so that the nearer end stands for it",
                    degrees_of[i], std::min(s.from, s.to), std::max(s.from, s.to),
                    m.shares ? "the span of its labels" : "for which servers and their models are made"));
  }
  return out;
}

}  // namespace binnacle::model_servers
