#include "common/http/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace binnacle::http {
namespace {

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Answer";
  }
}

void append_clean(std::string& out, std::string_view text) {
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

bool has_no_body(unsigned status) { return status == 204 || status == 304; }

/// Status line and headers, without those about the connection. `length`: the header that states the length;
/// empty: none.
std::string begun_head(const response& answer, std::string_view length) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, reason_of(answer.status));
  if (!has_no_body(answer.status)) {
    out += "Content-Type: ";
    append_clean(out, answer.content_type);
    out += "\r\n";
    out += length;
  }
  out += "X-Content-Type-Options: nosniff\r\n";
  for (const auto& [name, value] : answer.headers) {
    append_clean(out, name);
    out += ": ";
    append_clean(out, value);
    out += "\r\n";
  }
  return out;
}

}  // namespace

std::size_t length_of(const response& answer) {
  std::size_t length = 0;
  for (const auto& piece : answer.body) length += piece.size();
  return length;
}

std::string head_of(const response& answer, bool keep_alive, bool http10) {
  std::string out = begun_head(answer, fmt::format("Content-Length: {}\r\n", length_of(answer)));
  if (!keep_alive) out += "Connection: close\r\n";
  if (keep_alive && http10) out += "Connection: keep-alive\r\n";
  out += "\r\n";
  return out;
}

std::string head_of_live(const response& answer) {
  return begun_head(answer, {}) + "Connection: close\r\n\r\n";
}

answer_slices::answer_slices(const response& answer, std::string head, bool with_body)
    : answer_(answer), gathered_(std::move(head)) {
  if (!with_body || has_no_body(answer.status)) piece_ = answer.body.size();
  if (gathered_.size() + length_of(answer) <= largest) gather_ = largest;
}

std::string_view answer_slices::rest() {
  while (piece_ < answer_.body.size()) {
    const std::string_view left = std::string_view(answer_.body[piece_]).substr(offset_);
    if (!left.empty()) return left;
    ++piece_;
    offset_ = 0;
  }
  return {};
}

std::string_view answer_slices::next() {
  if (given_) gathered_.clear();
  given_ = true;
  for (;;) {
    const std::string_view left = rest();
    if (left.empty()) return gathered_;
    if (gathered_.empty() && left.size() >= gather_) {
      // Only whole records go out uncopied; the rest is gathered together with the pieces that follow.
      const auto whole = std::min(left.size() - left.size() % record, largest);
      offset_ += whole;
      return left.substr(0, whole);
    }
    if (gathered_.size() >= gather_) return gathered_;
    const auto taken = left.substr(0, gather_ - gathered_.size());
    gathered_.reserve(std::min(gather_, gathered_.size() + left.size()));
    gathered_ += taken;
    offset_ += taken.size();
  }
}

}  // namespace binnacle::http
