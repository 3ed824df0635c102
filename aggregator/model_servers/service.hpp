#pragma once

#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/events/event_recorder.hpp"
#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/model_servers/asker.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

struct settings {
  std::vector<std::string> servers;  ///< allowed_servers::read()
  std::string authority;             ///< PEM file that vouches for https servers; empty: the system's
  std::string secrets_of;            ///< namespace whose Secrets may be read; empty: none are
};

/// Keeps the curves of nodes whose labels or objects name a model on an allowed server. It works beside
/// prioritize, which never waits for it, and writes the curves into the view (policy::view::served()). It
/// asks while a policy in force has minimizepower with a model other than Learned. If no server is allowed,
/// it asks nobody, and complains of labels and objects that name a model. Threads: one loop, that of the
/// view.
class service {
 public:
  struct parts {
    policy::view& nodes;
    std::shared_ptr<kube::client> api;
    /// A node's object, or null.
    std::function<const kube::node_objects::node*(std::string_view node)> object_of;
    /// Writes an event. False: this replica writes none now.
    std::function<bool(kube::note)> say;
  };

  /// Errors: one sentence: a server that cannot be meant, or an authority that cannot be read.
  static result<std::unique_ptr<service>> open(const settings& s, logger log);
  ~service();

  void start(async::loop& on, parts p);
  /// Sentences that say what is not up to date, and what counts meanwhile.
  std::vector<std::string> troubles() const;
  const call_counters& counted() const noexcept;
  const provider_counters& counted_of_providers() const noexcept;

 private:
  struct impl;
  explicit service(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::model_servers
