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

/// What a template's text may ask of a node.
struct template_values {
  std::string_view hostname;  ///< its label kubernetes.io/hostname; empty: it has none
  std::string_view address;   ///< its first InternalIP; empty: not known
};

/// `text` with its actions replaced: {{.Hostname}}, {{.IPv4.Address}}, {{.IPv4.Octet1}} to Octet4, and with
/// these, texts in quotes and whole numbers trimPrefix PREFIX TEXT and add NUMBER…. Values that a node does
/// not have are WAO's: undefined.example.com, x.x.x.x and x. Errors: invalid_input, a clause that quotes the
/// action: WAO takes all of Go's templates and of sprig. Source: WAO's nodeconfigtemplate_controller.go,
/// sprig's documentation.
result<std::string> fill_in(std::string_view text, const template_values& of);

/// A NodeConfigTemplate of WAO's: the NodeConfig of all nodes that its selector takes. WAO's own controller
/// makes NodeConfig objects of it; here it is read as it is.
class node_template {
 public:
  /// Errors: invalid_input, a clause: it can be used for no node.
  static result<node_template> read(const kube::object_key& key, const boost::json::object& spec);

  bool selects(const label_look_up& labels) const { return selector_.matches(labels); }
  /// Which model it gives to a node that it selects.
  named_model model_of(const template_values& node) const;
  /// Whether its texts ask for a node's address.
  bool needs_address() const noexcept { return needs_address_; }

 private:
  std::string object_;
  questions::selector selector_;
  boost::json::object spec_;
  std::optional<named_model> of_all_;  // where no text depends on the node
  bool needs_address_ = false;
};

}  // namespace binnacle::model_servers
