#pragma once

#include "aggregator/callers/layer.hpp"
#include "aggregator/kube/reviews/reviews.hpp"
#include "common/http/message.hpp"

#include <string>

namespace binnacle::callers {

/// Who the caller of a request is, as far as that is known without asking the API server.
struct claim {
  enum class kind : unsigned char {
    nobody,  ///< see `why`
    ours,    ///< a certificate that our own authority for callers signed
    user,    ///< `who`, by a certificate of the cluster or named by the front proxy
    token,   ///< the holder of `token`, not known yet
  };
  kind how = kind::nobody;
  kube::user who = {};
  std::string token = {};
  std::string why = {};  ///< one sentence: what is wrong, and what to present
};

/// Looks in the order that API servers use: the front proxy's certificate (only then the user headers are
/// believed), a client's certificate, a bearer token. A token counts even beside a certificate that nobody
/// trusts. `known` is null while the layer has not been read. Pure. Source: kubernetes.io, "Configure the
/// Aggregation Layer"; k8s.io/apiserver, authentication/request.
claim who_asks(const http::request& r, const layer* known);

}  // namespace binnacle::callers
