#pragma once

#include "aggregator/kube/objects/reflector.hpp"
#include "aggregator/model_servers/complaints.hpp"
#include "aggregator/model_servers/node_config.hpp"
#include "aggregator/model_servers/node_template.hpp"
#include "common/error.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// NodeConfig and NodeConfigTemplate objects of WAO's second version, of both API groups: which model each
/// node has. A NodeConfig goes before a template, and an object of the newer group before one of the older.
/// If several objects are for one node, the first by namespace and name counts.
class node_configs {
 public:
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
  /// The model of a node; none if no object names or selects the node.
  std::optional<named_model> find(const node& n) const;
  /// Complains of templates that select a node although another template goes before them.
  void complain_of(const node& n, complaints& to, instant now) const;
  /// Whether some template uses nodes' addresses.
  bool need_addresses() const noexcept;
  std::size_t size() const noexcept;
  /// Complains of faults of objects that do not depend on nodes.
  void complain(complaints& to, instant now) const;

 private:
  static constexpr std::size_t groups = 2;
  class configs_of final : public kube::watcher {
   public:
    void changed(const kube::object_key& key, const boost::json::object& given) override;
    void gone(const kube::object_key& key) override;
    void synced() override {}

    struct object {
      std::string node;
      named_model what;
    };
    std::string api_version;
    std::map<kube::object_key, object> objects;
    std::map<std::string, std::vector<kube::object_key>, std::less<>> by_node;  // in order

   private:
    void unlist(const kube::object_key& key);
  };
  class templates_of final : public kube::watcher {
   public:
    void changed(const kube::object_key& key, const boost::json::object& given) override;
    void gone(const kube::object_key& key) override { objects.erase(key); }
    void synced() override {}

    struct object {
      kube::object_reference about;
      result<node_template> what;
    };
    std::string api_version;
    std::map<kube::object_key, object> objects;
  };
  std::array<configs_of, groups> configs_;
  std::array<templates_of, groups> templates_;
};

}  // namespace binnacle::model_servers
