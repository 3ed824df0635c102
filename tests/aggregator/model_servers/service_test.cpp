// The service between an API server and model servers. The model servers are real HTTP servers on loopback:
// they speak the protocol as it was recorded from MLServer, and can be made to fail.
#include "aggregator/model_servers/service.hpp"

#include "common/http/base64.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/served.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

namespace model_service_test {

using namespace binnacle;
using namespace std::chrono_literals;

/// What a model takes, and whether its server has metadata that say so.
struct taken {
  std::string input = "predict-prob", datatype = "FP32", shape = "[-1,3]";
  bool described = false;
};

/// The certificate of model servers that speak TLS.
struct keys {
  support::temp_folder dir;
  support::authority ca{dir, "models"};
  tls::files server = ca.issue_server();
};
const keys& pki() {
  static const keys all;
  return all;
}

http::server_options https() {
  tls::options o;
  o.pem = pki().server;
  o.clients = tls::client_certificate::none;
  http::server_options out;
  out.tls = tls::context::load(std::move(o)).value();
  return out;
}

/// A text that a test changes while a server reads it.
class text_cell {
 public:
  void operator=(std::string text) {
    const std::scoped_lock l(busy_);
    text_ = std::move(text);
  }
  std::string get() const {
    const std::scoped_lock l(busy_);
    return text_;
  }
  std::string take() {
    const std::scoped_lock l(busy_);
    return std::exchange(text_, {});
  }

 private:
  mutable std::mutex busy_;
  std::string text_;
};

/// A model server that gives 100 W and 2 W more for each percent of load, in MLServer's form.
struct model_server {
  /// `secure`: it speaks TLS.
  model_server(taken t, bool secure)
      : takes(std::move(t)), door(routes(), secure ? https() : http::server_options()) {}
  std::atomic<int> calls{0};
  std::atomic<unsigned> status{200};
  std::atomic<std::size_t> most{1'000};  // a call with more points takes too long
  std::atomic<std::size_t> padding{0};   // of an answer, in bytes for each point
  std::atomic<int> metadata_calls{0};
  text_cell wants;  // the Authorization header; empty: any, or none
  std::atomic<int> refused{0};
  const taken takes;
  support::served door;

  /// The refusal of a caller with the wrong password. It repeats what the caller sent, as careless servers
  /// do.
  std::optional<http::response> refusal_of(const http::request& q) {
    const std::string wanted = wants.get();
    const std::string* const given = q.header("authorization");
    if (wanted.empty() || (given != nullptr && *given == wanted)) return std::nullopt;
    ++refused;
    return http::response::text(given == nullptr ? "no password" : "you said " + *given, 401);
  }

  http::router routes() {
    http::router r;
    r.add("GET", "/pre/v2/models/pc/versions/v0.1.0", [this](const http::request& q, std::string_view) {
      if (auto no = refusal_of(q)) return *std::move(no);
      ++metadata_calls;
      if (!takes.described) return http::response::text("no such page", 404);
      return http::response::json(fmt::format(
          R"({{"name":"pc","versions":["v0.1.0"],"platform":"","inputs":[{{"name":"{}","datatype":"{}","shape":{}}}],"outputs":[]}})",
          takes.input, takes.datatype, takes.shape));
    });
    r.add(
        "POST", "/pre/v2/models/pc/versions/v0.1.0/infer",
        [this](const http::request& q, std::string_view body) {
          if (auto no = refusal_of(q)) return *std::move(no);
          ++calls;
          if (status != 200) return http::response::text("Internal Server Error", status);
          const auto asked = boost::json::parse(body);
          const auto& input = asked.at("inputs").at(0);
          if (input.at("name").as_string() != takes.input ||
              input.at("datatype").as_string() != takes.datatype)
            return http::response::text("unexpected inference input", 400);
          if (input.at("data").as_array().size() > most) std::this_thread::sleep_for(700ms);
          std::string data;
          for (const auto& row : input.at("data").as_array())
            data += fmt::format("{}{}", data.empty() ? "" : ",", 100 + 2 * row.at(0).to_number<double>());
          const std::size_t many = input.at("data").as_array().size();
          return http::response::json(fmt::format(
              R"({{"model_name":"pc","model_version":"v0.1.0","id":"{}","parameters":{{}},"outputs":[{{"name":"predict","shape":[{},1],"datatype":"FP64","parameters":{{"content_type":"np"}},"data":[{}]}}]}})",
              std::string(many * padding, 'x'), many, data));
        },
        1u << 20);
    return r;
  }
};

std::string data_of(const std::string& user, const std::string& password) {
  return fmt::format(R"({{"data":{{"username":"{}","password":"{}"}}}})", http::to_base64(user),
                     http::to_base64(password));
}
std::string header_of(const std::string& user, const std::string& password) {
  return "Basic " + http::to_base64(user + ":" + password);
}

/// A Redfish server that says where the model of its first system is.
struct redfish_server {
  redfish_server(std::string of_models, bool secure)
      : url(std::move(of_models)), door(routes(), secure ? https() : http::server_options()) {}
  const std::string url;
  std::atomic<unsigned> status{200};  // of the model
  std::atomic<int> calls{0}, refused{0};
  text_cell wants;  // the Authorization header; empty: any, or none
  support::served door;

  http::response say(const http::request& q, const std::string& body, unsigned its_status) {
    const std::string wanted = wants.get();
    const std::string* const given = q.header("authorization");
    if (!wanted.empty() && (given == nullptr || *given != wanted)) {
      ++refused;
      return http::response::text(given == nullptr ? "no password" : "you said " + *given, 401);
    }
    ++calls;
    if (its_status != 200) return http::response::text("no", its_status);
    return http::response::json(body);
  }
  http::router routes() {
    http::router r;
    r.add("GET", "/redfish/v1/Systems", [this](const http::request& q, std::string_view) {
      return say(
          q, R"({"Members":[{"@odata.id":"/redfish/v1/Systems/1"},{"@odata.id":"/redfish/v1/Systems/2"}]})",
          200);
    });
    r.add("GET", "/redfish/v1/Systems/1/MachineLearningModel", [this](const http::request& q, std::string_view) {
      return say(
          q,
          fmt::format(
              R"({{"PowerConsumptionModel":{{"Name":"pc","Url":"{}","Type":"V2InferenceProtocol","Version":"v0.1.0"}}}})",
              url),
          status);
    });
    return r;
  }
};

/// An API server with one NodeConfig, if a model is given, and with no object of the older API group. It has
/// the Secrets "one" and "other".
struct api_server {
  /// `its_provider`: URL of the NodeConfig's endpoint provider; empty: it has none.
  api_server(std::string of_model, std::string its_secret, std::string its_provider)
      : endpoint(std::move(of_model)), secret(std::move(its_secret)), provider(std::move(its_provider)) {}
  std::string endpoint;
  const std::string secret;  // the NodeConfig names it; empty: none
  const std::string provider;
  text_cell event;  // what the next watch says
  text_cell one, other;
  std::atomic<unsigned> status_of_secrets{200};
  std::atomic<int> secrets_read{0};
  support::served door{routes()};

  std::string config(int version, const std::string& its_secret) const {
    const std::string by =
        provider.empty()
            ? ""
            : fmt::format(
                  R"("powerConsumptionEndpointProvider":{{"type":"Redfish","endpoint":"{}","basicAuthSecret":{{"name":"{}"}}}},)",
                  provider, its_secret);
    return fmt::format(
        R"({{"metadata":{{"name":"a","namespace":"wao-system","resourceVersion":"{}"}},
             "spec":{{"nodeName":"a","metricsCollector":{{"inletTemp":{{"type":"Fake","endpoint":""}},"deltaP":{{"type":"Fake","endpoint":""}}}},
             "predictor":{{{}"powerConsumption":{{"type":"V2InferenceProtocol","endpoint":"{}","basicAuthSecret":{{"name":"{}"}}}}}}}}}})",
        version, by, endpoint, its_secret);
  }
  /// The NodeConfig names another Secret from now on.
  void name_secret(const std::string& name) {
    event = fmt::format(R"({{"type":"MODIFIED","object":{}}})", config(2, name));
  }
  void add_secret(http::router& r, const std::string& name, text_cell& its) {
    r.add("GET", "/api/v1/namespaces/wao-system/secrets/" + name,
          [this, &its](const http::request&, std::string_view) {
            ++secrets_read;
            const std::string text = its.get();
            if (status_of_secrets != 200) return http::response::text("no", status_of_secrets);
            return text.empty() ? http::response::text("none", 404) : http::response::json(text);
          });
  }

  http::router routes() {
    http::router r;
    r.add("GET", "/apis/node.waok8s.github.io/v1beta1/nodeconfigs",
          [this](const http::request& q, std::string_view) {
            if (q.parameter("watch") != nullptr) return http::response::json(event.take());
            if (endpoint.empty())
              return http::response::json(R"({"metadata":{"resourceVersion":"1"},"items":[]})");
            return http::response::json(
                fmt::format(R"({{"metadata":{{"resourceVersion":"1"}},"items":[{}]}})", config(1, secret)));
          });
    add_secret(r, "one", one);
    add_secret(r, "other", other);
    return r;
  }
  std::shared_ptr<kube::client> client() const {
    kube::access to;
    to.host = "127.0.0.1";
    to.port = door.port();
    to.secure = false;
    return kube::client::open(std::move(to), logger("test", log_level::off)).value();
  }
};

std::string text_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

/// The password that a model server wants, and the Secrets.
struct guarded {
  std::string wants;  ///< the header
  std::string one, other;
  std::string name = "one";  ///< what the NodeConfig names
  std::string may_read = "wao-system";
  unsigned status = 200;  ///< of Secrets
};

/// A NodeConfig's endpoint provider, and what it says.
struct provided {
  unsigned status = 200;           ///< of the model
  std::string host = "127.0.0.1";  ///< of the model's server, as it names it
  bool written = false;            ///< the endpoint is written down beside it
};

struct house {
  /// `real`: the endpoint of a real model. `labels`: the labels of the node; if there are some, the node has
  /// no other model.
  explicit house(std::vector<std::string> allowed, unsigned status = 200, std::string real = {},
                 std::map<std::string, std::string> labels = {}, taken takes = {},
                 std::optional<guarded> secret = {}, std::optional<provided> by = {})
      : models(std::move(takes), secret.has_value()),
        bmc(fmt::format("{}://{}:{}/pre/", secret ? "https" : "http", by ? by->host : "127.0.0.1",
                        models.door.port()),
            secret.has_value()),
        api(by && !by->written ? "none"
            : real.empty()     ? fmt::format("{}://127.0.0.1:{}/pre/v2/models/pc/versions/v0.1.0/infer",
                                         secret ? "https" : "http", models.door.port())
                               : std::move(real),
            secret ? secret->name : "",
            by ? fmt::format("{}://127.0.0.1:{}", secret ? "https" : "http", bmc.door.port()) : "") {
    models.status = status;
    if (by) bmc.status = by->status;
    std::string authority = text_of("BINNACLE_MODEL_CA"), may_read;
    if (secret) {
      models.wants = secret->wants;
      bmc.wants = secret->wants;
      api.one = secret->one;
      api.other = secret->other;
      api.status_of_secrets = secret->status;
      may_read = secret->may_read;
      if (authority.empty()) authority = pki().ca.certificate();
    }
    if (!labels.empty()) api.endpoint.clear();
    boost::json::object packed;
    for (const auto& [key, value] : labels) packed[key] = value;
    object.labels = kube::packed_labels(&packed);
    loop.on_loop([&] {
      store::catalog_builder c;
      c.group("os").series("os_cpus");
      const wire::catalog announced = c;
      auto row = std::make_shared<store::row>(
          std::make_shared<const store::shape>(store::make_shape(announced, {})->what));
      row->set_value(0, 10);
      row->set_read(0, boot_clock::now() + 1h);
      store::node_update u;
      u.id = store::node_id{0};
      u.name = "a";
      u.connected = true;
      u.cells = row;
      nodes.apply(std::move(u));
      put_policy(policy::power_model::automatic);
      it = *model_servers::service::open({std::move(allowed), authority, may_read},
                                         logger("test", log_level::off));
      it->start(loop.loop(), {nodes, api.client(), [this](std::string_view) { return &object; },
                              [](const kube::note&) { return false; }});
    });
  }
  ~house() {
    loop.on_loop([this] { it.reset(); });
  }
  void put_policy(std::optional<policy::power_model> model) {
    auto table = std::make_shared<policy::policy_table>();
    if (model) {
      policy::published_policy p;
      p.key = {"default", "watts"};
      p.strategies.push_back({.kind = policy::strategy_kind::minimizepower});
      p.strategies[0].power.model = *model;
      table->emplace(p.key, std::make_shared<const policy::published_policy>(p));
    }
    nodes.set_policies(table);
  }
  /// The policy's model from now on; none: there is no policy.
  void set_model(std::optional<policy::power_model> model) {
    loop.on_loop([&] { put_policy(model); });
  }
  /// Waits until `there` holds, at most a minute.
  bool comes(const std::function<bool()>& there) {
    for (int i = 0; i < 6000; ++i) {
      bool yes = false;
      loop.on_loop([&] { yes = there(); });
      if (yes) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  /// The troubles that concern models. Others are left out: this API server ends each watch at once, which is
  /// reported, too.
  std::vector<std::string> ill() const {
    auto out = it->troubles();
    std::erase_if(out, [](const std::string& t) { return !t.starts_with("model "); });
    return out;
  }
  const predict::model* served() const { return nodes.served(policy::cpu_format::percent).find(0); }

  model_server models;
  redfish_server bmc;
  api_server api;
  kube::node_objects::node object;
  policy::view nodes;
  support::served loop{http::router()};
  std::unique_ptr<model_servers::service> it;
};

TEST_SUITE("aggregator/model_servers/service") {
  TEST_CASE("a node with a NodeConfig gets its model server's curve by one call") {
    house h({"127.0.0.1"});
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(5) == doctest::Approx(200));
      CHECK(h.served()->from == predict::model_source::server);
      CHECK(fmt::format("{}", fmt::join(h.ill(), "; ")).empty());
      CHECK(h.nodes.served_note(0).empty());
    });
    CHECK(h.models.calls == 1);
  }

  TEST_CASE("a model with an input of its own is asked by its metadata, which are read once") {
    house h({"127.0.0.1"}, 200, {}, {}, {"features", "FP64", "[-1,3]", true});
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(5) == doctest::Approx(200));
      CHECK(fmt::format("{}", fmt::join(h.ill(), "; ")).empty());
    });
    CHECK(h.models.metadata_calls == 1);
    CHECK(h.models.calls == 1);
    house misfit({"127.0.0.1"}, 200, {}, {}, {"features", "FP64", "[-1,4]", true});
    REQUIRE(misfit.comes([&] { return !misfit.nodes.served_note(0).empty(); }));
    misfit.loop.on_loop([&] {
      const std::string note(misfit.nodes.served_note(0));
      CHECK_MESSAGE(note.find("its input \"features\" has the shape [-1,4]") != note.npos, note);
    });
    CHECK(misfit.models.calls == 0);
  }

  TEST_CASE("a server that is not in the list is never asked, and that is said") {
    house h({"elsewhere"});
    REQUIRE(h.comes([&] { return !h.nodes.served_note(0).empty(); }));
    h.loop.on_loop([&] {
      CHECK(h.nodes.served_note(0).find("NodeConfig wao-system/a: the server 127.0.0.1:") == 0);
      CHECK(h.nodes.served_note(0).find("is not in model-servers") != std::string::npos);
      CHECK(h.served() == nullptr);
    });
    CHECK(h.models.calls == 0);
  }

  TEST_CASE("without a list of servers the objects are read, and each node's model is said not to be asked") {
    const std::string words =
        "its model is not asked, because model-servers lists no server: list those of models there (in the "
        "chart aggregator.modelServers)";
    house h({});
    REQUIRE(h.comes([&] { return !h.nodes.served_note(0).empty(); }));
    h.loop.on_loop([&] { CHECK(h.nodes.served_note(0) == "NodeConfig wao-system/a: " + words); });
    CHECK(h.models.metadata_calls == 0);
    house labelled({}, 200, {},
                   {{"tensorflow/host", "h"},
                    {"tensorflow/port", "8500"},
                    {"tensorflow/name", "m"},
                    {"ambient/min", "1"},
                    {"ambient/max", "2"},
                    {"cpu1/min", "1"},
                    {"cpu1/max", "2"},
                    {"cpu2/min", "1"},
                    {"cpu2/max", "2"}});
    REQUIRE(labelled.comes([&] { return !labelled.nodes.served_note(0).empty(); }));
    labelled.loop.on_loop([&] { CHECK(labelled.nodes.served_note(0) == "its labels: " + words); });
    // Who has no policy yet is told; who chose to learn is not.
    h.set_model(std::nullopt);
    h.loop.on_loop([&] { h.nodes.set_served_note(0, ""); });
    CHECK(h.comes([&] { return !h.nodes.served_note(0).empty(); }));
    h.set_model(policy::power_model::learned);
    CHECK(h.comes([&] { return h.nodes.served_note(0).empty(); }));
  }

  TEST_CASE("an ill server is named, nothing is known by it, and it is asked again once it is well") {
    house h({"127.0.0.1"}, 503);
    REQUIRE(h.comes([&] { return !h.ill().empty() && !h.nodes.served_note(0).empty(); }));
    h.loop.on_loop([&] {
      CHECK(h.ill().at(0).find("it answered 503") != std::string::npos);
      CHECK(h.nodes.served_note(0).find("it answered 503") != std::string::npos);
      CHECK(h.served() == nullptr);
    });
    h.models.status = 200;
    CHECK(h.comes([&] { return h.served() != nullptr && h.ill().empty(); }));
  }

  TEST_CASE("a model that is too slow for a whole curve gives it in parts") {
    house h({"127.0.0.1"}, 503);
    h.models.most = 30;
    h.models.status = 200;
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(5) == doctest::Approx(200));
      CHECK(h.it->counted()[static_cast<std::size_t>(model_servers::call_outcome::halved)] >= 2);
    });
  }

  TEST_CASE("defect: of an answer over REST a mebibyte was read, and what can be in it took 30 ms") {
    house h({"127.0.0.1"}, 503);
    h.models.padding = 1 << 10;  // 50 points are 50 KiB
    h.models.status = 200;
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(5) == doctest::Approx(200));
      CHECK(h.it->counted()[static_cast<std::size_t>(model_servers::call_outcome::halved)] >= 1);
    });
    house larger({"127.0.0.1"}, 503);
    larger.models.padding = 100 << 10;
    larger.models.status = 200;
    REQUIRE(larger.comes(
        [&] { return larger.nodes.served_note(0).find("the answer is larger") != std::string_view::npos; }));
    larger.loop.on_loop([&] {
      CHECK_MESSAGE(larger.ill().at(0).starts_with("model http"), "the model, not its server");
      CHECK(larger.served() == nullptr);
    });
  }

  TEST_CASE("a server that wants a password gets that of the NodeConfig's Secret, and its model counts") {
    house h({"127.0.0.1"}, 200, {}, {}, {},
            guarded{.wants = header_of("pc", "open sesame"), .one = data_of("pc", "open sesame")});
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(5) == doctest::Approx(200));
      CHECK(fmt::format("{}", fmt::join(h.ill(), "; ")).empty());
      CHECK(h.nodes.served_note(0).empty());
    });
    CHECK(h.models.refused == 0);
    CHECK(h.models.metadata_calls == 1);
    CHECK(h.api.secrets_read == 1);
  }

  TEST_CASE("a password that the server does not accept is read again, and its correction counts at once") {
    house h({"127.0.0.1"}, 200, {}, {}, {},
            guarded{.wants = header_of("pc", "new"), .one = data_of("pc", "0ld-s3cr3t")});
    REQUIRE(h.comes([&] { return !h.ill().empty() && !h.nodes.served_note(0).empty(); }));
    h.loop.on_loop([&] {
      CHECK(h.ill().at(0).find("it answered 401: it does not accept the user name and password of the Secret "
                               "wao-system/one, so correct them") != std::string::npos);
      CHECK(h.served() == nullptr);
      for (const std::string& said : {h.ill().at(0), std::string(h.nodes.served_note(0))}) {
        CHECK(said.find("0ld-s3cr3t") == std::string::npos);
        CHECK_MESSAGE(said.find(http::to_base64("pc:0ld-s3cr3t")) == std::string::npos,
                      "the server repeats it, we do not");
      }
    });
    h.api.one = data_of("pc", "new");
    CHECK(h.comes([&] { return h.served() != nullptr && h.ill().empty(); }));
    CHECK(h.api.secrets_read >= 2);
  }

  TEST_CASE("a node whose NodeConfig names another Secret does not keep what the first one got") {
    house h({"127.0.0.1"}, 200, {}, {}, {},
            guarded{.wants = header_of("pc", "right"),
                    .one = data_of("pc", "right"),
                    .other = data_of("pc", "wrong")});
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    h.api.name_secret("other");
    REQUIRE(h.comes([&] { return h.served() == nullptr; }));
    REQUIRE(h.comes(
        [&] { return h.nodes.served_note(0).find("of the Secret wao-system/other") != std::string::npos; }));
    CHECK(h.models.refused > 0);
  }

  TEST_CASE("without the password the server is not asked, and the reason is on the node") {
    const auto note_of = [](const guarded& g) {
      house h({"127.0.0.1"}, 200, {}, {}, {}, g);
      REQUIRE(h.comes([&] { return !h.nodes.served_note(0).empty(); }));
      std::string out;
      h.loop.on_loop([&] { out = h.nodes.served_note(0); });
      CHECK(h.models.refused == 0);
      CHECK(h.models.calls == 0);
      CHECK(h.models.metadata_calls == 0);
      return out;
    };
    const std::string wants = header_of("u", "p"), right = data_of("u", "p");
    const std::string its = "NodeConfig wao-system/a: ";
    CHECK(note_of({.wants = wants}).starts_with(its + "there is no Secret wao-system/one: create it"));
    CHECK(note_of({.wants = wants, .one = R"({"data":{}})"})
              .starts_with(its + "the Secret wao-system/one has no key username"));
    CHECK(note_of({.wants = wants, .one = right, .status = 403})
              .starts_with(its + "the Secret wao-system/one may not be read"));
    CHECK(
        note_of({.wants = wants, .one = right, .may_read = ""})
            .starts_with(its + "its basicAuthSecret is the Secret wao-system/one, and Secrets are not read"));
    CHECK(note_of({.wants = wants, .one = right, .may_read = "team"})
              .find("only Secrets of the namespace team are read") != std::string::npos);
  }

  TEST_CASE("an endpoint provider says where the model is, and both get the password of the Secret by TLS") {
    house h({"127.0.0.1"}, 200, {}, {}, {},
            guarded{.wants = header_of("pc", "open sesame"), .one = data_of("pc", "open sesame")},
            provided{});
    REQUIRE(h.comes([&] { return h.served() != nullptr && h.nodes.served_note(0).empty(); }));
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(5) == doctest::Approx(200));
      const auto& counted = h.it->counted_of_providers();
      CHECK(counted[static_cast<std::size_t>(model_servers::provider_outcome::answered)] == 2);
    });
    CHECK(h.bmc.calls == 2);
    CHECK(h.bmc.refused == 0);
    CHECK(h.models.refused == 0);
    CHECK(h.models.calls == 1);
  }

  TEST_CASE(
      "an endpoint provider without the resource is told of, and the written endpoint counts meanwhile") {
    const std::string fault =
        "NodeConfig wao-system/a: its powerConsumptionEndpointProvider: it answered 404 for "
        "/redfish/v1/Systems/ID/MachineLearningModel";
    house h({"127.0.0.1"}, 200, {}, {}, {}, {}, provided{.status = 404, .written = true});
    REQUIRE(h.comes([&] { return h.served() != nullptr && !h.nodes.served_note(0).empty(); }));
    h.loop.on_loop([&] {
      const std::string note(h.nodes.served_note(0));
      CHECK_MESSAGE(note.starts_with(fault), note);
      CHECK_MESSAGE(note.ends_with("; meanwhile the endpoint of predictor.powerConsumption is asked"), note);
    });
    CHECK(h.bmc.calls == 2);
    house without({"127.0.0.1"}, 200, {}, {}, {}, {}, provided{.status = 404});
    REQUIRE(without.comes([&] { return without.nodes.served_note(0).starts_with(fault); }));
    without.loop.on_loop([&] { CHECK(without.served() == nullptr); });
    CHECK(without.models.calls == 0);
  }

  TEST_CASE("an endpoint provider whose password is wrong is said to be, and the password is not") {
    house h({"127.0.0.1"}, 200, {}, {}, {},
            guarded{.wants = header_of("pc", "right"), .one = data_of("pc", "0ld-s3cr3t")}, provided{});
    const auto note_has = [&](const std::string& words) {
      return h.comes([&] { return h.nodes.served_note(0).find(words) != std::string_view::npos; });
    };
    REQUIRE(note_has("does not accept the user name and password of the Secret wao-system/one"));
    h.loop.on_loop([&] {
      const std::string note(h.nodes.served_note(0));
      CHECK(note.find("0ld-s3cr3t") == std::string::npos);
      CHECK(note.find(http::to_base64("pc:0ld-s3cr3t")) == std::string::npos);
    });
    CHECK(h.bmc.calls == 0);
    CHECK(h.models.metadata_calls == 0);
    h.api.one = data_of("pc", "right");
    CHECK(h.comes([&] { return h.served() != nullptr && h.nodes.served_note(0).empty(); }));
  }

  TEST_CASE("of an endpoint provider and the server that it names, each is asked only if it is in the list") {
    house unlisted({"localhost"}, 200, {}, {}, {}, {}, provided{.host = "localhost"});
    REQUIRE(unlisted.comes([&] {
      return unlisted.nodes.served_note(0).find(
                 " of its powerConsumptionEndpointProvider is not in model-servers") !=
             std::string_view::npos;
    }));
    CHECK(unlisted.bmc.calls == 0);
    house named({"127.0.0.1"}, 200, {}, {}, {}, {}, provided{.host = "localhost"});
    const std::string words = fmt::format(
        "NodeConfig wao-system/a: the server localhost:{}, which its "
        "powerConsumptionEndpointProvider names, is not in model-servers",
        named.models.door.port());
    REQUIRE(named.comes([&] { return named.nodes.served_note(0).starts_with(words); }));
    CHECK(named.models.metadata_calls == 0);
    CHECK(named.models.calls == 0);
  }

  // tests/aggregator/model_servers/real_servers_test.py starts it.
  TEST_CASE("a real model server gives a node's curve, and says in its words what it does not know" *
            doctest::skip(std::getenv("BINNACLE_MODEL") == nullptr)) {
    const std::string model = std::getenv("BINNACLE_MODEL");
    std::optional<guarded> by_password;
    if (const std::string user = text_of("BINNACLE_MODEL_USER"); !user.empty())
      by_password = guarded{.one = data_of(user, text_of("BINNACLE_MODEL_PASSWORD"))};
    house h({"127.0.0.1"}, 200, model, {}, {}, by_password);
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    // 100 W and 2 W for each percent, 1 W for each degree above 22: at the 15.5 °C of the type Fake.
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(0) == doctest::Approx(94));
      CHECK(h.served()->power.watts(10) == doctest::Approx(294));
      CHECK(fmt::format("{}", fmt::join(h.ill(), "; ")).empty());
    });
    house unknown({"127.0.0.1"}, 200, model.substr(0, model.find("/v2/")) + "/v2/models/other", {}, {},
                  by_password);
    REQUIRE(unknown.comes([&] { return !unknown.ill().empty(); }));
    unknown.loop.on_loop([&] {
      const std::string said = unknown.ill().at(0);
      CHECK_MESSAGE(said.find(model.starts_with("grpc") ? "NOT_FOUND" : "404") != std::string::npos, said);
    });
    if (!by_password) return;
    by_password->one = data_of("somebody", "guessed");
    house refused({"127.0.0.1"}, 200, model, {}, {}, by_password);
    REQUIRE(refused.comes([&] { return !refused.ill().empty(); }));
    refused.loop.on_loop([&] {
      const std::string said = refused.ill().at(0);
      CHECK_MESSAGE(said.find(": it does not accept the user name and password") != std::string::npos, said);
      CHECK_MESSAGE(said.find("guessed") == std::string::npos, said);
    });
  }

  // real_servers_test.py starts this server, too; BINNACLE_TF_MODEL names a file with "PORT NAME VERSION
  // SIGNATURE". WAO's first version states the load as a share.
  TEST_CASE("a real TensorFlow model gives the curve of a node with WAO's labels" *
            doctest::skip(std::getenv("BINNACLE_TF_MODEL") == nullptr)) {
    std::istringstream given(text_of("BINNACLE_TF_MODEL"));
    std::string port, name, version, signature;
    given >> port >> name >> version >> signature;
    std::map<std::string, std::string> labels{{"tensorflow/host", "127.0.0.1"},
                                              {"tensorflow/port", port},
                                              {"tensorflow/name", name},
                                              {"tensorflow/version", version},
                                              {"tensorflow/signature", signature},
                                              {"ambient/min", "15"},
                                              {"ambient/max", "35"},
                                              {"cpu1/min", "20"},
                                              {"cpu1/max", "90"},
                                              {"cpu2/min", "20"},
                                              {"cpu2/max", "90"}};
    house h({"127.0.0.1"}, 200, {}, labels);
    REQUIRE(h.comes([&] { return h.served() != nullptr; }));
    // 100 W idle, and 200 W more at full load.
    h.loop.on_loop([&] {
      CHECK(h.served()->power.watts(0) == doctest::Approx(100));
      CHECK(h.served()->power.watts(5) == doctest::Approx(200));
      CHECK(h.served()->power.watts(10) == doctest::Approx(300));
      CHECK(fmt::format("{}", fmt::join(h.ill(), "; ")).empty());
    });
    labels["tensorflow/signature"] = "other";
    house refused({"127.0.0.1"}, 200, {}, labels);
    REQUIRE(refused.comes([&] { return !refused.ill().empty(); }));
    refused.loop.on_loop([&] {
      const std::string said = refused.ill().at(0);
      CHECK_MESSAGE(said.find("FAILED_PRECONDITION") != std::string::npos, said);
    });
  }
}

}  // namespace model_service_test
