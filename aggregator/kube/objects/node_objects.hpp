#pragma once

#include "aggregator/kube/objects/packed_labels.hpp"
#include "aggregator/kube/objects/reflector.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::kube {

/// How many nodes have each value of one label.
class label_values {
 public:
  explicit label_values(std::string_view key) noexcept : key_(key) {}
  std::string_view key() const noexcept { return key_; }
  /// Values that some node has.
  std::size_t different() const noexcept { return nodes_.size(); }
  /// A node's labels changed from `before` to `now`.
  void changed(const packed_labels& before, const packed_labels& now);

 private:
  std::string_view key_;
  std::map<std::string, std::size_t, std::less<>> nodes_;  // by value
};

/// The API server's Node objects: their labels, and our annotation on them. Reads metadata only.
class node_objects final : public watcher {
 public:
  /// The keys of the labels that we wrote on a node, with commas between them.
  static constexpr std::string_view annotation = "binnacle/labels";
  /// A label that we change so that the scheduler tries waiting pods again. Its value means nothing.
  static constexpr std::string_view wake_label = "binnacle/wake";
  /// The Accept header of a patch: the answer is the node's metadata alone.
  static constexpr std::string_view accept =
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

  /// What to follow.
  static reflector::settings collection();

  struct node {
    std::string uid;
    std::string version;
    packed_labels labels;
    std::set<std::string, std::less<>> ours;  ///< keys in our annotation; the labels themselves may be gone
    std::string patched;  ///< the version of our last patch, until the watch has reached it

    /// The labels that we wrote and that are still there.
    std::map<std::string, std::string> written() const;
  };
  const std::map<std::string, node, std::less<>>& nodes() const noexcept { return nodes_; }
  const node* find(std::string_view name) const noexcept;
  const label_values& regions() const noexcept { return regions_; }
  const label_values& zones() const noexcept { return zones_; }

  /// The answer to a patch. It is ignored if the watch has already shown that the node is gone, or that
  /// another node has its name.
  void patched(const std::string& name, const boost::json::object& object);

  /// Takes a node from a list that was read beside the watch, which may lag behind that list or be ahead of
  /// it. `watched` is the version that the watch has reached (reflector::version()).
  void read_again(const object_key& key, const boost::json::object& object, std::string_view watched);
  /// The watch has reached `version`. A node that only read_again() brought, and that is no newer than this,
  /// is gone: the watch would have brought it.
  void watched_up_to(std::string_view version);

  /// Names of the nodes that are new, gone, or carry other labels than at the last call, each once.
  std::vector<std::string> take();

  void changed(const object_key& key, const boost::json::object& object) override;
  void gone(const object_key& key) override;
  void synced() override;

 private:
  void update(const object_key& key, const boost::json::object& object);

  std::map<std::string, node, std::less<>> nodes_;
  std::set<std::string> unwatched_;  // nodes that read_again() brought, until the watch brings them
  std::set<std::string> changed_;
  label_values regions_{"topology.kubernetes.io/region"}, zones_{"topology.kubernetes.io/zone"};
};

}  // namespace binnacle::kube
