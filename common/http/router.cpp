#include "common/http/router.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::http {
namespace {

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0) out.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return out;
}

bool starts_with(const std::vector<std::string>& path, const std::vector<std::string>& prefix) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

}  // namespace

void router::add(std::string method, std::string path, simple_handler handler, std::size_t body_limit) {
  auto segments = segments_of(path);
  routes_.push_back(
      {std::move(method), std::move(path), std::move(segments), false, std::move(handler), {}, body_limit});
}

void router::add_streaming(std::string method, std::string path, exchange_factory make,
                           std::size_t body_limit) {
  auto segments = segments_of(path);
  routes_.push_back(
      {std::move(method), std::move(path), std::move(segments), false, {}, std::move(make), body_limit});
}

void router::add_prefix(std::string prefix, simple_handler handler, std::size_t body_limit) {
  auto segments = segments_of(prefix);
  routes_.push_back({{}, std::move(prefix), std::move(segments), true, std::move(handler), {}, body_limit});
}

void router::add_streaming_prefix(std::string prefix, exchange_factory make, std::size_t body_limit) {
  auto segments = segments_of(prefix);
  routes_.push_back({{}, std::move(prefix), std::move(segments), true, {}, std::move(make), body_limit});
}

void router::set_fallback(exchange_factory make, std::size_t body_limit) {
  fallback_ = route{.streaming = std::move(make), .body_limit = body_limit};
}

const router::route* router::best(const request& r, std::string& allowed) const {
  const route* found = nullptr;
  for (const route& candidate : routes_) {
    if (candidate.prefix ? !starts_with(r.path, candidate.segments) : r.path != candidate.segments) continue;
    if (!candidate.method.empty() && candidate.method != r.method) {
      allowed += (allowed.empty() ? "" : ", ") + candidate.method;
      if (candidate.method == "GET") allowed += ", HEAD";
      continue;
    }
    if (!candidate.prefix) return &candidate;
    if (found == nullptr || candidate.segments.size() > found->segments.size()) found = &candidate;
  }
  return found;
}

response router::refuse(const std::string& allowed) const {
  if (!allowed.empty()) {
    auto out = response::failure(405, "this path does not accept that method; it accepts " + allowed);
    out.headers.emplace_back("Allow", allowed);
    return out;
  }
  std::string known;
  for (const route& one : routes_) {
    known += (known.empty() ? "" : ", ") + (one.method.empty() ? std::string() : one.method + " ") + one.path;
    if (one.prefix) known += one.path.ends_with('/') ? "..." : "/...";
  }
  return response::failure(
      404, known.empty() ? "there is nothing here" : "there is nothing at this path; there are " + known);
}

router::match router::find(const request& r) const {
  std::string allowed;
  match out;
  const route* found = best(r, allowed);
  if (found == nullptr && fallback_) found = &*fallback_;
  if (found != nullptr) {
    out.simple = found->simple ? &found->simple : nullptr;
    out.streaming = found->streaming ? &found->streaming : nullptr;
    out.body_limit = found->body_limit;
  } else {
    out.refusal = refuse(allowed);
  }
  return out;
}

}  // namespace binnacle::http
