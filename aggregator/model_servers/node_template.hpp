#pragma once

#include "aggregator/kube/objects/reflector.hpp"
#include "aggregator/model_servers/node_config.hpp"
#include "aggregator/questions/selector.hpp"
#include "common/error.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::model_servers {

/// The values of a node that a template's text may use.
struct template_values {
  std::string_view hostname;  ///< the label kubernetes.io/hostname; empty: none
  std::string_view address;   ///< its first InternalIP; empty: not known
};

/// Returns `text` with its actions replaced. Actions are {{.Hostname}}, {{.IPv4.Address}}, {{.IPv4.Octet1}}
/// to Octet4, trimPrefix PREFIX TEXT and add NUMBER…; the arguments of the last two are these variables,
/// texts in quotes or whole numbers. Where a node lacks a value, WAO's substitutes are used:
/// undefined.example.com, x.x.x.x and x. Errors: invalid_input, a clause that quotes an action that we do not
/// know (WAO takes everything of Go's templates and of sprig). Source: WAO's
/// nodeconfigtemplate_controller.go, sprig's documentation.
result<std::string> fill_in(std::string_view text, const template_values& of);

/// A NodeConfigTemplate of WAO's: one NodeConfig for all nodes that its selector selects. WAO's own
/// controller creates NodeConfig objects from it; here the template itself is read.
class node_template {
 public:
  /// Errors: invalid_input, a clause that says why the template cannot be used for any node.
  static result<node_template> read(const kube::object_key& key, const boost::json::object& spec);

  bool selects(const label_look_up& labels) const { return selector_.matches(labels); }
  /// The model for a node that the template selects.
  named_model model_of(const template_values& node) const;
  /// Whether its texts use a node's address.
  bool needs_address() const noexcept { return needs_address_; }

 private:
  std::string object_, name_space_;
  questions::selector selector_;
  boost::json::object spec_;
  std::optional<named_model> of_all_;  // set if no text depends on the node
  bool needs_address_ = false;
};

}  // namespace binnacle::model_servers
