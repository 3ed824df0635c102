#pragma once

#include "aggregator/kube/objects/reflector.hpp"
#include "aggregator/model_servers/node_model.hpp"
#include "common/error.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// NodeConfig objects of WAO's second version, of both API groups: which model each node has. One watcher for
/// both collections; objects of the newer group win. Of several objects for one node the first by namespace
/// and name counts.
class node_configs {
 public:
  /// The two collections, the newer first.
  static constexpr std::size_t groups = 2;
  static kube::reflector::settings collection(std::size_t group);

  /// For the reflector of that collection.
  kube::watcher& of_group(std::size_t group) noexcept { return collections_[group]; }

  struct found {
    std::string object;        ///< "NodeConfig wao-system/worker-0"
    result<node_model> model;  ///< or, in a clause, why it cannot be used
  };
  /// Null: no object names that node.
  const found* find(std::string_view node) const;
  std::size_t size() const noexcept;

 private:
  struct object {
    std::string node;
    found what;
  };
  class collection_of final : public kube::watcher {
   public:
    void changed(const kube::object_key& key, const boost::json::object& given) override;
    void gone(const kube::object_key& key) override;
    void synced() override {}
    std::map<kube::object_key, object> objects;
    std::map<std::string, std::vector<kube::object_key>, std::less<>> by_node;  // in order

   private:
    void unlist(const kube::object_key& key);
  };
  std::array<collection_of, groups> collections_;
};

/// What one NodeConfig says, for tests, too.
node_configs::found read_node_config(const kube::object_key& key, const boost::json::object& spec);

}  // namespace binnacle::model_servers
