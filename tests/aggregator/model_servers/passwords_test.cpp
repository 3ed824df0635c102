#include "aggregator/model_servers/passwords.hpp"

#include "common/http/base64.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace passwords_test {

using namespace binnacle;
using namespace std::chrono_literals;
using model_servers::passwords;

const std::string pc = "wao-system/pc";
// "Aladdin" and "open sesame" are the example of RFC 7617.
const std::string rfc_header = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";

http::answer says(unsigned status, std::string body) {
  http::answer out;
  out.status = status;
  out.body = std::move(body);
  return out;
}

http::answer secret(const std::string& user, const std::string& password) {
  return says(
      200, fmt::format(
               R"({{"kind":"Secret","metadata":{{"name":"pc"}},"data":{{"username":"{}","password":"{}"}}}})",
               http::to_base64(user), http::to_base64(password)));
}

struct world {
  passwords it{"wao-system"};
  instant now = from_ns(1'000'000'000'000);

  /// A model needs the Secret for that long. Its reads get `got`. Returns how many there were.
  int reads(duration span, const result<http::answer>& got, const std::string& name = pc) {
    int count = 0;
    for (const instant end = now + span; now < end; now += 1s) {
      it.want(name, now);
      if (!it.next(now)) continue;
      ++count;
      (void)it.answered(got, now);
    }
    return count;
  }
  std::string trouble_after(const result<http::answer>& got) {
    reads(1s, got);
    CHECK(it.header(pc) == nullptr);
    return it.trouble(pc);
  }
};

TEST_SUITE("aggregator/model_servers/passwords") {
  TEST_CASE("a Secret becomes the header of RFC 7617, and is read again after five minutes") {
    world w;
    CHECK_FALSE(w.it.next(w.now));
    w.it.want(pc, w.now);
    const auto call = w.it.next(w.now);
    REQUIRE(call);
    CHECK(call->method == "GET");
    CHECK(call->target == "/api/v1/namespaces/wao-system/secrets/pc");
    CHECK_MESSAGE(!w.it.next(w.now), "one call at a time");
    CHECK(w.it.header(pc) == nullptr);
    CHECK(w.it.answered(secret("Aladdin", "open sesame"), w.now) == pc);
    REQUIRE(w.it.header(pc));
    CHECK(*w.it.header(pc) == rfc_header);
    CHECK(w.it.trouble(pc).empty());
    CHECK(w.reads(299s, secret("Aladdin", "open sesame")) == 0);
    CHECK(w.reads(2s, secret("Aladdin", "open sesame")) == 1);
    w.it.want(pc, w.now);
    CHECK_FALSE(w.it.next(w.now));
  }

  TEST_CASE("a refused password is read again at once, and less often while it stays the same") {
    world w;
    w.reads(1min, secret("u", "old"));
    w.it.refused(pc, w.now);
    CHECK(w.reads(1s, secret("u", "old")) == 1);
    // Refused each second: after 10, 20, 40, 80 and 160 seconds.
    int again = 0;
    for (int i = 0; i < 310; ++i) {
      w.it.refused(pc, w.now);
      again += w.reads(1s, secret("u", "old"));
    }
    CHECK(again == 5);
    w.it.want(pc, w.now);
    w.it.refused(pc, w.now);
    w.now += 5min;
    w.it.want(pc, w.now);
    REQUIRE(w.it.next(w.now));
    CHECK_MESSAGE(w.it.answered(secret("u", "new"), w.now) == pc, "another password is said");
    w.it.refused(pc, w.now);
    CHECK_MESSAGE(w.reads(6s, secret("u", "new")) == 1, "it began anew with five seconds");
    w.it.refused("wao-system/other", w.now);  // nobody knows it
  }

  TEST_CASE("what is wrong with a Secret is said with the remedy, and nothing of it is quoted") {
    CHECK(world().trouble_after(says(404, "{}")) ==
          "there is no Secret wao-system/pc: create it with the keys username and password");
    CHECK(world().trouble_after(says(403, R"({"kind":"Status","message":"secrets \"pc\" is forbidden"})")) ==
          "the Secret wao-system/pc may not be read: grant get on it by a Role (in the chart: list it in "
          "aggregator.modelServersSecrets.names)");
    const auto of_data = [](const std::string& data) {
      return world().trouble_after(says(200, R"({"data":{)" + data + "}}"));
    };
    for (const std::string& data : {std::string(), std::string(R"("password":"czNjcjN0")"),
                                    std::string(R"("username":"","password":"czNjcjN0")")})
      CHECK_MESSAGE(of_data(data) ==
                        "the Secret wao-system/pc has no key username, or an empty one: create it with the "
                        "keys username and password",
                    data);
    CHECK(of_data(R"("username":"dQ==")").find("no key password") != std::string::npos);
    CHECK(world().trouble_after(says(200, R"({"metadata":{}})")).find("no key username") !=
          std::string::npos);
    CHECK(of_data(R"("username":"dQ==","password":"s3cr3t!")") ==
          "the key password of the Secret wao-system/pc cannot be read: create it with the keys username and "
          "password");
    CHECK(world().trouble_after(secret("u", "s3cr3t\n")) ==
          "the key password of the Secret wao-system/pc has a line break or another control character in it, "
          "which no password may have: write it without one (printf instead of echo)");
    CHECK(world().trouble_after(secret("a:b", "s3cr3t")).find("has a ':' in it") != std::string::npos);
    CHECK(world().trouble_after(says(200, "s3cr3t")).find("s3cr3t") == std::string::npos);
    CHECK(world().trouble_after(says(200, "s3cr3t")).find("cannot be read now") != std::string::npos);
  }

  TEST_CASE(
      "while the API server does not answer, the old password stays; when the Secret is gone, it ends") {
    const error down{errc::disconnected, "the API server cannot be reached"};
    world w;
    CHECK(w.trouble_after(down) ==
          "the Secret wao-system/pc cannot be read now: the API server cannot be reached");
    CHECK(w.reads(6s, secret("Aladdin", "open sesame")) == 1);
    CHECK_MESSAGE(w.reads(6min, down) > 1, "it is tried again before five minutes have passed");
    REQUIRE(w.it.header(pc));
    CHECK(*w.it.header(pc) == rfc_header);
    CHECK_FALSE(w.it.trouble(pc).empty());
    w.reads(6min, says(500, ""));
    CHECK(w.it.header(pc) != nullptr);
    w.reads(6min, says(404, ""));
    CHECK(w.it.header(pc) == nullptr);
    CHECK_MESSAGE(w.reads(6min, secret("u", "p")) >= 1, "and is found when it is there again");
    CHECK(w.it.header(pc) != nullptr);
  }

  TEST_CASE("Secrets of other namespaces are never read, and none without the setting") {
    world w;
    w.it.want("kube-system/admin", w.now);
    w.it.want("wao-system2/pc", w.now);
    CHECK_FALSE(w.it.next(w.now));
    CHECK(w.it.trouble("kube-system/admin") ==
          "its basicAuthSecret is the Secret kube-system/admin, and only Secrets of the namespace wao-system "
          "are read: name the namespace in model-servers-secrets (in the chart "
          "aggregator.modelServersSecrets.namespace)");
    passwords none("");
    none.want(pc, w.now);
    none.want("/pc", w.now);
    CHECK_FALSE(none.next(w.now));
    CHECK(none.trouble(pc).find("and Secrets are not read: name the namespace") != std::string::npos);
  }

  TEST_CASE("Secrets are bounded in number, and one that nobody needs is forgotten") {
    world w;
    for (std::size_t i = 0; i <= passwords::most; ++i) w.it.want(fmt::format("wao-system/{}", i), w.now);
    CHECK(w.it.trouble("wao-system/256") ==
          "more than 256 Secrets are named by NodeConfig objects: let nodes share some");
    CHECK(w.it.trouble("wao-system/255").empty());
    const std::string last = "wao-system/256";
    CHECK(w.reads(passwords::forgotten_after, secret("u", "p"), last) > 200);
    CHECK_MESSAGE(w.it.header(last) == nullptr, "there was no place");
    CHECK(w.reads(2s, secret("u", "p"), last) == 1);
    CHECK(w.it.header(last) != nullptr);
    CHECK(w.it.header("wao-system/0") == nullptr);
    // One that is forgotten while it is read.
    w.now += 6min;
    w.it.want(last, w.now);
    REQUIRE(w.it.next(w.now));
    w.now += passwords::forgotten_after;
    CHECK_FALSE(w.it.next(w.now));
    CHECK_FALSE(w.it.answered(secret("u", "p"), w.now));
  }
}

}  // namespace passwords_test
