// Migrates Intel TAS itself: its Deployment with the flags, and the objects that belong to it.
#include "cli/migrate/migration.hpp"
#include "common/http/base64.hpp"
#include "common/tls/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace binnacle::cli::migrate {
namespace {

bool is_workload(const manifest& m) { return m.kind == "Deployment" || m.kind == "StatefulSet"; }

bool is_tas(const manifest& m) {
  if (!is_workload(m)) return false;
  if (images_of(m).find("telemetry-aware-scheduling") != std::string::npos) return true;
  const auto flags = flags_of(m);  // the image may be the user's own build, so a flag of TAS counts, too
  return std::any_of(flags.begin(), flags.end(), [](const flag& f) { return f.name == "syncPeriod"; });
}

/// The level of klog's -v; 0 if there is none.
int verbosity_of(const flag& f) {
  int level = 0;
  std::from_chars(f.value.data(), f.value.data() + f.value.size(), level);
  return level;
}

void take_flag(const flag& f, const std::string& whose, migration& out) {
  const std::string subject = whose + ", " + f.written();
  if (f.name == "syncPeriod") {
    out.dropped(subject, "rules are evaluated when a value arrives, not by a period");
  } else if (f.name == "cachePort" || f.name == "kubeConfig") {
    out.dropped(subject, "in the cluster the service account is used, and there is no cache to reach");
  } else if (f.name == "port") {
    if (f.value == "9001") return;
    out.dropped(subject,
                "the extender listens on 9001: its URL in the scheduler's configuration changes anyway");
  } else if (f.name == "cert" || f.name == "key" || f.name == "cacert") {
    out.dropped(subject,
                "see certificates.mode: the chart makes them for trials, takes cert-manager's, or yours");
  } else if (f.name == "unsafe") {
    out.dropped(
        subject,
        "with plain HTTP anybody may ask, and whoever is in between may answer the scheduler; the chart has "
        "TLS without more work");
  } else if (f.name == "v") {
    if (verbosity_of(f) < 4) {
      out.works(subject, "what TAS logged at -v=2 is always logged");
    } else {
      out.values["aggregator"]["settings"]["log-level"] = "debug";
      out.carried(subject, "aggregator.settings.log-level: debug");
    }
  } else {
    out.dropped(subject, "has no counterpart; `binnacle-aggregator --help` lists the settings there are");
  }
}

void take_placement(const manifest& m, migration& out) {
  const auto pod = below(m.body, "spec.template.spec");
  if (const auto selector = below(pod, "nodeSelector"); selector.IsMap() && selector.size() > 0) {
    out.values["aggregator"]["nodeSelector"] = selector;
    out.carried(m.title() + ", nodeSelector", "aggregator.nodeSelector");
  }
  if (const auto bears = below(pod, "tolerations"); bears.IsSequence() && bears.size() > 0) {
    out.values["aggregator"]["tolerations"] = bears;
    out.carried(m.title() + ", tolerations", "aggregator.tolerations");
  }
  if (const auto affinity = below(pod, "affinity"); affinity.IsMap()) {
    out.yours(m.title() + ", affinity",
              "the chart spreads its replicas and tolerates control planes; to pin them there set "
              "aggregator.nodeSelector");
  }
  if (const auto secrets = below(pod, "imagePullSecrets"); secrets.IsSequence()) {
    for (const auto& s : secrets) {
      if (const auto name = text_of(s, "name"); !name.empty()) {
        out.values["image"]["pullSecrets"].push_back(name);
        out.yours(m.title() + ", imagePullSecrets",
                  fmt::format("is in image.pullSecrets: copy the secret {} into both of the chart's "
                              "namespaces (the chart's README says how to create them first)",
                              name));
      }
    }
  }
}

void take_deployment(const manifest& m, migration& out) {
  for (const flag& f : flags_of(m)) take_flag(f, m.title(), out);
  take_placement(m, out);
  if (const auto replicas = text_of(m.body, "spec.replicas"); replicas.empty() || replicas == "1") {
    out.dropped(m.title() + ", replicas",
                "TAS could run only once; the chart runs two aggregators, of which either can answer alone");
  }
  out.yours(m.title(),
            "scale it to 0 before the chart writes labels, because two programs must not write them; delete "
            "it when you are satisfied");
}

std::string pem_of(const manifest& m, const std::string& key) {
  if (auto plain = entry_of(m.body, "stringData", key); !plain.empty()) return plain;
  auto decoded = http::from_base64(entry_of(m.body, "data", key));
  return decoded.has_value() ? *std::move(decoded) : std::string();
}

bool take_secret(const manifest& m, migration& out) {
  if (m.kind != "Secret") return false;
  const auto pem = pem_of(m, "tls.crt");
  if (pem.empty()) return false;
  const auto found = tls::read_certificates(pem, m.title());
  if (!found) {
    out.yours(m.title(), "its tls.crt cannot be read: " + found.error().message);
  } else if (found->front().authority) {
    out.yours(m.title(),
              fmt::format(
                  "holds the key of an authority ({}): TAS's set-up copies the cluster's own CA. It is not "
                  "carried over; delete the secret, and /etc/certs on the control planes, when TAS is gone: "
                  "who reads it can become anybody in the cluster",
                  found->front().issuer));
  } else {
    out.yours(m.title(),
              "is valid for TAS's service name only: let the chart or cert-manager make a certificate for "
              "Binnacle's service (certificates.mode), or sign one yourself and name it in "
              "certificates.existing.server");
  }
  return true;
}

}  // namespace

bool migrate_tas(const manifest& m, migration& out) {
  if (is_tas(m)) {
    take_deployment(m, out);
    return true;
  }
  if (take_secret(m, out)) return true;
  const bool belongs = m.name.find("tas-") == 0 || m.name.find("telemetry-aware") != std::string::npos ||
                       m.name.find("extender") != std::string::npos || m.name == "policy-handler" ||
                       m.name == "handle-policies" || m.name == "configmapgetter";
  if (!belongs) return false;
  if (m.kind == "Service") {
    out.dropped(m.title(), "the chart has a Service of its own; delete this one with TAS");
  } else if (m.kind == "ServiceAccount" || m.kind.starts_with("ClusterRole") || m.kind.starts_with("Role")) {
    out.dropped(m.title(), "the chart brings rights of its own, fewer of them; delete it with TAS");
  } else {
    return false;
  }
  return true;
}

}  // namespace binnacle::cli::migrate
