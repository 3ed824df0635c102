#pragma once

#include "aggregator/callers/counters.hpp"
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

/// Makes a face's refusal from the HTTP status, Kubernetes' reason ("Forbidden") and one sentence.
using refuse =
    std::function<http::response(unsigned status, std::string_view reason, std::string_view sentence)>;
/// What a request wants to do, without the user: resource_attributes() or path_attributes().
using attributes = std::function<kube::access_question(const http::request&)>;

/// Lets a request go on, or answers 401, 403, 429 or 503. The API server decides who the caller is (front
/// proxy, certificate, token) and what the caller may do (SubjectAccessReview). Holders of a certificate of
/// our own authority may read everything, as without Kubernetes; so may the group system:masters. Answers are
/// remembered for ten seconds. While the API server cannot be reached, callers without a remembered answer
/// are refused within three seconds. From an address that sent too many bad tokens, tokens are refused
/// without a question (token_ration, question_slots). Other callers do not wait for any of this. Include from
/// .cpp files only. Threads: one loop.
class gatekeeper {
 public:
  /// `patience`: how long a request waits for the API server's answers; kube-apiserver itself gives up on a
  /// page of discovery after five seconds.
  gatekeeper(boost::asio::io_context& on, std::shared_ptr<kube::client> api, logger log,
             std::chrono::nanoseconds patience = std::chrono::seconds(3));
  ~gatekeeper();
  gatekeeper(const gatekeeper&) = delete;
  gatekeeper& operator=(const gatekeeper&) = delete;

  /// Starts to follow the authorities that the API server trusts.
  void start();
  /// Stops following them, and ends the running questions.
  void cancel();

  /// The guard for one face's routes. It must not outlive this gatekeeper.
  http::guard guard(attributes wanted, refuse how);

  /// True once the authorities that the API server trusts have been read.
  bool informed() const noexcept;
  /// Why these authorities are not up to date, in one sentence; empty if they are.
  std::string trouble() const;
  gatekeeper_counters counted() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::callers
