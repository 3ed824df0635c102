#pragma once

#include "aggregator/model_servers/endpoint_provider.hpp"
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

/// The temperatures, in °C, at which an input is 0 and 1. `from` may be larger than `to`.
struct span {
  double from = 0, to = 1;
  friend bool operator==(const span&, const span&) = default;
};

/// The model of a node, and how its inputs are made.
struct node_model {
  /// If there is a provider: what is written down beside it, which counts while the provider cannot say
  /// anything. Its host is empty if nothing is that could be asked; its Secret is that of the model's server,
  /// whoever names that.
  served_model model;
  /// For WAO's first version: the spans in which the inlet and both sockets become shares. None for the
  /// second version, whose inputs are degrees and pascals.
  std::optional<std::array<span, 3>> shares;
  std::optional<double> inlet;     ///< °C, if an object sets a fixed value
  std::optional<double> pressure;  ///< Pa, if an object sets a fixed value
  /// What is wrong with the object or the labels although their model is asked, as a clause; empty: nothing.
  std::string remark = {};
  /// Who says where the model is asked, if it is not written down.
  std::optional<endpoint_provider> provider = {};

  friend bool operator==(const node_model&, const node_model&) = default;
};

using label_look_up = std::function<std::optional<std::string_view>(std::string_view key)>;

/// What the labels of WAO's first version say.
struct labelled_model {
  served_model model;
  std::string remark;  ///< as node_model's
  /// The shares of node_model. Errors: invalid_input, a clause that names the labels of all spans that are
  /// wrong. The model's server is known all the same, but cannot be asked without them.
  result<std::array<span, 3>> spans;
};

/// Reads a node's labels (tensorflow/host, ambient/min…). The model is asked by gRPC as WAO does. Port 8501,
/// the usual one of TensorFlow Serving's REST API, is asked by REST instead. None if the node has no label
/// tensorflow/host. Errors: invalid_input, a clause that names the label.
std::optional<result<labelled_model>> read_labels(const label_look_up& labels);

/// A node's model by these labels. Errors: those of read_labels, and those of the spans.
std::optional<result<node_model>> model_by_labels(const label_look_up& labels);

/// The present values of a model's inputs at a node; none where nobody measures them.
struct readings {
  std::optional<double> inlet, cpu1, cpu2;  ///< °C
  std::optional<double> pressure;           ///< Pa, in front minus behind
};
/// From the node's series: host_inlet_temperature_celsius or inlet_temp, delta_p, and the processors'
/// temperatures of the BMC, in its order.
readings readings_of(const store::row& cells, instant now);

/// What to ask for a node. Temperatures are rounded to a degree, the pressure to a pascal, shares to a tenth.
/// `before` is the node's last question. An input keeps its value from there while the new reading is within
/// three quarters of a step of it, so that a reading between two steps causes no new questions. If nobody
/// measures an input, a typical value is used: 22 °C, 5 Pa, a share of 0.5. Outside of the temperatures that
/// a model was trained at its output means nothing, so the nearest of these stands for a reading beyond them:
/// the end of the labels' span, or for the second version, which names no span, 5 or 45 °C.
question question_of(const node_model& m, const readings& r, double cores, policy::cpu_format format,
                     const question* before);

/// A clause for each input of the question that nobody measures: "nobody measures …".
std::vector<std::string> assumptions_of(const question& q);

/// A clause for each reading that lies beyond the temperatures of its model by more than a step: "… is
/// outside of …".
std::vector<std::string> limits_of(const node_model& m, const readings& r);

}  // namespace binnacle::model_servers
