#include "aggregator/model_servers/node_configs.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace node_configs_test {

using namespace binnacle;
using namespace binnacle::model_servers;

boost::json::object object_of(const std::string& node, const std::string& predictor) {
  return boost::json::parse(fmt::format(
                                R"({{"spec":{{"nodeName":"{}","metricsCollector":{{
        "inletTemp":{{"type":"Redfish","endpoint":"https://10.0.0.100","basicAuthSecret":{{"name":"r"}},"fetchInterval":"10s"}},
        "deltaP":{{"type":"Fake","endpoint":""}}}},"predictor":{}}}}})",
                                node, predictor))
      .as_object();
}

const std::string v2 =
    R"({"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"http://10.0.0.20:8080/v2/models/PC-R650/versions/v0.1.0/infer"}})";

named_model read(const std::string& predictor) {
  const auto o = object_of("worker-0", predictor);
  return read_node_config("NodeConfig wao-system/w0", "wao-system", o.at("spec").as_object());
}

/// The object with a uid, as the API server gives it.
boost::json::object with_uid(boost::json::object o, const std::string& uid) {
  o["metadata"] = {{"uid", uid}};
  return o;
}

/// A NodeConfigTemplate for all nodes.
boost::json::object templated(const std::string& endpoint) {
  return boost::json::parse(
             fmt::format(R"({{"metadata":{{"uid":"t"}},"spec":{{"nodeSelector":{{}},"template":{{
        "predictor":{{"powerConsumption":{{"type":"V2InferenceProtocol","endpoint":"{}"}}}}}}}}}})",
                         endpoint))
      .as_object();
}

std::optional<named_model> found(const node_configs& all, const std::string& node) {
  return all.find({node, nullptr, ""});
}

TEST_SUITE("aggregator/model_servers/node_configs") {
  TEST_CASE("a NodeConfig as WAO documents it names the node's model") {
    const auto f = read(v2);
    CHECK(f.object == "NodeConfig wao-system/w0");
    REQUIRE(f.model.has_value());
    CHECK(f.model->model.text() == "http://10.0.0.20:8080/v2/models/PC-R650/versions/v0.1.0/infer");
    CHECK_FALSE(f.model->inlet);
    CHECK_MESSAGE(*f.model->pressure == 7.5, "what WAO's collector of type Fake says");
  }

  TEST_CASE("what is not followed is said in words") {
    const auto why = [](const std::string& predictor) {
      const auto f = read(predictor);
      REQUIRE(f.model.has_error());
      return f.model.error().message;
    };
    CHECK(why("{}").find("no predictor.powerConsumption") != std::string::npos);
    CHECK(why(R"({"powerConsumption":{"type":"Fake","endpoint":""}})").find("of type \"Fake\"") !=
          std::string::npos);
    CHECK(why(R"({"powerConsumption":{"type":"TFServing","endpoint":""}})").find("V2InferenceProtocol") !=
          std::string::npos);
    CHECK(why(R"({"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"10.0.0.1"}})").find("URL") !=
          std::string::npos);
    const auto provider = [&](const std::string& term) {
      return why(R"({"powerConsumptionEndpointProvider":)" + term + "}");
    };
    CHECK(provider(R"({"type":"Fake","endpoint":""})") ==
          "predictor.powerConsumptionEndpointProvider is of type \"Fake\", and only Redfish is asked");
    CHECK(provider(R"({"type":"Redfish","endpoint":"bmc"})").find("is no http or https URL") !=
          std::string::npos);
    CHECK(provider(R"({"type":"Redfish","endpoint":"http://bmc","basicAuthSecret":{"name":"r"}})") ==
          "predictor.powerConsumptionEndpointProvider names a basicAuthSecret, and everybody on the way to "
          "http://bmc:80 may read a password: use https");
    CHECK(
        provider(R"({"type":"Redfish","endpoint":"https://bmc","basicAuthSecret":{"name":"../r"}})")
            .find("powerConsumptionEndpointProvider names the basicAuthSecret \"../r\", which is no name") !=
        std::string::npos);
    CHECK(provider(R"({"type":"Redfish","endpoint":"https://)" + std::string(longest_text, 'h') + "\"}") ==
          "predictor.powerConsumptionEndpointProvider.endpoint has more than 1024 bytes");
  }

  TEST_CASE("defect: a provider that cannot be asked took the endpoint that is written down with it") {
    const auto f =
        read(R"({"powerConsumptionEndpointProvider":{"type":"Fake","endpoint":""},)" + v2.substr(1));
    REQUIRE(f.model.has_value());
    CHECK_FALSE(f.model->provider);
    CHECK(f.model->model.server() == "10.0.0.20:8080");
    CHECK(f.model->remark ==
          "predictor.powerConsumptionEndpointProvider is of type \"Fake\", and only Redfish is asked; "
          "meanwhile "
          "the endpoint of predictor.powerConsumption is asked");
  }

  TEST_CASE("who answers in plain HTTP does not say which server gets the model's password") {
    const std::string provider =
        R"({"powerConsumptionEndpointProvider":{"type":"Redfish","endpoint":"http://bmc"})";
    CHECK(read(provider + "}").model.has_value());
    const auto f = read(provider + R"(,"powerConsumption":{"basicAuthSecret":{"name":"pc"}}})");
    REQUIRE(f.model.has_error());
    CHECK(f.model.error().message.find(
              "everybody on the way to http://bmc:80 may say to which server the password "
              "goes: use https") != std::string::npos);
  }

  TEST_CASE(
      "an endpoint provider goes before the endpoint, of which only the Secret and a way out are left") {
    CHECK_FALSE(read(v2).model->provider);
    const std::string provider =
        R"("powerConsumptionEndpointProvider":{"type":"Redfish","endpoint":"https://10.0.0.100/","basicAuthSecret":{"name":"bmc"}})";
    const auto alone = read("{" + provider + "}");
    REQUIRE(alone.model.has_value());
    REQUIRE(alone.model->provider);
    CHECK(alone.model->provider->text() == "https://10.0.0.100:443");
    CHECK(alone.model->provider->secret == "wao-system/bmc");
    CHECK(alone.model->model.host.empty());
    CHECK(alone.model->model.secret.empty());
    CHECK_MESSAGE(*alone.model->pressure == 7.5, "collectors count as ever");
    CHECK(read("{" + provider + "," + v2.substr(1)).model->model.server() == "10.0.0.20:8080");
    // What WAO would replace can have no fault.
    for (const std::string unused :
         {R"("type":"Fake","endpoint":"https://fake-endpoint")", R"("type":"","endpoint":"")",
          R"("type":"V2InferenceProtocol","endpoint":"http://h/v2/models/m")"}) {
      const auto f = read("{" + provider + R"(,"powerConsumption":{)" + unused +
                          R"(,"basicAuthSecret":{"name":"pc"}}})");
      CAPTURE(unused);
      REQUIRE(f.model.has_value());
      CHECK(f.model->model.host.empty());
      CHECK(f.model->model.secret == "wao-system/pc");
    }
    const auto secret = read("{" + provider + R"(,"powerConsumption":{"basicAuthSecret":{"name":"a b"}}})");
    REQUIRE(secret.model.has_error());
    CHECK(secret.model.error().message.find("no name of a Secret") != std::string::npos);
  }

  TEST_CASE("a NodeConfig with a long text is refused") {
    const std::string large(longest_text + 1, 'x');
    const auto why = [](const std::string& type, const std::string& endpoint, const std::string& secret) {
      const auto f = read(fmt::format(
          R"({{"powerConsumption":{{"type":"{}","endpoint":"{}","basicAuthSecret":{{"name":"{}"}}}}}})", type,
          endpoint, secret));
      REQUIRE(f.model.has_error());
      return f.model.error().message;
    };
    CHECK(why(large, "", "") == "predictor.powerConsumption.type has more than 1024 bytes");
    CHECK(why("V2InferenceProtocol", large, "") ==
          "predictor.powerConsumption.endpoint has more than 1024 bytes");
    CHECK(why("V2InferenceProtocol", "https://h/v2/models/m", large) ==
          "predictor.powerConsumption.basicAuthSecret.name has more than 1024 bytes");
    node_configs all;
    all.watcher_of(0).changed({"ns", "a"}, with_uid(object_of(large, v2), "a"));
    CHECK_FALSE(found(all, large));
    complaints to;
    all.complain(to, instant{});
    CHECK(to.sentences(instant{} + complaints::said_after) ==
          std::vector<std::string>{"NodeConfig ns/a: nodeName has more than 253 bytes"});
  }

  TEST_CASE("objects beyond a bound are left out and named, and are read when others have gone") {
    node_configs all;
    const boost::json::object fake = templated("http://h/v2/models/m");
    auto& templates = all.watcher_of(2);
    for (std::size_t i = 0; i < node_configs::most_templates + 2; ++i)
      templates.changed({"ns", fmt::format("t{:03}", i)}, fake);
    CHECK(all.size() == node_configs::most_templates);
    CHECK(all.troubles() ==
          std::vector<std::string>{
              "of the NodeConfigTemplate objects (node.waok8s.github.io/v1beta1) 50 are read and 2 are left "
              "out, ns/t050 first: delete those that nobody needs"});
    templates.changed({"ns", "t000"}, fake);  // it keeps its place
    CHECK(all.size() == node_configs::most_templates);
    CHECK_FALSE(all.take_freed(2));
    templates.gone({"ns", "t050"});
    CHECK_FALSE_MESSAGE(all.take_freed(2), "it had no place");
    templates.gone({"ns", "t000"});
    CHECK(all.take_freed(2));
    CHECK_FALSE(all.take_freed(2));
    templates.changed({"ns", "t051"}, fake);
    CHECK(all.size() == node_configs::most_templates);
    CHECK(all.troubles().empty());
    const auto config = object_of("n", "{}");
    for (std::size_t i = 0; i <= node_configs::most_configs; ++i)
      all.watcher_of(1).changed({"ns", fmt::format("c{:05}", i)}, config);
    CHECK(all.size() == node_configs::most_templates + node_configs::most_configs);
    REQUIRE(all.troubles().size() == 1);
    CHECK(all.troubles()[0].starts_with("of the NodeConfig objects (wao.bitmedia.co.jp/v1beta1) 20000 are"));
    all.watcher_of(1).gone({"ns", "c00000"});
    CHECK(all.take_freed(1));
  }

  TEST_CASE("complaints of many objects come in parts") {
    node_configs all;
    for (const std::size_t group : {0, 1}) {
      for (const std::string name : {"a", "b", "c"})
        all.watcher_of(group).changed({"ns", name}, with_uid(object_of("n" + name, "{}"), name));
    }
    complaints to;
    const auto said = [&to] {
      std::size_t out = 0;
      complaints all_of(to);
      all_of.say(instant{} + complaints::said_after, [&out](const kube::note&) {
        ++out;
        return true;
      });
      return out;
    };
    for (std::size_t i = 1; i <= 6; ++i) {
      CHECK_FALSE(all.complain(to, instant{}, [] { return true; }));
      CHECK(said() == i);
    }
    CHECK(all.complain(to, instant{}, [] { return true; }));
    CHECK_FALSE(all.complain(to, instant{}, [] { return true; }));
    CHECK_MESSAGE(said() == 6, "they begin anew");
  }

  TEST_CASE("defect: an object that names no model hides no other one, and is complained of") {
    node_configs all;
    const std::string fake = R"({"powerConsumption":{"type":"Fake","endpoint":""}})";
    const label_look_up labels = [](std::string_view) { return std::optional<std::string_view>(); };
    const auto now = [&] {
      std::vector<named_model> passed_over;
      const auto out = all.find({"n", labels, ""}, &passed_over);
      std::string text = out ? out->object : "none";
      for (const named_model& one : passed_over) text += ", not " + one.object;
      return text;
    };
    auto& group = all.watcher_of(0);
    group.changed({"ns", "a"}, with_uid(object_of("n", fake), "a"));
    REQUIRE(all.find({"n", labels, ""}));
    CHECK_MESSAGE(all.find({"n", labels, ""})->model.has_error(), "nothing else names one");
    CHECK(now() == "NodeConfig ns/a");
    all.watcher_of(2).changed({"ns", "t"}, templated("http://{{.Hostname}}/nothing"));
    CHECK(now() == "NodeConfig ns/a, not NodeConfigTemplate ns/t");
    all.watcher_of(2).changed({"ns", "u"}, templated("http://{{.Hostname}}/v2/models/m"));
    CHECK(now() == "NodeConfigTemplate ns/u, not NodeConfigTemplate ns/t, not NodeConfig ns/a");
    all.watcher_of(1).changed({"ns", "z"}, with_uid(object_of("n", v2), "z"));
    CHECK_MESSAGE(now() == "NodeConfig ns/z", "of the older group");
    group.changed({"ns", "b"}, with_uid(object_of("n", v2), "b"));
    CHECK(now() == "NodeConfig ns/b");
    complaints to;
    all.complain(to, instant{});
    const auto said = to.sentences(instant{} + complaints::said_after);
    REQUIRE(said.size() == 2);
    CHECK(said[0] ==
          "NodeConfig ns/z: NodeConfig ns/b (node.waok8s.github.io/v1beta1) is for the node n, too, and goes "
          "before it: delete one of them");
    CHECK(said[1].starts_with("NodeConfig ns/a: predictor.powerConsumption is of type \"Fake\""));
    group.changed({"ns", "a"}, with_uid(object_of("n", v2), "a"));
    CHECK_MESSAGE(now() == "NodeConfig ns/a", "it was mended");
    group.gone({"ns", "a"});
    CHECK(now() == "NodeConfig ns/b");
  }

  TEST_CASE("few of the templates that select a node are tried for it") {
    node_configs all;
    const label_look_up labels = [](std::string_view) { return std::optional<std::string_view>(); };
    for (std::size_t i = 0; i < node_configs::most_tried; ++i)
      all.watcher_of(2).changed({"ns", fmt::format("a{}", i)}, templated("http://{{.Hostname}}/nothing"));
    all.watcher_of(2).changed({"ns", "z"}, templated("http://{{.Hostname}}/v2/models/m"));
    CHECK(all.find({"n", labels, ""})->model.has_error());
    all.watcher_of(2).gone({"ns", "a0"});
    const auto counts = all.find({"n", labels, ""});
    CHECK(counts->object == "NodeConfigTemplate ns/z");
    complaints to;
    all.complain_of({"n", labels, ""}, to, instant{}, &*counts);
    const auto said = to.sentences(instant{} + complaints::said_after);
    REQUIRE(said.size() == 1);
    CHECK(
        said[0].starts_with("NodeConfigTemplate ns/a1, NodeConfigTemplate ns/a2: NodeConfigTemplate ns/z ("));
  }

  TEST_CASE("a basicAuthSecret is one of the object's namespace, and its password goes over TLS only") {
    const auto with = [](const std::string& endpoint, const std::string& secret) {
      return read(fmt::format(
          R"({{"powerConsumption":{{"type":"V2InferenceProtocol","endpoint":"{}/v2/models/m","basicAuthSecret":{}}}}})",
          endpoint, secret));
    };
    for (const std::string scheme : {"https", "grpcs"}) {
      const auto f = with(scheme + "://h", R"({"name":"pc.1"})");
      REQUIRE(f.model.has_value());
      CHECK(f.model->model.secret == "wao-system/pc.1");
    }
    for (const std::string scheme : {"http", "grpc"}) {
      const auto f = with(scheme + "://h:1", R"({"name":"pc"})");
      REQUIRE(f.model.has_error());
      CHECK(f.model.error().message.find("everybody on the way to " + scheme + "://h:1/v2/models/m") !=
            std::string::npos);
      CHECK(f.model.error().message.ends_with("use https or grpcs"));
    }
    for (const std::string none : {R"({"name":""})", "{}", "null", R"({"name":7})"}) {
      const auto f = with("http://h", none);
      REQUIRE(f.model.has_value());
      CHECK(f.model->model.secret.empty());
    }
    for (const std::string odd : {"../pods", "a/b", "a b", "A", "a%2f"}) {
      const auto f = with("https://h", R"({"name":")" + odd + "\"}");
      REQUIRE(f.model.has_error());
      CHECK(f.model.error().message.find("no name of a Secret") != std::string::npos);
    }
  }

  TEST_CASE("a NodeConfig counts in any namespace, and waits for a node that is not there yet") {
    node_configs all;
    all.watcher_of(0).changed({"team-a", "w0"}, object_of("worker-0", v2));
    REQUIRE(found(all, "worker-0"));
    CHECK(found(all, "worker-0")->object == "NodeConfig team-a/w0");
    CHECK_FALSE(found(all, "worker-1"));
    all.watcher_of(0).gone({"wao-system", "w0"});  // another one
    CHECK(found(all, "worker-0"));
  }

  TEST_CASE("of two NodeConfigs for a node the first by name counts, and the other when it is gone") {
    node_configs all;
    auto& group = all.watcher_of(0);
    const auto model = [](const std::string& name) {
      return object_of(
          "n", R"({"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"http://h/v2/models/)" + name +
                   R"("}})");
    };
    const auto now = [&] { return found(all, "n") ? found(all, "n")->model->model.path : ""; };
    group.changed({"wao-system", "b"}, model("b"));
    CHECK(now() == "/v2/models/b/infer");
    group.changed({"wao-system", "a"}, model("a"));
    CHECK(now() == "/v2/models/a/infer");
    group.changed({"wao-system", "a"}, model("a2"));
    CHECK(now() == "/v2/models/a2/infer");
    group.gone({"wao-system", "a"});
    CHECK(now() == "/v2/models/b/infer");
    group.gone({"wao-system", "b"});
    CHECK(!found(all, "n"));
    CHECK(all.size() == 0);
  }

  TEST_CASE("an object that moves to another node leaves the first one") {
    node_configs all;
    auto& group = all.watcher_of(0);
    group.changed({"ns", "a"}, object_of("one", v2));
    group.changed({"ns", "a"}, object_of("two", v2));
    CHECK(!found(all, "one"));
    CHECK(found(all, "two"));
    group.changed({"ns", "a"}, boost::json::object());
    CHECK(!found(all, "two"));
  }

  TEST_CASE("both API groups are followed, and the newer one wins") {
    CHECK(node_configs::collection(0).path == "/apis/node.waok8s.github.io/v1beta1/nodeconfigs");
    CHECK(node_configs::collection(1).path == "/apis/wao.bitmedia.co.jp/v1beta1/nodeconfigs");
    node_configs all;
    CHECK(node_configs::collection(2).path == "/apis/node.waok8s.github.io/v1beta1/nodeconfigtemplates");
    CHECK(node_configs::collection(3).path == "/apis/wao.bitmedia.co.jp/v1beta1/nodeconfigtemplates");
    CHECK_MESSAGE(node_configs::collection(3).page == 20, "others' objects may be large");
    all.watcher_of(1).changed({"ns", "a"}, object_of("n", "{}"));
    REQUIRE(found(all, "n"));
    CHECK(found(all, "n")->model.has_error());
    all.watcher_of(0).changed({"ns", "z"}, object_of("n", v2));
    CHECK(found(all, "n")->model.has_value());
  }

  TEST_CASE("a template stands for a NodeConfig of the nodes that it selects, and an object goes before it") {
    const auto templated = [](const std::string& model) {
      return boost::json::
          parse(fmt::format(
                    R"({{"metadata":{{"uid":"t"}},"spec":{{"nodeSelector":{{"matchLabels":{{"kind":"r650"}}}},"template":{{
             "predictor":{{"powerConsumption":{{"type":"V2InferenceProtocol","endpoint":"http://{{{{.Hostname}}}}/v2/models/{}"}}}}}}}}}})",
                    model))
              .as_object();
    };
    const label_look_up r650 = [](std::string_view key) -> std::optional<std::string_view> {
      if (key == "kind") return "r650";
      if (key == "kubernetes.io/hostname") return "host-n";
      return std::nullopt;
    };
    const label_look_up other = [](std::string_view) -> std::optional<std::string_view> {
      return std::nullopt;
    };
    node_configs all;
    auto& templates = all.watcher_of(2);
    templates.changed({"ns", "b"}, templated("b"));
    REQUIRE(all.find({"n", r650, ""}));
    CHECK(all.find({"n", r650, ""})->model->model.text() == "http://host-n:80/v2/models/b/infer");
    CHECK(all.find({"n", r650, ""})->about.kind == "NodeConfigTemplate");
    CHECK(all.find({"n", r650, ""})->about.uid == "t");
    CHECK_FALSE(all.find({"n", other, ""}));
    CHECK_FALSE_MESSAGE(found(all, "n"), "a node without an object has no labels");
    templates.changed({"ns", "a"}, templated("a"));
    CHECK(all.find({"n", r650, ""})->object == "NodeConfigTemplate ns/a");
    all.watcher_of(1).changed({"ns", "z"}, object_of("n", v2));
    CHECK(all.find({"n", r650, ""})->object == "NodeConfig ns/z");
    CHECK(all.size() == 3);
    all.watcher_of(1).gone({"ns", "z"});
    templates.gone({"ns", "a"});
    templates.changed({"ns", "b"}, boost::json::object());
    CHECK_FALSE(all.find({"n", r650, ""}));
  }

  TEST_CASE("a node of both API groups and a node that two templates select are complained of") {
    node_configs all;
    all.watcher_of(0).changed({"ns", "a"}, with_uid(object_of("n", v2), "a"));
    all.watcher_of(1).changed({"ns", "a"}, with_uid(object_of("n", v2), "old"));
    all.watcher_of(1).changed({"ns", "b"}, with_uid(object_of("alone", v2), "b"));
    const auto selecting = [](const std::string& uid) {
      return with_uid(boost::json::parse(R"({"spec":{"nodeSelector":{},"template":{
        "predictor":{"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"http://h/v2/models/m"}}}}})")
                          .as_object(),
                      uid);
    };
    all.watcher_of(2).changed({"ns", "t"}, selecting("t"));
    all.watcher_of(3).changed({"ns", "u"}, selecting("u"));
    const label_look_up labels = [](std::string_view) { return std::optional<std::string_view>(); };
    complaints to;
    all.complain(to, instant{});
    all.complain_of({"x", labels, "10.0.0.1"}, to, instant{});
    all.complain_of({"y", labels, "10.0.0.2"}, to, instant{});
    all.complain_of({"without object", nullptr, ""}, to, instant{});
    const auto said = to.sentences(instant{} + complaints::said_after);
    REQUIRE(said.size() == 2);
    CHECK(said[0] ==
          "NodeConfig ns/a: NodeConfig ns/a (node.waok8s.github.io/v1beta1) is for the node n, too, and goes "
          "before it: delete one of them");
    CHECK(
        said[1] ==
        "NodeConfigTemplate ns/u: NodeConfigTemplate ns/t (node.waok8s.github.io/v1beta1) selects nodes that "
        "it selects, too, and goes before it");
  }

  TEST_CASE(
      "two NodeConfigs for a node, one without a model and a template of more than is filled in are "
      "complained of") {
    node_configs all;
    all.watcher_of(0).changed({"ns", "a"}, with_uid(object_of("n", v2), "a"));
    all.watcher_of(0).changed({"ns", "b"}, with_uid(object_of("n", v2), "b"));
    all.watcher_of(0).changed({"ns", "c"}, with_uid(object_of("m", "{}"), "c"));
    all.watcher_of(3).changed(
        {"ns", "t"}, boost::json::parse(R"({"metadata":{"uid":"t"},"spec":{"nodeSelector":{},"template":{
        "predictor":{"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"http://{{ lower .Hostname }}/"}}}}})")
                         .as_object());
    complaints to;
    all.complain(to, instant{});
    const auto said = to.sentences(instant{} + complaints::said_after);
    REQUIRE(said.size() == 3);
    CHECK(said[0] ==
          "NodeConfig ns/b: NodeConfig ns/a is for the node n, too, and goes before it: delete one of them");
    CHECK(said[1] == "NodeConfig ns/c: it has no predictor.powerConsumption");
    CHECK(said[2].starts_with(
        "NodeConfigTemplate ns/t: predictor.powerConsumption.endpoint: \"{{ lower .Hostname }}\""));
    std::vector<kube::note> events;
    to.say(instant{} + complaints::said_after, [&](kube::note n) {
      events.push_back(std::move(n));
      return true;
    });
    REQUIRE(events.size() == 3);
    CHECK(events[0].about ==
          kube::object_reference{"NodeConfig", "node.waok8s.github.io/v1beta1", "ns", "b", "b"});
    CHECK(events[2].about.api_version == "wao.bitmedia.co.jp/v1beta1");
  }
}

}  // namespace node_configs_test
