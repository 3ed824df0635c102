#pragma once

#include "aggregator/kube/objects/reflector.hpp"
#include "aggregator/model_servers/complaints.hpp"
#include "aggregator/model_servers/node_config.hpp"
#include "aggregator/model_servers/node_template.hpp"
#include "common/error.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// NodeConfig and NodeConfigTemplate objects of WAO's second version, of both API groups: which model each
/// node has. A NodeConfig goes before a template, and an object of the newer group before one of the older.
/// If several objects are for one node, the first by namespace and name counts. An object that names no model
/// is passed over if a later one names one. Bounds: most_configs, most_templates; further objects are left
/// out and named, until there is room.
class node_configs {
 public:
  /// Of each API group. Every look goes through all templates for each node, and through all NodeConfigs.
  static constexpr std::size_t most_configs = 20'000, most_templates = 50;
  /// So many of the templates that select a node are tried, since each must be filled in for that.
  static constexpr std::size_t most_tried = 3;

  node_configs();

  /// Four collections: NodeConfigs and NodeConfigTemplates, each of the newer and of the older group.
  static constexpr std::size_t collections = 4;
  static kube::reflector::settings collection(std::size_t i);
  /// For the reflector of that collection.
  kube::watcher& watcher_of(std::size_t i) noexcept;

  struct node {
    std::string_view name;
    label_look_up labels;  ///< null: there is no such Node object, and no template selects it
    std::string_view address;
  };
  /// The model of a node; none if no object names or selects the node. An error only if no object gives the
  /// node a model: that of the first one. `passed_over` gets the others that were looked at and name no
  /// model.
  std::optional<named_model> find(const node& n, std::vector<named_model>* passed_over = nullptr) const;
  /// Complains of templates that select a node although another template goes before them. `counts`: what
  /// find() gave; null: not known.
  void complain_of(const node& n, complaints& to, instant now, const named_model* counts = nullptr) const;
  /// Whether some template uses nodes' addresses.
  bool need_addresses() const noexcept;
  std::size_t size() const noexcept;
  /// Complains of faults of objects that do not depend on nodes. False: `enough` has ended it, and the next
  /// call goes on with the next object.
  bool complain(complaints& to, instant now, const std::function<bool()>& enough = {});
  /// Sentences about objects that are left out.
  std::vector<std::string> troubles() const;
  /// Whether a collection that leaves objects out has room again since the last call: it must be read again.
  bool take_freed(std::size_t collection) noexcept;

 private:
  static constexpr std::size_t groups = node_config_groups.size();
  class collection_of : public kube::watcher {
   public:
    void synced() override {}

    std::string kind, api_version;
    std::set<kube::object_key> left_out;
    bool freed = false;  // room, while there were objects left out
  };
  class configs_of final : public collection_of {
   public:
    void changed(const kube::object_key& key, const boost::json::object& given) override;
    void gone(const kube::object_key& key) override;

    struct object {
      std::string node;  // empty: it is for none
      named_model what;
    };
    /// What an object's place among those for one node goes by.
    struct claim {
      bool names_no_model = false;
      kube::object_key key;
      friend auto operator<=>(const claim&, const claim&) = default;
    };
    std::map<kube::object_key, object> objects;
    std::map<std::string, std::set<claim>, std::less<>> by_node;

   private:
    void unlist(const kube::object_key& key);
  };
  class templates_of final : public collection_of {
   public:
    void changed(const kube::object_key& key, const boost::json::object& given) override;
    void gone(const kube::object_key& key) override;

    struct object {
      kube::object_reference about;
      result<node_template> what;
    };
    std::map<kube::object_key, object> objects;
  };
  collection_of& collection_at(std::size_t i) noexcept;
  /// The NodeConfig that counts for a node, or null.
  const named_model* config_of(std::string_view node) const;
  void complain_of_config(const configs_of::object& o, complaints& to, instant now) const;

  std::array<configs_of, groups> configs_;
  std::array<templates_of, groups> templates_;
  // Where complain() has come to: the last object.
  std::size_t complained_group_ = 0;
  kube::object_key complained_key_;
};

}  // namespace binnacle::model_servers
