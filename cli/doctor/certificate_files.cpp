#include "cli/doctor/certificate_files.hpp"

#include "cli/doctor/place.hpp"
#include "common/clock.hpp"
#include "common/text/first_few.hpp"
#include "common/text/text.hpp"
#include "common/tls/certificate.hpp"

#include <fmt/format.h>

namespace binnacle::cli::doctor {
namespace {

constexpr std::size_t largest = 1u << 20;
constexpr const char* renew =
    "issue a new one: cert-manager, your issuer, or for trials scripts/pki with the same folder";

/// "2026-11-28".
std::string day(std::chrono::system_clock::time_point t) { return rfc3339(t).substr(0, 10); }

/// What is wrong with a certificate's dates; nothing if they are fine.
std::optional<finding> of_dates(const std::string& name, const tls::certificate_facts& c,
                                std::chrono::system_clock::time_point now) {
  if (c.begins > now) {
    return failure(fmt::format("{} is valid only from {} on", name, rfc3339(c.begins)),
                   "compare the clocks of this machine and of the issuer");
  }
  if (c.ends <= now) return failure(fmt::format("{} ended on {}", name, rfc3339(c.ends)), renew);
  if (c.ends - now < (c.ends - c.begins) / 10) {
    return warning(fmt::format("{} ends in {}, less than a tenth of its time", name, human(c.ends - now)),
                   "whoever renews it has not done so: see its issuer's log");
  }
  return std::nullopt;
}

std::string names_in(const tls::certificate_facts& c) {
  std::vector<std::string> all = c.names.dns_names;
  all.insert(all.end(), c.names.uris.begin(), c.names.uris.end());
  if (all.empty() && !c.names.common_name.empty()) return in_quotes(c.names.common_name, 253);
  return all.empty() ? "nobody" : first_few(all, 4);
}

finding of_own(const certificate_files& f, const std::string& text,
               std::chrono::system_clock::time_point now) {
  const std::string name = fmt::format("{} certificate {}", f.whose, f.pem.certificate);
  const auto all = tls::read_certificates(text, name);
  if (all.has_error()) return failure(all.error().message, renew);
  for (const auto& c : *all) {
    if (auto wrong = of_dates(&c == all->data() ? name : fmt::format("an issuer in {}", name), c, now))
      return *wrong;
  }
  if (const auto order = tls::chain_in_order(text, f.pem.certificate); order.has_error())
    return failure(order.error().message, "put the certificates of the file into that order");
  const tls::certificate_facts& own = all->front();
  if (!own.for_clients) {
    return failure(fmt::format("{} is not for clients: its extended key usage leaves them out", name),
                   "issue one whose extended key usage has clientAuth");
  }
  if (!f.node.empty() && !own.names.speaks_for(f.node, "")) {
    for (const std::string& uri : own.names.uris) {
      if (!uri.ends_with("/" + f.node)) continue;
      return warning(fmt::format("{} speaks for node {} by a URI alone, {}", name, f.node, uri),
                     fmt::format("set the aggregator's agents-uri-prefix to {}, or issue one with the node's "
                                 "name as a DNS name",
                                 uri.substr(0, uri.size() - f.node.size())));
    }
    return failure(fmt::format("{} speaks for {}, not for node {}", name, names_in(own), f.node),
                   "issue one with the node's name as a DNS name, or set node-name");
  }
  return ok(fmt::format("{} fits its key, was issued by {} for {}, and is valid until {}", name,
                        in_quotes(own.issuer, 253), f.node.empty() ? names_in(own) : f.node, day(own.ends)));
}

finding of_authority(const certificate_files& f, const std::string& text,
                     std::chrono::system_clock::time_point now) {
  const std::string name = fmt::format("{} CA file {}", f.whose, f.pem.authority);
  const auto all = tls::read_certificates(text, name);
  if (all.has_error()) return failure(all.error().message, "give the PEM file of the CA that signs servers");
  std::optional<finding> worst;
  auto last = all->front().ends;
  for (const auto& c : *all) {
    if (!c.authority && !c.signs_itself) {
      return failure(
          fmt::format("{} holds the certificate of {}, which is not an authority", name, names_in(c)),
          "give the file of the CA, not of the server");
    }
    last = std::max(last, c.ends);
    if (auto wrong = of_dates(name, c, now); wrong && (!worst || wrong->how > worst->how)) worst = wrong;
  }
  // An expired CA is no fault if its successor is in the same file.
  if (worst && (all->size() == 1 || last <= now)) return *worst;
  return ok(fmt::format("{} is valid until {}", name, day(last)));
}

}  // namespace

findings look_at(const certificate_files& f, std::chrono::system_clock::time_point now) {
  findings out;
  for (const std::string* file : {&f.pem.certificate, &f.pem.key, &f.pem.authority}) {
    if (file->empty()) continue;
    const auto text = last_bytes(*file, largest);
    if (text.has_value()) continue;
    const bool closed = text.error().code == errc::permission || f.foreign;
    const std::string sentence =
        fmt::format("{} file {} cannot be read: {}", f.whose, *file, text.error().message);
    out.push_back(
        closed ? unchecked(sentence, "run this on the machine of that program and as its user")
               : failure(sentence, "name the file that is there, or make trial certificates: scripts/pki"));
  }
  if (!out.empty()) return out;

  tls::options o;
  o.side = tls::role::client;
  o.pem = f.pem;
  if (f.pem.authority.empty()) o.servers = tls::trust::anybody;
  if (const auto loaded = tls::context::load(std::move(o)); loaded.has_error())
    return {failure(loaded.error().message, "give the pair that was issued together, in PEM")};
  if (!f.pem.certificate.empty())
    out.push_back(of_own(f, last_bytes(f.pem.certificate, largest).value(), now));
  if (!f.pem.authority.empty())
    out.push_back(of_authority(f, last_bytes(f.pem.authority, largest).value(), now));
  return out;
}

}  // namespace binnacle::cli::doctor
