#pragma once

#include "aggregator/policy/published/view.hpp"
#include "common/text/json_writer.hpp"

#include <string>

namespace binnacle::ops {

/// {"node":…,"loadRatio":0.12,"watts":212.4,"model":{…}}: the node's present load and watts, each if there is
/// a value, and its model. "model" is null if nothing is known of the node's watts, else
/// {"source":"node","hardware":…,"meter":"dcmi","others":7,"coveredPercent":62,"coveredFrom":0,"coveredTo":0.55,"knownFrom":0,"knownTo":0.8,
///  "noisePercent":1.2,"samples":4711,"outliers":3,"meterStuck":false,"ageSeconds":48,"cores":64,"predictedWatts":215.0,
///  "curve":[{"load":0,"watts":90.1,"samples":600},…]}.
/// A curve from a model server ("source":"server") goes before a learned one. It also has "server":URL and
/// "assumedInputs":1, the number of the model's inputs that nobody measures. What was learned of the node
/// beside it, if anything, is "learned", in the form of "model". "modelServerTrouble" says what is
/// wrong now with the node's model server, or with who says where its model is. "meterTrouble" says why
/// nothing is learned from a node's meter now, if no model says so by "meterStuck". "ratedTrouble" says why
/// the rated watts of a node without a model cannot be used (if they can, "source" is "rated"). Between the
/// loads knownFrom and knownTo this node, or one with the same hardware, has measured; outside them the curve
/// is a guess from servers in general. coveredFrom and coveredTo are left out while the node has no
/// measurements of its own, predictedWatts while there is no load. "acceleratorsInWatts":8 if the node has
/// accelerators and a meter that measures more than its processors. "onlyExternal":true if all policies with
/// minimizepower say model: External, so that no learned curve counts.
void write_power(json_writer& out, const store::node_view& node, const policy::view& all, instant now);

/// Why a node's rated watts cannot be used, as a clause; empty if they can, or if the node has none.
std::string trouble_of_rated(const store::row& cells, instant now);

/// The model of a node's watts; null if there is none. A model server's curve goes before a learned one.
const predict::model* model_of(const policy::view& all, store::node_id id) noexcept;
/// {"source":"node","coveredPercent":62,"noisePercent":1.2}
void write_model_in_short(json_writer& out, const predict::model& m);

}  // namespace binnacle::ops
