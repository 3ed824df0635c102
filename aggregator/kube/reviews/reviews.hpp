#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Who somebody is (TokenReview) and what they may do (SubjectAccessReview), as the API server sees it: the
/// requests and the answers' meaning, without sockets. Source:
/// kubernetes.io/docs/reference/access-authn-authz.
namespace binnacle::kube {

/// A user as the API server knows one.
struct user {
  std::string name;
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};

  /// The value of that extra if it has exactly one, else empty. A service account's token names its node in
  /// an extra ("authentication.kubernetes.io/node-name", Kubernetes 1.30 and later).
  std::string_view only_extra(const std::string& key) const noexcept;
  friend bool operator==(const user&, const user&) = default;
};

struct token_answer {
  bool authenticated = false;
  user who;
  std::vector<std::string> audiences;  ///< those of the requested audiences that the token is for
  std::string why;                     ///< the server's sentence if the token is not good
};

/// The question who holds `token`. The token must be for at least one of `audiences` (none: the API server's
/// own).
http::call token_review(std::string_view token, const std::vector<std::string>& audiences);
/// Errors: overloaded, io, permission (we may not ask), protocol; then nothing is known about the token. A
/// server that does not know audiences answers without them. If audiences were asked for, that counts as not
/// authenticated.
result<token_answer> token_answer_of(const http::answer& a, const std::vector<std::string>& audiences);

/// What a user wants to do: with a resource, or, if `path` is given, with a path of a server.
struct access_question {
  user who;
  std::string verb;
  std::string name_space = {}, group = {}, version = {}, resource = {}, subresource = {}, name = {};
  std::string path = {};
};
struct access_answer {
  bool allowed = false;
  std::string why;  ///< the authorizer's reason; may be empty
};

http::call access_review(const access_question& q);
/// Errors: as token_answer_of(); the caller must then refuse.
result<access_answer> access_answer_of(const http::answer& a);

/// The key of a remembered answer: a keyed digest, so that no token stays in memory. Each process has its own
/// key.
using question_key = std::array<unsigned char, 32>;
question_key key_of(std::string_view question);

/// Remembers each answer for ten seconds, as Kubernetes' own delegated authentication does. When it is full,
/// the answers that were not used for longest are dropped. Errors are not remembered. Pure: time is given.
template <class Answer>
class answer_cache {
 public:
  static constexpr duration life = std::chrono::seconds(10);

  explicit answer_cache(std::size_t most = 8192) : most_(most) {}

  /// The remembered answer, or null if there is none (any more).
  const Answer* find(const question_key& key, instant now) {
    const auto at = all_.find(key);
    if (at == all_.end()) return nullptr;
    if (now >= at->second.until) {
      all_.erase(at);
      return nullptr;
    }
    at->second.asked = ++clock_;
    return &at->second.answer;
  }
  void put(const question_key& key, Answer answer, instant now) {
    if (all_.size() >= most_ && !all_.contains(key)) make_room(now);
    all_.insert_or_assign(key, entry{std::move(answer), now + life, ++clock_});
  }
  std::size_t size() const noexcept { return all_.size(); }

 private:
  struct entry {
    Answer answer;
    instant until;
    std::uint64_t asked;
  };
  // Drops all expired answers; if that is not enough, the half that was not used for longest. Runs seldom.
  void make_room(instant now) {
    std::erase_if(all_, [now](const auto& e) { return now >= e.second.until; });
    if (all_.size() < most_) return;
    const std::uint64_t old = clock_ - most_ / 2;
    std::erase_if(all_, [old](const auto& e) { return e.second.asked <= old; });
    if (all_.size() >= most_) all_.clear();
  }

  std::size_t most_;
  std::uint64_t clock_ = 0;
  std::map<question_key, entry> all_;
};

}  // namespace binnacle::kube
