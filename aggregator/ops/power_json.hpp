#pragma once

#include "aggregator/policy/published/view.hpp"
#include "common/text/json_writer.hpp"

namespace binnacle::ops {

/// {"node":…,"loadRatio":0.12,"watts":212.4,"model":{…}}: what a node does now, each where there is a value,
/// and what is known of its watts. model is null if that is nothing, else
/// {"source":"node","hardware":…,"meter":"dcmi","others":7,"coveredPercent":62,"coveredFrom":0,"coveredTo":0.55,"knownFrom":0,"knownTo":0.8,
///  "noisePercent":1.2,"samples":4711,"outliers":3,"meterStuck":false,"ageSeconds":48,"cores":64,"predictedWatts":215.0,
///  "curve":[{"load":0,"watts":90.1,"samples":600},…]}.
/// Of a model server ("source":"server") also "server":URL and "assumedInputs":1, how many of the model's
/// inputs nobody measures; it goes before what was learned. "modelServerTrouble" says why the node's model
/// server is of no use now. "ratedTrouble": why the rated watts of a node without a model are of no use
/// ("source":"rated" if they are).
/// knownFrom and knownTo: the loads between which this node or one with the same hardware has measured;
/// beyond them the curve is a guess from servers in general. coveredFrom and coveredTo are absent while the
/// node has not measured itself; predictedWatts without a load.
void write_power(json_writer& out, const store::node_view& node, const policy::view& all, instant now);

/// What is known of a node's watts; null: nothing. A model server's curve goes before what was learned.
const predict::model* model_of(const policy::view& all, store::node_id id) noexcept;
/// {"source":"node","coveredPercent":62}
void write_model_in_short(json_writer& out, const predict::model& m);

}  // namespace binnacle::ops
