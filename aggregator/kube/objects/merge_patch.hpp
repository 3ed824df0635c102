#pragma once

#include "common/http/call.hpp"

#include <map>
#include <optional>
#include <string>

namespace binnacle::kube {

/// New values of labels or annotations; a key without a value is removed.
using key_changes = std::map<std::string, std::optional<std::string>>;

/// A merge patch (RFC 7386) of exactly these labels and annotations of a node. It changes nothing else,
/// removing a missing key is no error, and a node that is gone is not created again. With a version, the
/// server refuses the patch (409) if the node has changed since. The answer is the node's metadata.
http::call node_patch(const std::string& node, const key_changes& labels, const key_changes& annotations = {},
                      const std::string& version = {});

/// A merge patch of an object's status. `target` is the object's path, `status` a JSON object. The conditions
/// in it replace all present conditions.
http::call status_patch(const std::string& target, const std::string& status);

}  // namespace binnacle::kube
