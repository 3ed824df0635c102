#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// Which servers may be asked. Nodes' labels and objects of a namespace name them, and whoever writes these
/// must not choose whom the aggregator connects to.
class allowed_servers {
 public:
  allowed_servers() = default;
  /// "HOST", "HOST:PORT", "*.SUFFIX" or "*.SUFFIX:PORT"; without a port any. Errors: invalid_input.
  static result<allowed_servers> read(const std::vector<std::string>& list);

  bool empty() const noexcept { return all_.empty(); }
  bool allow(std::string_view host, std::uint16_t port) const noexcept;

 private:
  struct one {
    std::string host;        // begins with '.': any name that ends so
    std::uint16_t port = 0;  // 0: any
  };
  std::vector<one> all_;
};

}  // namespace binnacle::model_servers
