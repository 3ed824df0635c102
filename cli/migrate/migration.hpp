#pragma once

#include "cli/migrate/manifest.hpp"

#include <yaml-cpp/yaml.h>

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace binnacle::cli::migrate {

/// What became of one setting or object of the old installation.
struct note {
  enum class fate : unsigned char {
    carried,  ///< is in the values
    works,    ///< needs no change: Binnacle understands it as it is
    dropped,  ///< has no meaning with Binnacle
    yours,    ///< a person must decide or do something
  };
  fate what = fate::dropped;
  std::string subject;   ///< "Deployment telemetry-aware-scheduling, --syncPeriod=2s"
  std::string sentence;  ///< why, or what to do
};

/// What was found of WAO.
struct wao_findings {
  std::set<std::string> schedulers;  ///< profiles with MinimizePower, by schedulerName
  std::set<std::string> spreaders;   ///< profiles with PodSpread alone, by schedulerName
  /// Of `schedulers`, those whose models get the load in another form than those of the first: which form.
  std::map<std::string, std::string, std::less<>> other_formats;
  /// The NodeConfig that counts for a node, by the node's name: the newer API group first, then the first by
  /// namespace and name.
  struct config {
    std::size_t group = 0;
    std::string name_space, name;
    friend auto operator<=>(const config&, const config&) = default;
  };
  std::map<std::string, config, std::less<>> config_of;
  std::string secrets_from;          ///< the namespace of the Secrets that may be read; empty: of none
  std::set<std::string> namespaces;  ///< of the pods and workloads that name one of these schedulers
  std::size_t objects = 0;           ///< NodeConfigs and templates that can be used as they are
  std::size_t nodes = 0;             ///< nodes whose labels name a model
  YAML::Node strategy{YAML::NodeType::Map};  ///< minimizepower, made from the plug-in's arguments
};

/// The result: values for the Helm chart, and a note about each part of what was given.
struct migration {
  YAML::Node values{YAML::NodeType::Map};  ///< only what differs from the chart's defaults
  std::vector<YAML::Node> objects;         ///< to apply in addition to the chart
  std::vector<note> notes;                 ///< schedulers' configurations first, else as the manifests stand
  wao_findings wao;
  std::string share_of_nodes;  ///< the percentageOfNodesToScore that was carried over; empty: none yet
  YAML::Node share_looked_at;  ///< the scheduler's configuration in which it was looked for last

  void carried(std::string subject, std::string sentence);
  void works(std::string subject, std::string sentence);
  void dropped(std::string subject, std::string sentence);
  void yours(std::string subject, std::string sentence);
  /// As the other functions, but only if there is no note about this subject yet.
  void once(note::fate what, std::string subject, std::string sentence);
};

/// Turns an installation of Intel TAS with collectd, Prometheus and its adapter, or of WAO, into values of
/// our chart. It knows: TAS's Deployment (flags, placement, pull secrets), Service, RBAC and TLS Secrets, the
/// scheduler's configuration, TASPolicy objects (their metrics looked up), collectd's and node-exporter's
/// DaemonSets and configuration, Prometheus, its adapter and the APIService; WAO's NodeConfigs, templates,
/// labels of nodes, schedulers and their pods; pods that require a node without a policy's label. A note
/// names every object that it does not know. Pure.
migration migrate(std::span<const manifest> installed);

// The parts, one file each (WAO has more: wao.hpp). Each returns whether it knows this manifest.
bool migrate_tas(const manifest& m, migration& out);
bool migrate_scheduler(const manifest& m, migration& out);
/// Carries percentageOfNodesToScore over from a scheduler that the chart's scheduler replaces: that of its
/// profile, which overrides that of the whole file. A second call for a file changes nothing. Of several
/// files the first that has a share counts, and a note names each other share.
void take_share_of_nodes(const manifest& m, const YAML::Node& profile, migration& out);
bool migrate_policy(const manifest& m, migration& out);
bool migrate_collector(const manifest& m, migration& out);
bool migrate_metrics_path(const manifest& m, migration& out);
bool migrate_wao(const manifest& m, migration& out);
/// Handles pods' required affinity to nodes. `installed` is searched for the object's owner.
bool migrate_affinity(const manifest& m, std::span<const manifest> installed, migration& out);

// These run before and after all manifests: the first finds which NodeConfig counts for a node; the last
// makes the policy for the pods of WAO's schedulers.
void find_wao(std::span<const manifest> installed, migration& out);
void finish_wao(migration& out);

/// The scheduler of a profile, by the name that pods ask for. A profile without a name is default-scheduler.
std::string name_of_profile(const YAML::Node& profile);

/// The body of a Pod, or the pod template of a workload; a null node if there is none.
YAML::Node pod_template_of(const manifest& m);

/// One argument of a pod template's containers. "--name=value" and "-name value" give name and value;
/// "--name" alone gives an empty value. Flags are in order, of all containers.
struct flag {
  std::string name;
  std::string value;
  std::string written() const { return value.empty() ? "--" + name : "--" + name + "=" + value; }
};
std::vector<flag> flags_of(const manifest& workload);

/// The images of a workload's containers, joined into one text.
std::string images_of(const manifest& workload);

}  // namespace binnacle::cli::migrate
