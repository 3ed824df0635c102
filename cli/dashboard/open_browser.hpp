#pragma once

#include "common/error.hpp"

#include <string>
#include <utility>

namespace binnacle::cli::dashboard {

/// The desktop's browser (xdg-open) on a link. It is given a file that leads there and that only this user
/// can read: what stands on a command line, every user of the machine can. The file goes with this object.
class browser_page {
 public:
  /// Does not wait for the browser. Errors: not_found (no xdg-open), io.
  static result<browser_page> open(const std::string& link);
  ~browser_page();
  browser_page(browser_page&& other) noexcept : file_(std::exchange(other.file_, {})) {}
  browser_page& operator=(browser_page&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

 private:
  explicit browser_page(std::string file) : file_(std::move(file)) {}
  std::string file_;
};

}  // namespace binnacle::cli::dashboard
