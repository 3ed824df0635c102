#pragma once

#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/reviews/reviews.hpp"
#include "common/http/guard.hpp"
#include "common/http/message.hpp"
#include "common/log/log.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace binnacle::callers {

/// How a face says no: HTTP status, Kubernetes' reason ("Forbidden"), one sentence.
using refuse =
    std::function<http::response(unsigned status, std::string_view reason, std::string_view sentence)>;
/// What a request wants, without who: resource_attributes() or path_attributes().
using attributes = std::function<kube::access_question(const http::request&)>;

/// Lets callers of a face go on or tells them 401, 403, 429 or 503, as the API server has it: who somebody is
/// (front proxy, certificate, token) and what they may do (SubjectAccessReview). Holders of a certificate of
/// our own authority may read everything, as without Kubernetes, and group system:masters, too. Answers are
/// remembered for ten seconds; when the API server cannot be asked for others, they are refused within three.
/// Tokens of an address that sent too many bad ones are refused without a question (token_ration,
/// question_slots). Nobody else waits meanwhile. Include from .cpp files only. Threads: one loop.
class gatekeeper {
 public:
  struct counters {
    std::uint64_t let_in = 0, unauthorized = 0, forbidden = 0, rationed = 0, unavailable = 0;
    std::uint64_t asked = 0, remembered = 0;  ///< reviews
  };

  /// `patience`: how long a request waits for the API server's answers; kube-apiserver itself gives up on a
  /// page of discovery after five seconds.
  gatekeeper(boost::asio::io_context& on, std::shared_ptr<kube::client> api, logger log,
             std::chrono::nanoseconds patience = std::chrono::seconds(3));
  ~gatekeeper();
  gatekeeper(const gatekeeper&) = delete;
  gatekeeper& operator=(const gatekeeper&) = delete;

  /// Follows whom the API server trusts, from now on.
  void start();
  /// Ends that, and the questions under way.
  void cancel();

  /// For one face's routes; must not outlive this.
  http::guard guard(attributes wanted, refuse how);

  /// Whom the API server trusts was read once.
  bool informed() const noexcept;
  /// Why it is not up to date, in one sentence; empty when it is.
  std::string trouble() const;
  counters counted() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::callers
