#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// The servers that may be asked. Labels of nodes and objects in namespaces name model servers, and whoever
/// may write those must not be able to make the aggregator connect anywhere.
class allowed_servers {
 public:
  allowed_servers() = default;
  /// Reads entries "HOST", "HOST:PORT", "*.SUFFIX" or "*.SUFFIX:PORT". Without a port any port is allowed.
  /// Errors: invalid_input.
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
