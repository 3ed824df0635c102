#include "aggregator/custom_metrics/face.hpp"

#include "aggregator/custom_metrics/negotiate.hpp"
#include "aggregator/custom_metrics/status.hpp"
#include "common/http/etag.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::custom_metrics {
namespace {

/// Longer answers are not indented. Nobody reads a list of the whole fleet, and the scheduler's calls would
/// wait for the work.
constexpr std::size_t pretty_most = 128u << 10;
/// Bytes of a metricLabelSelector in an answer, which repeats it with each item.
constexpr std::size_t most_repeated = 2u << 10;
/// To find out what a metric means at a node of more series may take a millisecond or several.
constexpr std::size_t series_at_once = 2'000;

std::string version_document() {
  std::string body;
  json_writer out(body);
  out.begin_object().field("major", "0").field("minor", "1").field("gitVersion", "v" BINNACLE_VERSION);
  out.field("gitCommit", "").field("gitTreeState", "").field("buildDate", "").field("goVersion", "");
  out.field("compiler", "").field("platform", "linux/" BINNACLE_ARCHITECTURE).end_object();
  return body += '\n';
}

std::string_view parameter(const http::request& r, std::string_view name) {
  const std::string* text = r.parameter(name);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

/// Puts the document into `a`, or a 304 if the caller already has it.
void put(const tagged_document& document, const http::request& r, http::response& a) {
  a.headers.emplace_back("ETag", document.etag);
  if (http::has_already(r, document.etag)) {
    a.status = 304;
    a.body.clear();
  } else {
    a.body = {document.body};
  }
}

/// An answer that is counted, and indented for people.
class dressed final : public http::slices {
 public:
  dressed(std::unique_ptr<http::slices> work, face::counters& counted, bool pretty)
      : work_(std::move(work)), counted_(counted), pretty_(pretty) {}
  bool step() override { return work_->step(); }
  http::response take() override {
    http::response a = work_->take();
    if (a.status >= 400) ++counted_.refused;
    const bool json = a.content_type.starts_with("application/json") && a.body.size() == 1;
    if (json && pretty_ && a.body[0].size() <= pretty_most) a.body[0] = pretty_json(a.body[0]);
    return a;
  }

 private:
  const std::unique_ptr<http::slices> work_;
  face::counters& counted_;
  const bool pretty_;
};

/// Work that is done when it is its turn. Then the turn is kept until the loop has come round once more. So
/// the loop does one such work at most between two looks at what others want, however many ask.
class work_in_turn final : public http::slices {
 public:
  work_in_turn(std::function<http::response()> work, std::shared_ptr<bool> turn_is_taken)
      : work_(std::move(work)), turn_is_taken_(std::move(turn_is_taken)) {}
  ~work_in_turn() override { end_turn(); }
  work_in_turn(const work_in_turn&) = delete;
  work_in_turn& operator=(const work_in_turn&) = delete;

  bool step() override {
    if (has_turn_) {
      end_turn();
      return false;
    }
    if (*turn_is_taken_) return true;
    *turn_is_taken_ = has_turn_ = true;
    answer_ = work_();
    return true;
  }
  http::response take() override { return std::move(answer_); }

 private:
  void end_turn() {
    if (has_turn_) *turn_is_taken_ = has_turn_ = false;
  }

  const std::function<http::response()> work_;
  const std::shared_ptr<bool> turn_is_taken_;
  bool has_turn_ = false;
  http::response answer_;
};

/// The 404 for a resource whose metrics we do not have.
http::response not_served(const path& p, bool with_pods) {
  std::string message = fmt::format("the server could not find the metric {} for {}", p.metric, p.resource);
  path of_cluster = p;
  of_cluster.name_space.clear();
  if (of_cluster.nodes()) {
    message += fmt::format(": nodes have no namespace: ask /nodes/{}/{}", p.object, p.metric);
  } else if (p.pods()) {
    message += ": without Kubernetes there are no pods, only node metrics are served";
  } else {
    message +=
        with_pods ? ": only metrics of nodes and pods are served" : ": only metrics of nodes are served";
  }
  return not_found(message);
}

}  // namespace

face::face(const store::view& nodes, face_sources sources)
    : nodes_(nodes), sources_(std::move(sources)), names_(*sources_.aliases) {}

void face::mount(http::router& routes) {
  const auto make = [this](const http::request& r) { return http::run_sliced(answer(r), sources_.later); };
  routes.set_fallback(make, 0);
  routes.set_failure(failure);
}

std::unique_ptr<http::slices> face::answer(const http::request& r) {
  outcome made = dispatch(r);
  auto* const list = std::get_if<std::unique_ptr<http::slices>>(&made);
  auto work = list != nullptr ? std::move(*list) : http::ready(std::get<http::response>(std::move(made)));
  const bool pretty = wants_pretty(r.parameter("pretty"), r.header("user-agent"));
  return std::make_unique<dressed>(std::move(work), counted_, pretty);
}

face::outcome face::dispatch(const http::request& r) {
  // Probes come without a certificate. As in kube-apiserver, the three health pages are open to all, but the
  // pages below them are not.
  const bool may_ask = !sources_.identity_required || r.peer.has_value();
  if (may_ask || r.path.size() == 1) {
    if (auto page = sources_.health.answer(r)) return *page;
  }
  if (!may_ask) return unauthorized();
  if (r.method != "GET") return method_not_allowed();

  if (r.path.size() == 1 && r.path[0] == "version") return http::response::json(version_document());
  if (!r.path.empty() && r.path[0] == "openapi") return openapi(r);
  const path p = parse_path(r.path);
  switch (p.kind) {
    case path::what::unknown: return path_not_found();
    case path::what::value: return value(p, r);
    default: return discovery(p, r);
  }
}

const discovery_documents& face::documents() {
  const auto& names = names_.of(nodes_);
  if (documents_ == nullptr || documented_ != names_.revision()) {
    documents_.reset();  // never two of them at a time
    documents_ = std::make_unique<discovery_documents>(names, sources_.pods.has_value());
    documented_ = names_.revision();
  }
  return *documents_;
}

http::response face::discovery(const path& p, const http::request& r) {
  const form wanted = negotiate(r.header("accept"), p.kind == path::what::groups);
  if (wanted == form::none) return not_acceptable();
  ++counted_.discovery;
  const discovery_documents& d = documents();
  if (p.kind == path::what::group) return http::response::json(d.group);
  if (p.kind == path::what::resources)
    return http::response::json(d.resources[static_cast<std::size_t>(p.api)]);

  http::response a = http::response::json(d.groups);
  a.headers.emplace_back("Vary", "Accept");
  if (wanted == form::json) return a;
  const bool v2 = wanted == form::discovery_v2;
  const tagged_document& document = v2 ? d.v2 : d.v2beta1;
  a.content_type = std::string(v2 ? discovery_v2_type : discovery_v2beta1_type);
  put(document, r, a);
  a.headers.emplace_back("Cache-Control", "public");
  return a;
}

http::response face::openapi(const http::request& r) {
  const tagged_document* document = openapi_.find(r.path);
  if (document == nullptr) return path_not_found();
  if (negotiate(r.header("accept"), false) != form::json) return not_acceptable();
  ++counted_.discovery;
  http::response a = http::response::json({});
  put(*document, r, a);
  return a;
}

face::outcome face::value(const path& p, const http::request& r) {
  if (negotiate(r.header("accept"), false) != form::json) return not_acceptable();
  const auto labels = questions::selector::parse(parameter(r, "labelSelector"));
  if (labels.has_error()) return bad_request(labels.error().message);
  const auto series = questions::selector::parse(parameter(r, "metricLabelSelector"));
  if (series.has_error()) return bad_request(series.error().message);
  if (auto ok = questions::check_field_selector(parameter(r, "fieldSelector"), p.object); ok.has_error()) {
    return bad_request(ok.error().message);
  }
  std::string selector_json;
  json_writer selector_out(selector_json);
  if (auto ok = series->write_label_selector(selector_out); ok.has_error())
    return bad_request(ok.error().message);
  if (selector_json.size() > most_repeated) {
    return bad_request(
        fmt::format("the metricLabelSelector is too long: an answer repeats it with each item, so it may "
                    "take {} bytes there",
                    most_repeated));
  }
  const instant now = sources_.now();
  asked a{p, *labels, *series, std::move(selector_json), r.caller, now, sources_.wall(now)};
  if (p.nodes() && p.all()) return nodes(std::move(a));
  if (p.nodes()) return in_turn(p.object, [this, about = std::move(a)] { return node(about); });
  if (p.pods() && sources_.pods) return pods(std::move(a));
  return not_served(p, sources_.pods.has_value());
}

face::outcome face::in_turn(std::string_view node, std::function<http::response()> work) const {
  const store::node_view* at = nodes_.find(node);
  if (at == nullptr || at->cells == nullptr || at->cells->series().all.size() <= series_at_once)
    return work();
  return std::unique_ptr<http::slices>(std::make_unique<work_in_turn>(std::move(work), turn_is_taken_));
}

bool face::knows(std::string_view metric) {
  names_.of(nodes_);
  return names_.knows(metric);
}

}  // namespace binnacle::custom_metrics
