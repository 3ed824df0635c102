#pragma once

#include "aggregator/custom_metrics/face.hpp"
#include "common/http/message.hpp"
#include "common/http/target.hpp"
#include "common/tls/identity.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/whole.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A small fleet as the custom metrics API sees it.
namespace binnacle::custom_metrics::test {

using std::chrono::seconds;
using store::at_s;

inline const std::string base1 = "/apis/custom.metrics.k8s.io/v1beta1";
inline const std::string base2 = "/apis/custom.metrics.k8s.io/v1beta2";

/// A GET of a client that has shown a certificate.
inline http::request request_for(const std::string& target) {
  http::request r;
  r.method = "GET";
  REQUIRE(http::parse_target(target, r).has_value());
  r.peer = tls::identity{.common_name = "admin"};
  return r;
}

/// A source of the pods in `all`, which are sorted by name.
inline pod_source pods_among(const std::vector<pod>& all) {
  pod_source out;
  out.one = [&all](std::string_view name_space, std::string_view name) -> std::optional<pod> {
    for (const pod& p : all)
      if (p.name_space == name_space && p.name == name) return p;
    return std::nullopt;
  };
  out.of = [&all](std::string_view name_space, std::string_view after,
                  const std::function<bool(const pod&)>& each) {
    for (const pod& p : all)
      if (p.name_space == name_space && p.name > after && !each(p)) return;
  };
  out.unknown_because = [] { return std::string(); };
  return out;
}

/// Three nodes: n1 100.5 W and n2 20 W read at 990 s, n3's value expired at 995 s. It is 1000 s after boot
/// and 12:00:00 UTC.
struct house {
  store::view nodes;
  std::map<std::string, store::sample> watts;
  face tested;

  static store::sample at(decimal value, double read_s, double expires_s) {
    store::sample s;
    s.value = value;
    s.read_at = at_s(read_s);
    s.expires_at = at_s(expires_s);
    s.reason = absence::none;
    return s;
  }

  face_sources sources() {
    face_sources s;
    s.ask = [this](std::string_view metric, const questions::selector& series) -> questions::question {
      const bool right =
          metric == "rapl_power_watts" && series.matches([](std::string_view) { return std::nullopt; });
      return [this, right](const store::node_view& node, instant) -> questions::reading {
        const auto found = watts.find(node.name);
        store::sample none;
        none.reason = why;
        return right && found != watts.end() ? questions::reading{found->second, seconds(1)}
                                             : questions::reading{none, {}};
      };
    };
    s.now = [] { return at_s(1000); };
    s.wall = [](instant) { return std::chrono::system_clock::time_point(seconds(1'767'268'800)); };
    s.health.add("ping", [] { return true; });
    s.health.add_ready("draining", [] { return false; });
    return s;
  }

  absence why = absence::permission;  // of what has no value

  house() : tested(nodes, sources()) {
    nodes.node(store::node_id{0}, "n2").labels["telemetry.aware.scheduling.power/cold"] = "yes";
    nodes.node(store::node_id{1}, "n1");
    nodes.node(store::node_id{2}, "n3");
    nodes.node(store::node_id{3}, "n4");
    watts = {{"n1", at({1005, -1}, 990, 1010)},
             {"n2", at({200, -1}, 990.9, 1010)},
             {"n3", at({10, -1}, 985, 995)}};
  }

  http::response get(const std::string& target, std::vector<std::pair<std::string, std::string>> headers = {},
                     const std::string& method = "GET", bool known = true) {
    http::request r = request_for(target);
    r.method = method;
    r.headers = std::move(headers);
    if (!known) r.peer.reset();
    return support::whole(tested.answer(r));
  }
  std::string body(const std::string& target) {
    const auto a = get(target);
    return a.body.empty() ? std::string() : a.body[0];
  }
};

}  // namespace binnacle::custom_metrics::test
