#include "aggregator/kube/reviews/reviews.hpp"

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/refusal.hpp"
#include "common/text/json_members.hpp"
#include "common/text/json_writer.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <stdexcept>

namespace binnacle::kube {
namespace {

namespace json = boost::json;

http::call post(std::string target, std::string body) {
  http::call out;
  out.method = "POST";
  out.target = std::move(target);
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  out.body = std::move(body);
  out.most_bytes = 1u << 20;
  return out;
}

void write(json_writer& out, const std::vector<std::string>& texts) {
  out.begin_array();
  for (const std::string& t : texts) out.value(t);
  out.end_array();
}

std::vector<std::string> texts_in(const json::object& from, std::string_view name) {
  std::vector<std::string> out;
  for (const json::value& item : array_in(from, name)) {
    if (const json::string* text = item.if_string()) out.emplace_back(text->data(), text->size());
  }
  return out;
}

user user_of(const json::object& from) {
  user out;
  out.name = text_in(from, "username");
  out.uid = text_in(from, "uid");
  out.groups = texts_in(from, "groups");
  if (const json::object* extra = object_in(from, "extra")) {
    for (const auto& pair : *extra) out.extra[std::string(pair.key())] = texts_in(*extra, pair.key());
  }
  return out;
}

/// The member `status` of an answered review.
result<json::object> status_of(const http::answer& a, std::string_view what) {
  if (const auto r = refusal_of(a)) return r->as_error(what);
  auto object = parse_object(a.body);
  if (object.has_error()) return object.error();
  const json::object* status = object_in(*object, "status");
  if (status == nullptr) return error{errc::protocol, std::string(what) + ": the answer has no status"};
  return *status;
}

}  // namespace

std::string_view user::only_extra(const std::string& key) const noexcept {
  const auto at = extra.find(key);
  return at == extra.end() || at->second.size() != 1 ? std::string_view() : at->second.front();
}

http::call token_review(std::string_view token, const std::vector<std::string>& audiences) {
  std::string body;
  json_writer out(body);
  out.begin_object().field("apiVersion", "authentication.k8s.io/v1").field("kind", "TokenReview");
  out.key("spec").begin_object().field("token", token);
  if (!audiences.empty()) {
    out.key("audiences");
    write(out, audiences);
  }
  out.end_object().end_object();
  return post("/apis/authentication.k8s.io/v1/tokenreviews", std::move(body));
}

result<token_answer> token_answer_of(const http::answer& a, const std::vector<std::string>& audiences) {
  const auto status = status_of(a, "reviewing a token");
  if (status.has_error()) return status.error();
  token_answer out;
  out.authenticated = is_true(*status, "authenticated");
  out.why = text_in(*status, "error");
  out.audiences = texts_in(*status, "audiences");
  if (const json::object* who = object_in(*status, "user")) out.who = user_of(*who);
  const bool fits = audiences.empty() || std::ranges::any_of(audiences, [&](const std::string& wanted) {
                      return std::ranges::find(out.audiences, wanted) != out.audiences.end();
                    });
  if (out.authenticated && (!fits || out.who.name.empty())) {
    out.authenticated = false;
    out.why = fits ? "the token belongs to no user" : "the token is not for this server";
  }
  if (!out.authenticated) out.who = {};
  return out;
}

http::call access_review(const access_question& q) {
  std::string body;
  json_writer out(body);
  out.begin_object().field("apiVersion", "authorization.k8s.io/v1").field("kind", "SubjectAccessReview");
  out.key("spec").begin_object().field("user", q.who.name);
  if (!q.who.uid.empty()) out.field("uid", q.who.uid);
  out.key("groups");
  write(out, q.who.groups);
  if (!q.who.extra.empty()) {
    out.key("extra").begin_object();
    for (const auto& [key, values] : q.who.extra) {
      out.key(key);
      write(out, values);
    }
    out.end_object();
  }
  if (!q.path.empty()) {
    out.key("nonResourceAttributes").begin_object().field("path", q.path).field("verb", q.verb).end_object();
  } else {
    out.key("resourceAttributes").begin_object().field("verb", q.verb);
    out.field("namespace", q.name_space).field("group", q.group).field("version", q.version);
    out.field("resource", q.resource).field("subresource", q.subresource).field("name", q.name).end_object();
  }
  out.end_object().end_object();
  return post("/apis/authorization.k8s.io/v1/subjectaccessreviews", std::move(body));
}

result<access_answer> access_answer_of(const http::answer& a) {
  const auto status = status_of(a, "reviewing a right");
  if (status.has_error()) return status.error();
  access_answer out;
  out.allowed = is_true(*status, "allowed") && !is_true(*status, "denied");
  out.why = text_in(*status, "reason");
  if (out.why.empty()) out.why = text_in(*status, "evaluationError");
  return out;
}

question_key key_of(std::string_view question) {
  static const question_key secret = [] {
    question_key k{};
    if (RAND_bytes(k.data(), static_cast<int>(k.size())) != 1)
      throw std::runtime_error("OpenSSL has no random numbers");
    return k;
  }();
  question_key out{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(question.data()), question.size(), out.data(), &size);
  return out;
}

}  // namespace binnacle::kube
