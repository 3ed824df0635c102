#pragma once

#include "cli/json.hpp"
#include "cli/views/nodes.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The logic of `binnacle top`, without the terminal: what it knows, what it shows, and what keys do. All of
/// it is pure except `curses` (the terminal) and `watch` (the loop).
namespace binnacle::cli::top {

/// The newest numbers of one series, one per answer. NaN: there was no value.
class trail {
 public:
  static constexpr std::size_t most = 32;  ///< the oldest goes first

  void add(float value) noexcept;
  std::size_t size() const noexcept { return count_; }
  /// `i` = 0 is the oldest number.
  float at(std::size_t i) const noexcept { return kept_[(next_ + most - count_ + i) % most]; }

 private:
  std::array<float, most> kept_{};
  std::uint8_t next_ = 0, count_ = 0;
};

struct reading {
  std::optional<double> value;
  std::string absent;        ///< why there is none, in words
  std::int64_t age_ms = -1;  ///< of the reading when the answer came; -1: never read
  bool partial = false;      ///< some members, or a part of the window, are missing
};

/// A node, or a group of nodes.
struct node {
  std::string name;
  std::size_t members = 0;                                  ///< nodes of a group; 0: this is a single node
  std::size_t connected = 0;                                ///< how many of them are; of a node 0 or 1
  bool lacking = false;                                     ///< it works only in part
  std::string version;                                      ///< the agent's version
  std::vector<std::pair<std::string, std::string>> labels;  ///< given by policies
  std::map<std::string, std::string> object_labels;  ///< of its Node object, as far as they are asked for

  // One value for each of fleet::metrics().
  std::vector<reading> values;
  std::vector<trail> trails;

  // One standing for each of fleet::policies().
  std::vector<standing> standings;
  std::vector<std::size_t> concerned;  ///< for each policy: members whose verdict is not "pass"

  std::string model;            ///< the source of its curve of watts ("node", "class"…); empty: no curve
  std::int64_t covered = 0;     ///< percent of its range of loads that it has measured
  std::optional<double> noise;  ///< by how many percent its watts lie beside the curve; empty: not told

  std::string why;    ///< the reasons of its verdicts, then what it lacks
  std::string words;  ///< the text in which a filter looks, in lower case
};

/// The nodes as the aggregator told them last, and the values that this session has seen.
class fleet {
 public:
  explicit fleet(std::vector<std::string> wanted = {}) : wanted_(std::move(wanted)) {}

  /// Takes an answer of /api/v1/nodes that came at `now_ms` (of any one clock). An answer in another form
  /// gives no nodes.
  void take(const json::value& answer, std::int64_t now_ms);

  /// Takes the keys of Node objects' labels, from an answer of /api/v1/nodelabels.
  void take_label_keys(const json::value& answer);
  /// Takes the nodes that carry each value of the label `key`, from an answer of the same route.
  void take_labels(const std::string& key, const json::value& answer);
  /// Forgets the values of all other keys.
  void keep_labels(const std::vector<std::string>& keys);
  /// Keys of Node objects' labels, as the server told them last; only those with few enough values to group
  /// by.
  const std::vector<std::string>& label_keys() const noexcept { return label_keys_; }

  bool empty() const noexcept { return taken_ms_ < 0; }  ///< nothing was taken yet
  const std::map<std::string, node>& nodes() const noexcept { return nodes_; }
  /// POWER, TEMP, CPU and the metrics that the user asked for, then those that policies compare.
  const std::vector<shown_metric>& metrics() const noexcept { return metrics_; }
  /// The first so many of metrics() are shown even if no policy is watched.
  std::size_t usual() const noexcept { return usual_; }
  const std::vector<std::string>& policies() const noexcept { return policies_; }
  /// Whether some node has a curve of watts. None has one before a policy places pods by watts.
  bool any_model() const noexcept { return any_model_; }
  std::size_t connected() const noexcept { return connected_; }
  std::size_t omitted() const noexcept { return omitted_; }  ///< nodes that the answer had no room for
  /// Strategies whose verdicts the answer had no room for, on any node.
  std::int64_t strategies_omitted() const noexcept { return strategies_omitted_; }
  std::int64_t taken_ms() const noexcept { return taken_ms_; }
  const std::string& time() const noexcept { return time_; }  ///< the aggregator's, as text

 private:
  void choose(const json::value& answer);
  void take_node(node& n, const json::value& told);
  void label(const std::string& name, node& n);

  std::vector<std::string> wanted_;
  std::map<std::string, node> nodes_;
  std::vector<std::string> label_keys_;
  std::map<std::string, std::map<std::string, std::string>> labelled_;  // key → node → value
  std::vector<shown_metric> metrics_;
  std::size_t usual_ = 0;
  std::vector<std::string> policies_;
  std::size_t connected_ = 0, omitted_ = 0;
  std::int64_t strategies_omitted_ = 0;
  std::int64_t taken_ms_ = -1;
  bool any_model_ = false;
  std::string time_;
};

}  // namespace binnacle::cli::top
