#pragma once

#include "cli/json.hpp"

#include <boost/json/parse.hpp>

/// Sample answers of an aggregator's ops port.
namespace binnacle::cli {

inline const char* const status_sample = R"({
  "version":"0.1.0","replica":"agg-1","cluster":"","mode":"standalone","time":"2026-01-01T12:00:00Z","uptimeSeconds":192,
  "nodes":{"known":3,"connected":2},
  "sourceProblems":{"count":2,"first":[{"node":"node-b","source":"rapl","message":"energy_uj may not be read: run the agent as root"}]},
  "policies":{"inForce":2,"dryRun":1,"problems":1,"strategies":[
    {"policy":"default/power","strategy":"dontschedule","mode":"Enforce","violating":1,"held":0,"missing":2,"frozen":0},
    {"policy":"lab/heat","strategy":"deschedule","mode":"DryRun","violating":0,"held":0,"missing":0,"frozen":0}]},
  "decisions":{"kept":20,"total":120,"dropped":100},
  "listeners":[{"name":"extender","address":"0.0.0.0:9001","open":1,"accepted":2,"rejected":0,"requests":120,"handshakeFailures":0,"malformed":0,"timeouts":0},
               {"name":"ops","address":"0.0.0.0:9102","open":1,"accepted":9,"rejected":0,"requests":8,"handshakeFailures":1,"malformed":0,"timeouts":0}],
  "certificates":[{"file":"pki/server.pem","secondsLeft":7200}],
  "warnings":["the certificate pki/server.pem ends today"]})";

inline const char* const nodes_sample = R"({
  "time":"2026-01-01T12:00:00Z",
  "metrics":[{"name":"rapl_power_watts","unit":"watts"},{"name":"os_cpu_utilization_ratio","unit":"ratio"},
             {"name":"os_memory_available_bytes","unit":"bytes"}],
  "nodes":[
    {"name":"node-a","connected":true,"seenMs":100,"values":{"rapl_power_watts":{"value":22.1,"ageMs":210},
       "os_cpu_utilization_ratio":{"value":0.0312,"ageMs":480},"os_memory_available_bytes":{"value":8589934592,"ageMs":480}},
     "verdicts":[{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"pass","violating":false},
                 {"policy":"lab/heat","strategy":"deschedule","mode":"DryRun","state":"violating","violating":true,"rule":"inlet_celsius GreaterThan 30"}]},
    {"name":"node-b","connected":true,"seenMs":100,"values":{"rapl_power_watts":{"value":71.4,"ageMs":180,"partial":true},
       "os_cpu_utilization_ratio":{"value":0.9875,"ageMs":450},"os_memory_available_bytes":{"value":123456,"ageMs":450}},
     "verdicts":[{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"violating","violating":true,"rule":"rapl_power_watts GreaterThan 60"},
                 {"policy":"default/power","strategy":"deschedule","mode":"Enforce","state":"held","violating":false,"rule":"rapl_power_watts GreaterThan 65"},
                 {"policy":"lab/heat","strategy":"deschedule","mode":"DryRun","state":"pass","violating":false}]},
    {"name":"node-c","connected":false,"seenMs":15000,"values":{"rapl_power_watts":{"absent":"disconnected","ageMs":15300},
       "os_cpu_utilization_ratio":{"absent":"disconnected","ageMs":15300},"os_memory_available_bytes":{"absent":"not_read_yet"}},
     "verdicts":[{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"missing","violating":false,"rule":"rapl_power_watts GreaterThan 60"},
                 {"policy":"lab/heat","strategy":"deschedule","mode":"DryRun","state":"pass","violating":false}]}],
  "total":3,"omitted":0})";

inline const char* const filter_sample = R"({
  "id":7,"time":"2026-01-01T12:00:00Z","unixMs":1767268800000,"verb":"filter","outcome":"decided","dryRun":false,"tookUs":310,
  "pod":{"namespace":"default","name":"web-7f9c4","uid":"6f1c"},"wantedPolicy":"power",
  "policy":{"namespace":"default","name":"power","revision":3,"mode":"Enforce","logicalOperator":"anyOf"},
  "rules":[{"rule":"rapl_power_watts GreaterThan 60","metric":"rapl_power_watts","operator":"GreaterThan","target":60,"refused":1},
           {"rule":"inlet_celsius GreaterThan 30.5","metric":"inlet_celsius","operator":"GreaterThan","target":30.5,"refused":0}],
  "candidates":4,"passed":3,"refused":1,"unknown":1,"oldestMs":410,
  "summary":"filter of pod default/web-7f9c4: 3 of 4 nodes pass",
  "nodes":[{"node":"node-b","verdict":"refused","rule":0,"values":[{"value":71.4,"ageMs":180,"margin":11.4},{"value":21.5,"ageMs":900,"margin":-9.0}]},
           {"node":"node-a","verdict":"passed","values":[{"value":22.1,"ageMs":210,"margin":-37.9},{"absent":"stale","ageMs":61000}]},
           {"node":"node-x","verdict":"unknown"}],
  "nodesOmitted":1})";

inline const char* const prioritize_sample = R"({
  "id":8,"time":"2026-01-01T12:00:01Z","unixMs":1767268801000,"verb":"prioritize","outcome":"decided","dryRun":true,
  "pod":{"namespace":"default","name":"web-7f9c4","uid":"6f1c"},
  "policy":{"namespace":"default","name":"power","revision":3,"mode":"DryRun","logicalOperator":"anyOf"},
  "rules":[{"rule":"rapl_power_watts LessThan 30","metric":"rapl_power_watts","operator":"LessThan","target":30}],
  "summary":"prioritize of pod default/web-7f9c4: node-a is best",
  "nodes":[{"node":"node-a","verdict":"scored","score":8,"crowd":2,"values":[{"value":22.1,"ageMs":210}]},
           {"node":"node-c","verdict":"unscored","score":0,"values":[{"absent":"not_read_yet"}]},
           {"node":"node-d","verdict":"unscored","score":0,"values":[{"value":9.5,"partial":true,"ageMs":80}]}],
  "nodesOmitted":0})";

inline const char* const policies_sample = R"({
  "policies":[
    {"namespace":"default","name":"power","revision":3,"mode":"Enforce","strategies":[
      {"strategy":"dontschedule","logicalOperator":"anyOf","onMissing":"Reject","rules":["rapl_power_watts GreaterThan 60","inlet_celsius GreaterThan 30"],
       "violating":{"count":10,"nodes":["n1","n2","n3","n4","n5","n6","n7","n8","n9","n10"]},"missing":{"count":1,"nodes":["n11"]}},
      {"strategy":"scheduleonmetric","logicalOperator":"anyOf","rules":["rapl_power_watts LessThan 30"]}],
      "labels":[{"label":"power=violating","count":2,"nodes":["n1","n2"]}]},
    {"namespace":"lab","name":"heat","revision":1,"mode":"DryRun","strategies":[
      {"strategy":"deschedule","logicalOperator":"allOf","maxNodes":"20%","coolDown":"10m","rules":["inlet_celsius GreaterThan 35"]}],
      "wouldLabel":[{"label":"heat=violating","count":3,"nodes":["n1","n2"]}]}],
  "conditions":[{"policy":"default/power","strategy":"dontschedule","type":"MetricMissing","message":"no node has a value of inlet_celsius"}],
  "problems":[{"severity":"error","file":"power.yaml","line":12,"field":"spec.strategies.dontschedule.rules[0].target","message":"'60.5' is no whole number: write targetQuantity: 60.5"},
              {"severity":"warning","file":"b.yaml","message":"is empty"}]})";

inline json::value parsed(const char* text) { return json::parse(text); }

}  // namespace binnacle::cli
