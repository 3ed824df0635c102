#pragma once

#include "aggregator/model_servers/question.hpp"
#include "aggregator/policy/power_terms.hpp"
#include "aggregator/store/row.hpp"
#include "common/clock.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// From which to which temperature an input goes from 0 to 1, in °C. The lower one may be the larger one.
struct span {
  double from = 0, to = 1;
  friend bool operator==(const span&, const span&) = default;
};

/// Which model a node has, and what its inputs are made of.
struct node_model {
  served_model model;
  /// WAO's first version: inlet and both sockets, as shares of these. None: the second version, whose inputs
  /// are degrees and pascals.
  std::optional<std::array<span, 3>> shares;
  std::optional<double> inlet;     ///< °C, where an object fixes it
  std::optional<double> pressure;  ///< Pa, likewise

  friend bool operator==(const node_model&, const node_model&) = default;
};

inline constexpr std::string_view host_label = "tensorflow/host";

/// A node's model by the labels of WAO's first version (tensorflow/host, ambient/min…), asked by gRPC as WAO
/// does. The usual port of TensorFlow Serving's REST API, 8501, is asked by that. None: the node has no
/// tensorflow/host. Errors: invalid_input, a clause that names the label.
using label_look_up = std::function<std::optional<std::string_view>(std::string_view key)>;
std::optional<result<node_model>> model_by_labels(const label_look_up& labels);

/// What a node measures of a model's inputs now; none: nobody does.
struct readings {
  std::optional<double> inlet, cpu1, cpu2;  ///< °C
  std::optional<double> pressure;           ///< Pa, in front minus behind
};
/// From the node's series: host_inlet_temperature_celsius or inlet_temp, delta_p, and the processors'
/// temperatures of the BMC, in its order.
readings readings_of(const store::row& cells, instant now);

/// What to ask for a node. Temperatures are rounded to a degree, the pressure to a pascal, shares to a tenth.
/// `before`: the node's last question, whose inputs stay while the new ones are within three quarters of a
/// step of them, so that a reading between two steps asks for nothing. Typical for what nobody measures:
/// 22 °C, 5 Pa, a share of 0.5.
question question_of(const node_model& m, const readings& r, double cores, policy::cpu_format format,
                     const question* before);

/// What its model is told though nobody measures it, a clause each: "nobody measures …".
std::vector<std::string> assumptions_of(const question& q);

}  // namespace binnacle::model_servers
