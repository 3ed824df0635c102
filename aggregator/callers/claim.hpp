#pragma once

#include "aggregator/callers/layer.hpp"
#include "aggregator/kube/reviews/reviews.hpp"
#include "common/http/message.hpp"

#include <string>

namespace binnacle::callers {

/// Who a request says it comes from, as far as that can be told without asking anybody.
struct claim {
  enum class kind : unsigned char {
    nobody,  ///< see `why`
    ours,    ///< a certificate that our own authority for callers signed
    user,    ///< `who`, by a certificate of the cluster's or by the API server's word
    token,   ///< whoever `token` belongs to
  };
  kind how = kind::nobody;
  kube::user who = {};
  std::string token = {};
  std::string why = {};  ///< one sentence: what is wrong, and what to present
};

/// In the order in which an API server asks: the front proxy's certificate, whose headers alone are believed;
/// a client's certificate; a bearer token. A certificate that counts for nothing takes nothing from the token
/// beside it. `known` null: the layer was not read (yet). Pure.
/// Source: kubernetes.io, "Configure the Aggregation Layer"; k8s.io/apiserver, authentication/request.
claim who_asks(const http::request& r, const layer* known);

}  // namespace binnacle::callers
