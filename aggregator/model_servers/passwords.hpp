#pragma once

#include "common/clock.hpp"
#include "common/doubling.hpp"
#include "common/error.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::model_servers {

/// The user names and passwords that model servers want (HTTP basic authentication, RFC 7617), from Secrets
/// of one namespace, as WAO has them: with the keys `username` and `password`. A Secret is "NAMESPACE/NAME"
/// here. Pure: it says which Secret to read next, and takes the answers.
///
/// A Secret is read when a model needs it, again every five minutes, when a server has refused its password,
/// and when it could not be read: after five seconds at first, after five minutes at last. While the API
/// server does not answer, the old password stays in use, because only the model server decides whether it is
/// right. If the Secret is gone, may not be read, or lacks a key, there is no password. Bounds: `most`
/// Secrets; one that no model needs for ten minutes is forgotten.
class passwords {
 public:
  static constexpr std::size_t most = 256;
  static constexpr duration read_again_after = std::chrono::minutes(5);
  static constexpr duration first_pause = std::chrono::seconds(5);
  static constexpr duration forgotten_after = std::chrono::minutes(10);

  /// `name_space`: the only one whose Secrets may be read; empty: none.
  explicit passwords(std::string name_space) : name_space_(std::move(name_space)) {}

  /// Notes that a model needs the Secret. Call it again and again while that is so.
  void want(const std::string& secret, instant now);
  /// The value of the Authorization header; null while it is not known.
  const std::string* header(std::string_view secret) const;
  /// Why there is none, or only an old one, as a clause with the remedy. Empty if all is well, or the Secret
  /// is just being read. It holds nothing of the Secret but its name.
  std::string trouble(std::string_view secret) const;
  /// A server did not accept the password.
  void refused(std::string_view secret, instant now);

  /// The call that reads the next Secret, if one is due. Call answered() after it; one call at a time.
  std::optional<http::call> next(instant now);
  /// The Secret, if its password has changed.
  std::optional<std::string> answered(const result<http::answer>& got, instant now);

 private:
  struct entry {
    std::string header;
    std::string trouble;
    instant due{}, read_at{}, wanted_at{};
    doubling pauses{first_pause, read_again_after};
    bool refused = false;  // since it was read
  };
  std::string not_allowed(std::string_view secret) const;

  const std::string name_space_;
  std::map<std::string, entry, std::less<>> known_;
  std::optional<std::string> being_read_;
  bool full_ = false;
};

}  // namespace binnacle::model_servers
