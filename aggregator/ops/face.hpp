#pragma once

#include "aggregator/decision/ring.hpp"
#include "aggregator/ops/node_labels.hpp"
#include "aggregator/ops/report.hpp"
#include "aggregator/ops/what_if.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/questions/question.hpp"
#include "common/clock.hpp"
#include "common/http/health.hpp"
#include "common/http/router.hpp"
#include "common/http/sliced.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::ops {

/// The sources that the ops face reads. They are called on the faces loop, when a request needs them.
struct face_sources {
  questions::question_maker ask;
  std::function<self_report()> self;
  std::function<std::vector<own_sample>()> own_metrics;  ///< but those of policies
  std::function<std::vector<policy::strategy_status>()> strategies = [] {
    return std::vector<policy::strategy_status>();
  };
  std::function<policy_report()> about_policies;
  label_reader object_labels;  ///< empty: there are no Node objects here
  in_flight_reader in_flight;  ///< empty: no pods were just placed
  http::run_later later;
  http::health health;
  std::function<instant()> now = boot_clock::now;
  std::function<std::chrono::system_clock::time_point(instant)> wall = wall_time;
  /// Everything but /livez and /readyz needs a verified client certificate. False in Kubernetes, where the
  /// gatekeeper checks the caller first.
  bool identity_required = true;
};

/// The face for operators: the JSON API of the `binnacle` command (/api/v1/…, README.md here), /metrics and
/// /metrics/nodes, health. Reads only; nothing can be changed through it. Faces loop only.
class face {
 public:
  /// Both must outlive the face.
  face(const policy::view& nodes, const decision::ring& decisions, face_sources sources);

  void mount(http::router& routes);

 private:
  using handler = http::response (face::*)(const http::request&);
  using slicer = std::unique_ptr<http::slices> (face::*)(const http::request&);
  /// The refusal for a caller without the required certificate; nothing if the request may go on. Every route
  /// but health calls it.
  std::optional<http::response> refusal(const http::request& r) const;
  http::simple_handler guarded(handler h);
  void sliced_page(http::router& routes, const std::string& path, slicer make,
                   const http::slices_running& running);

  /// The refusal if the path does not name a known node after the name of the list; nothing if it does.
  std::optional<http::response> no_node(const http::request& r, std::string_view list) const;
  http::response power(const http::request& r);
  http::exchange_factory node_page();
  std::unique_ptr<http::slices> one_node(const http::request& r);
  std::unique_ptr<http::slices> status(const http::request& r);
  std::unique_ptr<http::slices> labels(const http::request& r);
  std::unique_ptr<http::slices> own_metrics(const http::request& r);
  std::unique_ptr<http::slices> policies(const http::request& r);
  std::unique_ptr<http::slices> decisions(const http::request& r);
  std::unique_ptr<http::slices> node_list(const http::request& r);
  std::unique_ptr<http::slices> node_labels(const http::request& r);
  std::unique_ptr<http::slices> node_metrics(const http::request& r);
  std::unique_ptr<http::slices> what_if(const http::request& r);

  std::vector<std::string> default_metrics() const;
  std::string time_of(instant t) const;

  const policy::view& nodes_;
  const decision::ring& decisions_;
  face_sources sources_;
  const http::slices_running lists_{8};   ///< may have some ten megabytes each
  const http::slices_running briefs_{8};  ///< asked for all the time, by programs: lists do not keep them out
  const http::slices_running one_nodes_{8};  ///< what people look at one by one: further ones wait
};

}  // namespace binnacle::ops
