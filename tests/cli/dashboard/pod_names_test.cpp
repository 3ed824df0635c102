// Names of pods by the UIDs of their cgroups.
#include "cli/dashboard/pod_names.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

namespace pod_names_test {

using namespace binnacle::cli;
using namespace binnacle::cli::dashboard;
using names = std::map<std::string, std::string>;

TEST_SUITE("cli/dashboard/pod_names") {
  TEST_CASE("a pod is known by its UID, and a static pod also by the UID that its kubelet gave it") {
    const auto pods = json::parse(R"({"items":[
      {"metadata":{"namespace":"default","name":"web-1","uid":"u-1"}},
      {"metadata":{"namespace":"kube-system","name":"etcd-n1","uid":"u-2",
        "annotations":{"kubernetes.io/config.hash":"0f6c","kubernetes.io/config.source":"file"}}}]})");
    CHECK(names_by_uid(pods) ==
          names{{"0f6c", "kube-system/etcd-n1"}, {"u-1", "default/web-1"}, {"u-2", "kube-system/etcd-n1"}});
  }

  TEST_CASE("what is no list of pods has no names") {
    for (const char* text : {"null", "{}", "[1]", R"({"items":[1,{},{"metadata":{}}]})"})
      CHECK(names_by_uid(json::parse(text)).empty());
  }
}

}  // namespace pod_names_test
