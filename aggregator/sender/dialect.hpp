#pragma once

#include "aggregator/sender/encoder.hpp"
#include "aggregator/sender/halves.hpp"
#include "aggregator/sender/protocol.hpp"
#include "aggregator/sender/server_answer.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::sender {

/// What differs between protocols, and between their versions.
struct dialect {
  const char* setting;                                       ///< what its settings begin with: "remote-write"
  std::string_view called;                                   ///< in sentences: "remote write"
  std::string_view version;                                  ///< "2.0"
  std::string_view example;                                  ///< a URL for people
  std::vector<std::pair<std::string, std::string>> headers;  ///< of every request
  std::unique_ptr<encoder> (*encode)(const origin& from);
  outcome (*outcome_of)(const result<http::answer>& answer, std::uint64_t samples);
  halves (*in_halves)(const std::string& body);  ///< a request of several nodes

  // The next older version, for servers that do not know this one; null if there is none.
  const dialect* older = nullptr;
  std::string (*in_older)(const std::string& body) = nullptr;  ///< a request, translated into that version
  version_sign (*sign_in)(const http::answer& by) = nullptr;   ///< like sign_of_version_2()
};

/// The newest version of a protocol, with which we begin.
const dialect& dialect_of(protocol p) noexcept;

}  // namespace binnacle::sender
