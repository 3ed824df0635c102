#pragma once

#include "aggregator/custom_metrics/asked.hpp"
#include "aggregator/custom_metrics/discovery.hpp"
#include "aggregator/custom_metrics/names.hpp"
#include "aggregator/custom_metrics/openapi.hpp"
#include "aggregator/custom_metrics/path.hpp"
#include "aggregator/custom_metrics/pods.hpp"
#include "aggregator/questions/question.hpp"
#include "aggregator/questions/selector.hpp"
#include "aggregator/store/view.hpp"
#include "common/http/health.hpp"
#include "common/http/router.hpp"
#include "common/http/sliced.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

namespace binnacle::custom_metrics {

/// Labels of Node objects; faces loop.
struct node_source {
  /// All labels of the node's object, valid until the next change; nothing where there is no such object.
  std::function<std::optional<questions::selector::look_up>(std::string_view node)> labels;
  /// Why the labels are not known (yet), in one sentence; empty if they are known.
  std::function<std::string()> unknown_because;
};

/// The bytes of the lists that are being made.
struct list_memory {
  static constexpr std::size_t most_of_one = std::size_t{64} << 20;
  static constexpr std::size_t most_of_all = std::size_t{128} << 20;
  std::size_t bytes = 0;
};

/// What the face reads and may do.
struct face_sources {
  questions::question_maker ask;
  std::function<instant()> now = boot_clock::now;
  std::function<std::chrono::system_clock::time_point(instant)> wall = wall_time;
  http::health health;
  std::optional<pod_source> pods;      ///< none: metrics of nodes only
  std::optional<node_source> objects;  ///< none: nodes have their host name and policies' labels
  const metrics::names_in_force* aliases = &metrics::names_in_force::built_in();  ///< must outlive the face
  /// Everything but /livez, /readyz and /healthz needs a verified client certificate. False in Kubernetes,
  /// where the gatekeeper checks the caller first.
  bool identity_required = true;
  http::run_later later;  ///< needed by mount(); runs lists
};

/// custom.metrics.k8s.io v1beta1 and v1beta2 for nodes, with the discovery that Kubernetes clients and its
/// aggregation layer need. README.md in this folder says what is served to whom. Pure: a request comes in, a
/// response goes out (for a list of nodes or pods in several steps). Faces loop only.
class face {
 public:
  /// `nodes` must outlive the face.
  face(const store::view& nodes, face_sources sources);

  std::unique_ptr<http::slices> answer(const http::request& r);

  /// Takes every path of `routes`, and the server's own refusals there, because an API server answers all of
  /// them with a Status.
  void mount(http::router& routes);

  struct counters {
    std::uint64_t discovery = 0;  ///< discovery documents, 304 included
    std::uint64_t lists = 0;      ///< MetricValueLists
    std::uint64_t items = 0;      ///< values in them
    std::uint64_t refused = 0;    ///< Status answers
  };
  const counters& counted() const noexcept { return counted_; }

 private:
  using outcome = std::variant<http::response, std::unique_ptr<http::slices>>;
  outcome dispatch(const http::request& r);
  outcome discovery(const path& p, const http::request& r);
  http::response openapi(const http::request& r);
  outcome value(const path& p, const http::request& r);
  /// `work` answers a question about this one node. It is done at once, but for a node of many series in a
  /// turn of the loop that no other such question has.
  std::unique_ptr<http::slices> in_turn(std::string_view node,
                                        std::function<std::unique_ptr<http::slices>()> work) const;
  outcome nodes(const asked& a);
  std::unique_ptr<http::slices> node(const asked& a);
  outcome pods(const asked& a);
  http::response one_pod(const asked& a);
  bool selects(const questions::selector& labels, const store::node_view& node) const;

  using answer_maker = std::function<std::unique_ptr<http::slices>(bool known)>;
  /// What `then` answers, once it is known whether any node has announced the metric.
  std::unique_ptr<http::slices> once_known(const asked& a, answer_maker then);

  using document_user = std::function<http::response(const tagged_document&)>;
  /// What `then` answers with the document of the names that nodes have now.
  outcome with_document(discovery_document::which what, document_user then);
  /// The document of names_ as last made; perhaps it is still being written.
  const std::shared_ptr<discovery_document>& document(discovery_document::which what);

  const store::view& nodes_;
  face_sources sources_;
  name_list names_;
  struct kept_document {
    std::shared_ptr<discovery_document> of;
    std::uint64_t revision = 0;  // of names_
  };
  std::array<kept_document, discovery_document::forms> documents_;
  const openapi_documents openapi_;
  counters counted_;
  list_memory list_memory_;
  const http::slices_running lists_running_{16};  // an autoscaler asks for each of its targets
  const std::shared_ptr<bool> turn_is_taken_ = std::make_shared<bool>(false);  // see in_turn()
};

}  // namespace binnacle::custom_metrics
