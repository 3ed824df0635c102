#pragma once

#include "common/http/call.hpp"

#include <map>
#include <optional>
#include <string>

namespace binnacle::kube {

/// New values of labels or annotations; none: it goes.
using key_changes = std::map<std::string, std::optional<std::string>>;

/// A merge patch (RFC 7386) of exactly these labels and annotations of a node: nothing else of it is touched,
/// removing what is not there is no error, and a node that is gone is not made again. With a version it is
/// refused (409) when the node has changed since. The answer is the node's metadata.
http::call node_patch(const std::string& node, const key_changes& labels, const key_changes& annotations = {},
                      const std::string& version = {});

/// A merge patch of the status of an object: `target` is the object's own path, `status` one JSON object. The
/// conditions in it replace all that are there.
http::call status_patch(const std::string& target, const std::string& status);

}  // namespace binnacle::kube
