#include "common/tls/denied_serials.hpp"

#include "common/system/read_file.hpp"
#include "common/tls/certificate.hpp"
#include "common/tls/context.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>
#include <openssl/pem.h>

#include <memory>

namespace denied_serials_test {

namespace {

using namespace binnacle;
using tls::denied_serials;

using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;

/// A certificate with a serial number and nothing else.
certificate_ptr with_serial(const char* hex) {
  certificate_ptr out(X509_new(), &X509_free);
  BIGNUM* number = nullptr;
  REQUIRE(BN_hex2bn(&number, hex) > 0);
  ASN1_INTEGER* const serial = BN_to_ASN1_INTEGER(number, nullptr);
  X509_set_serialNumber(out.get(), serial);
  ASN1_INTEGER_free(serial);
  BN_free(number);
  return out;
}

}  // namespace

TEST_SUITE("common/tls/denied_serials") {
  TEST_CASE("a serial number is found however it is written") {
    const auto certificate = with_serial("0ABC1203");
    for (const char* written : {"0ABC1203", "abc1203", "serial=0ABC1203", "0a:bc:12:03", "000abc1203",
                                "  0ABC1203  # the stolen laptop", "# old\n\n0abc1203\r\n"}) {
      CAPTURE(written);
      const auto list = denied_serials::read(written, "list");
      REQUIRE(list.has_value());
      CHECK(list->contains(certificate.get()));
      CHECK_FALSE(list->contains(with_serial("0ABC1204").get()));
      CHECK_FALSE(list->contains(nullptr));
    }
    CHECK(tls::serial_of(certificate.get()) == "abc1203");
    CHECK(tls::serial_of(with_serial("0").get()) == "0");
  }

  TEST_CASE("a list without lines denies nothing") {
    const auto list = denied_serials::read("# none yet\n\n", "list");
    REQUIRE(list.has_value());
    CHECK(list->empty());
  }

  TEST_CASE("a line that is no serial number is named, and denies the whole list") {
    for (const char* wrong : {"xyz", "12 34", "serial=", ":", "-1", "0x12",
                              "123456789012345678901234567890123456789012345678901234567890"}) {
      CAPTURE(wrong);
      const auto list = denied_serials::read(std::string("ab\n") + wrong + "\n", "/etc/denied");
      REQUIRE(list.has_error());
      CHECK(list.error().message.find("line 2 of /etc/denied") != std::string::npos);
    }
  }

  TEST_CASE("a context reads its list again; a broken or missing one leaves the last in force") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    tls::options o;
    o.side = tls::role::server;
    o.pem = ca.issue_server();
    o.pem.denied = dir / "denied";
    CHECK(tls::context::load(o).error().message.find(dir / "denied") != std::string::npos);
    support::write_file(dir / "denied", "ab\n");
    const auto context = tls::context::load(o).value();
    int told = 0;
    context->on_reload([&told] { ++told; });
    CHECK_FALSE(context->reload_if_changed().value());

    support::write_file(dir / "denied", "ab\ncd\n");
    CHECK(context->reload_if_changed().value());
    CHECK(told == 1);
    support::write_file(dir / "denied", "nonsense\n");
    CHECK(context->reload_if_changed().has_error());
    CHECK(context->trouble().find("nonsense") != std::string::npos);
    CHECK(told == 1);
    support::write_file(dir / "denied", "ab\ncd\nef\n");
    CHECK(context->reload_if_changed().value());
    CHECK(context->trouble().empty());
    CHECK(told == 2);
  }
}

}  // namespace denied_serials_test
