#pragma once

#include "common/http/router.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle::http {

/// Collects a request's body for a handler that wants the whole of it. `head` and `handler` must outlive it.
class whole_body final : public exchange {
 public:
  whole_body(const request& head, const simple_handler& handler, std::size_t expected)
      : head_(head), handler_(handler) {
    body_.reserve(expected);
  }
  bool consume(std::string_view piece) override {
    body_ += piece;
    return true;
  }
  void finish(reply answer) override { answer(handler_(head_, body_)); }

 private:
  const request& head_;
  const simple_handler& handler_;
  std::string body_;
};

}  // namespace binnacle::http
