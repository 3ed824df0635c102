#include "aggregator/custom_metrics/face.hpp"

#include "aggregator/custom_metrics/negotiate.hpp"
#include "aggregator/custom_metrics/status.hpp"
#include "common/http/etag.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

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
  work_in_turn(std::function<std::unique_ptr<http::slices>()> work, std::shared_ptr<bool> turn_is_taken)
      : work_(std::move(work)), turn_is_taken_(std::move(turn_is_taken)) {}
  ~work_in_turn() override { end_turn(); }
  work_in_turn(const work_in_turn&) = delete;
  work_in_turn& operator=(const work_in_turn&) = delete;

  bool step() override {
    if (answer_ != nullptr) {
      end_turn();
      return answer_->step();
    }
    if (*turn_is_taken_) return true;
    *turn_is_taken_ = has_turn_ = true;
    answer_ = work_();
    return true;
  }
  http::response take() override { return answer_->take(); }

 private:
  void end_turn() {
    if (has_turn_) *turn_is_taken_ = has_turn_ = false;
  }

  const std::function<std::unique_ptr<http::slices>()> work_;
  const std::shared_ptr<bool> turn_is_taken_;
  bool has_turn_ = false;
  std::unique_ptr<http::slices> answer_;
};

/// An answer that begins with a look whether any node has announced the metric.
class searched final : public http::slices {
 public:
  searched(name_search search, std::function<std::unique_ptr<http::slices>(bool)> then)
      : search_(std::move(search)), then_(std::move(then)) {}
  bool step() override {
    if (answer_ == nullptr) {
      if (search_.step()) return true;
      answer_ = then_(search_.found());
    }
    return answer_->step();
  }
  http::response take() override { return answer_->take(); }

 private:
  name_search search_;
  const std::function<std::unique_ptr<http::slices>(bool)> then_;
  std::unique_ptr<http::slices> answer_;
};

/// An answer that needs a document of all names. It waits for a list that is as new as the question, so that
/// a metric is listed as soon as its node has announced it.
class documented final : public http::slices {
 public:
  documented(name_list& names, std::uint64_t wanted,
             std::function<std::shared_ptr<discovery_document>()> document,
             std::function<http::response(const tagged_document&)> then)
      : names_(names), wanted_(wanted), document_(std::move(document)), then_(std::move(then)) {}
  bool step() override {
    if (made_ == nullptr) {
      if (names_.step(wanted_)) return true;
      made_ = document_();
    }
    return made_->step();
  }
  http::response take() override { return then_(made_->made()); }

 private:
  name_list& names_;
  const std::uint64_t wanted_;
  const std::function<std::shared_ptr<discovery_document>()> document_;
  const std::function<http::response(const tagged_document&)> then_;
  std::shared_ptr<discovery_document> made_;
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
    : nodes_(nodes), sources_(std::move(sources)), names_(nodes, *sources_.aliases) {}

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

const std::shared_ptr<discovery_document>& face::document(discovery_document::which what) {
  kept_document& kept = documents_[static_cast<std::size_t>(what)];
  if (kept.of == nullptr || kept.revision != names_.revision()) {
    kept.of.reset();  // never two of them, unless an answer is being made of the old one
    kept.of = std::make_shared<discovery_document>(what, names_.names(), sources_.pods.has_value());
    kept.revision = names_.revision();
  }
  return kept.of;
}

face::outcome face::with_document(discovery_document::which what, document_user then) {
  return std::make_unique<documented>(
      names_, nodes_.catalogs(), [this, what] { return document(what); }, std::move(then));
}

face::outcome face::discovery(const path& p, const http::request& r) {
  using which = discovery_document::which;
  const form wanted = negotiate(r.header("accept"), p.kind == path::what::groups);
  if (wanted == form::none) return not_acceptable();
  ++counted_.discovery;
  if (p.kind == path::what::group) return http::response::json(one_group());
  if (p.kind == path::what::resources) {
    const which what = p.api == version::v1beta1 ? which::resources_v1beta1 : which::resources_v1beta2;
    return with_document(what, [](const tagged_document& made) { return http::response::json(made.body); });
  }
  if (wanted == form::json) {
    http::response a = http::response::json(group_list());
    a.headers.emplace_back("Vary", "Accept");
    return a;
  }
  const bool v2 = wanted == form::discovery_v2;
  return with_document(v2 ? which::aggregated_v2 : which::aggregated_v2beta1,
                       [r, v2](const tagged_document& made) {
                         http::response a = http::response::json({});
                         a.headers.emplace_back("Vary", "Accept");
                         a.content_type = std::string(v2 ? discovery_v2_type : discovery_v2beta1_type);
                         put(made, r, a);
                         a.headers.emplace_back("Cache-Control", "public");
                         return a;
                       });
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
  const asked a{p, *labels, *series, std::move(selector_json), r.caller, now, sources_.wall(now)};
  if (p.nodes() && p.all()) return nodes(a);
  if (p.nodes()) return in_turn(p.object, [this, a] { return node(a); });
  if (p.pods() && sources_.pods) return pods(a);
  return not_served(p, sources_.pods.has_value());
}

std::unique_ptr<http::slices> face::in_turn(std::string_view node,
                                            std::function<std::unique_ptr<http::slices>()> work) const {
  const store::node_view* at = nodes_.find(node);
  if (at == nullptr || at->cells == nullptr || at->cells->series().all.size() <= series_at_once)
    return work();
  return std::make_unique<work_in_turn>(std::move(work), turn_is_taken_);
}

std::unique_ptr<http::slices> face::once_known(const asked& a, answer_maker then) {
  name_search search(nodes_, *sources_.aliases->table(), a.where.metric);
  const bool more = search.step();
  if (!more && (!a.where.all() || !search.found())) return then(search.found());  // a short answer
  if (lists_running_.full(a.caller)) return http::ready(http::slices_running::refusal(failure));
  return lists_running_.count(a.caller, std::make_unique<searched>(std::move(search), std::move(then)));
}

}  // namespace binnacle::custom_metrics
