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
/// Of several for one node the first by namespace and name counts.
class node_configs {
 public:
  node_configs();

  /// Four: NodeConfigs of the newer group and of the older, and the templates of both.
  static constexpr std::size_t collections = 4;
  static kube::reflector::settings collection(std::size_t i);
  /// For the reflector of that collection.
  kube::watcher& watcher_of(std::size_t i) noexcept;

  struct node {
    std::string_view name;
    label_look_up labels;  ///< null: there is no such Node object, and no template selects it
    std::string_view address;
  };
  /// None: no object names that node or selects it.
  std::optional<named_model> find(const node& n) const;
  /// Says which templates select a node that another one is for.
  void complain_of(const node& n, complaints& to, instant now) const;
  /// Whether some template asks for nodes' addresses.
  bool need_addresses() const noexcept;
  std::size_t size() const noexcept;
  /// Says what is wrong with objects whatever their nodes are.
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
