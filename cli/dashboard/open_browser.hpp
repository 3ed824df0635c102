#pragma once

#include "common/error.hpp"

#include <string>
#include <utility>

namespace binnacle::cli::dashboard {

/// Opens a link in the desktop's browser (xdg-open). The command line names a file that leads to the link,
/// and only this user can read the file: every user of the machine can read command lines. The file is
/// deleted with this object.
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
