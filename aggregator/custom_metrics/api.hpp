#pragma once

#include "aggregator/custom_metrics/discovery.hpp"
#include "aggregator/custom_metrics/names.hpp"
#include "aggregator/custom_metrics/openapi.hpp"
#include "aggregator/custom_metrics/path.hpp"
#include "aggregator/custom_metrics/pods.hpp"
#include "aggregator/custom_metrics/question.hpp"
#include "aggregator/custom_metrics/selector.hpp"
#include "aggregator/store/view.hpp"
#include "common/http/health.hpp"
#include "common/http/message.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace binnacle::custom_metrics {

/// Labels of Node objects; faces loop.
struct node_source {
  /// All labels of the node's object, valid until the next change; nothing where there is no such object.
  std::function<std::optional<selector::look_up>(std::string_view node)> labels;
  /// Why they are not known (yet), in one sentence; empty when they are.
  std::function<std::string()> unknown_because;
};

/// What the API reads and may do.
struct api_sources {
  question_maker ask;
  std::function<instant()> now = boot_clock::now;
  std::function<std::chrono::system_clock::time_point(instant)> wall = wall_time;
  http::health health;
  std::optional<pod_source> pods;      ///< none: metrics of nodes only
  std::optional<node_source> objects;  ///< none: nodes have their names, and what policies put on them
  const metrics::names_in_force* aliases = &metrics::names_in_force::built_in();  ///< must outlive the api
  /// Everything but /livez, /readyz and /healthz needs a verified client certificate. False only where the
  /// listener has no TLS, which a person asked for.
  bool identity_required = true;
};

/// custom.metrics.k8s.io v1beta1 and v1beta2 for nodes, with the discovery that Kubernetes clients and its
/// aggregation layer need. README.md here says what is served to whom. Pure: a request in, a response out;
/// faces loop only.
class api {
 public:
  /// `nodes` must outlive the api.
  api(const store::view& nodes, api_sources sources);

  http::response answer(const http::request& r);

  /// Takes every path of `routes`: an API server answers unknown paths with a Status too.
  void mount(http::router& routes);

  struct counters {
    std::uint64_t discovery = 0;  ///< discovery documents, 304 included
    std::uint64_t lists = 0;      ///< MetricValueLists
    std::uint64_t items = 0;      ///< values in them
    std::uint64_t refused = 0;    ///< Status answers
  };
  const counters& counted() const noexcept { return counted_; }

 private:
  http::response dispatch(const http::request& r);
  http::response discovery(const path& p, const http::request& r);
  http::response openapi(const http::request& r);
  struct asked;  // a value's path and selectors, taken apart
  http::response value(const path& p, const http::request& r);
  http::response nodes(const asked& a);
  http::response node(const asked& a);
  http::response pods(const asked& a);
  bool selects(const asked& a, const store::node_view& node) const;
  reading pod_reading(const asked& a, const question& ask, const pod& whose) const;
  bool knows(std::string_view metric);
  const discovery_documents& documents();

  const store::view& nodes_;
  api_sources sources_;
  name_list names_;
  std::unique_ptr<discovery_documents> documents_;  // of names_.revision() == documented_
  std::uint64_t documented_ = 0;
  const openapi_documents openapi_;
  counters counted_;
};

}  // namespace binnacle::custom_metrics
