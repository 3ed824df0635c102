#include "common/keyed_hash.hpp"

#include "tests/support/colliding_names.hpp"

#include <doctest/doctest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <memory>
#include <random>
#include <set>
#include <string>

namespace keyed_hash_test {

using namespace binnacle;

namespace {

/// OpenSSL's SipHash with the same number of rounds.
std::uint64_t openssl_siphash13(const hash_key& key, const std::string& text) {
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(EVP_MAC_fetch(nullptr, "SIPHASH", nullptr),
                                                              &EVP_MAC_free);
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_new(mac.get()),
                                                                          &EVP_MAC_CTX_free);
  std::size_t size = 8;
  unsigned c = 1, d = 3;
  const OSSL_PARAM wanted[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                               OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &c),
                               OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &d),
                               OSSL_PARAM_construct_end()};
  std::uint64_t out = 0;
  REQUIRE(EVP_MAC_init(context.get(), reinterpret_cast<const unsigned char*>(&key), sizeof key, wanted) == 1);
  REQUIRE(EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(text.data()), text.size()) ==
          1);
  REQUIRE(EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(&out), &size, sizeof out) == 1);
  return out;
}

}  // namespace

TEST_SUITE("common/keyed_hash") {
  TEST_CASE("it is SipHash-1-3, as OpenSSL computes it, for every length to 64") {
    std::mt19937_64 random(7);
    for (std::size_t length = 0; length <= 64; ++length) {
      CAPTURE(length);
      const hash_key key{random(), random()};
      std::string text(length, '\0');
      for (char& c : text) c = static_cast<char>(random());
      CHECK(siphash13(key, text) == openssl_siphash13(key, text));
    }
  }

  TEST_CASE("names chosen to collide under std::hash do not under the process' key") {
    const auto names = test::colliding_names(1'000);
    std::set<std::size_t> plain, keyed;
    for (const std::string& name : names) {
      plain.insert(std::hash<std::string>{}(name));
      keyed.insert(keyed_hash{}(name));
    }
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    CHECK(plain.size() == 1);  // the attack works on a table with std::hash
    CHECK(keyed.size() == names.size());
  }
}

}  // namespace keyed_hash_test
