#pragma once

#include "aggregator/model_servers/served_model.hpp"
#include "common/error.hpp"
#include "common/http/response_parser.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::model_servers {

/// A server that says where a node's model is asked: WAO's powerConsumptionEndpointProvider of type Redfish.
/// It is asked which systems it has, and then for the MachineLearningModel of the first one. BMCs have no
/// such resource. WAO's mlmm stands in front of them and adds it.
struct endpoint_provider {
  bool secure = false;  ///< https
  std::string host;     ///< a name or an address, without brackets
  std::uint16_t port = 0;
  std::string path;  ///< in front of "/redfish/v1"; empty, or "/bmc"
  /// "NAMESPACE/NAME" of the Secret with the user name and password that the server wants; empty: none.
  std::string secret;

  /// "bmc:443"
  std::string server() const;
  /// "https://bmc:443"
  std::string text() const;
  friend auto operator<=>(const endpoint_provider&, const endpoint_provider&) = default;
};

/// The provider at "https://HOST:PORT". Errors: invalid_input, a clause that says what is wrong.
result<endpoint_provider> redfish_provider(std::string_view endpoint);

// The answers. Each error is a clause that quotes nothing of the answer, because it could repeat a password.
// Codes: not_found for 404, permission for 401 and 403, io for other statuses, protocol for what cannot be
// used.

/// The id of the first system in the answer to "/redfish/v1/Systems": one segment of a path.
result<std::string> system_in(const endpoint_provider& of, const http::answer& got);

/// The model in the answer to "/redfish/v1/Systems/ID/MachineLearningModel", without a Secret. Its Url, Name
/// and Version make an endpoint, which is read as one that is written down.
result<served_model> model_in(const endpoint_provider& of, const http::answer& got);

}  // namespace binnacle::model_servers
