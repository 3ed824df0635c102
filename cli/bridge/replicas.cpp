#include "cli/bridge/replicas.hpp"

#include "cli/json.hpp"
#include "cli/terminal_text.hpp"
#include "common/http/base64.hpp"
#include "common/text/text.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace binnacle::cli::bridge {
namespace {

/// Whether `selector` selects an object with the labels `own`.
bool selects(const json::object& selector, const json::object& own) {
  return !selector.empty() && std::ranges::all_of(selector, [&](const auto& wanted) {
    const json::value* value = own.if_contains(wanted.key());
    return value != nullptr && *value == wanted.value();
  });
}

bool runs(const json::value& pod) {
  return text(object(pod, "status"), "phase") == "Running" &&
         member(object(pod, "metadata"), "deletionTimestamp") == nullptr;
}

/// The PEM text that the member `key` has as base64; empty if it has none.
std::string pem_in(const json::value& of, std::string_view key) {
  const auto pem = http::from_base64(text(of, key));
  return pem.has_value() ? *pem : std::string();
}

}  // namespace

result<replicas> replicas_in(std::string_view list_text, const std::string& name_space) {
  boost::system::error_code ec;
  const json::value told = json::parse(json::string_view(list_text.data(), list_text.size()), ec);
  if (ec) return error{errc::protocol, "kubectl get services,pods -o json gave no JSON"};
  replicas found;
  json::object selector;
  for (const auto& item : list(told, "items")) {
    const json::value spec = object(item, "spec");
    for (const auto& port : list(spec, "ports")) {
      if (text(item, "kind") != "Service" || text(port, "name") != ops_port) continue;
      found.service = text(object(item, "metadata"), "name");
      selector = object(spec, "selector");
    }
  }
  if (found.service.empty()) {
    return error{
        errc::not_found,
        fmt::format("namespace {} has no Service of Binnacle's chart: --kube-namespace names another "
                    "one",
                    name_space)};
  }
  for (const auto& item : list(told, "items")) {
    const json::value metadata = object(item, "metadata");
    if (text(item, "kind") == "Pod" && runs(item) && selects(selector, object(metadata, "labels")))
      found.pods.push_back(text(metadata, "name"));
  }
  std::ranges::sort(found.pods);
  if (found.pods.empty()) {
    return error{errc::not_found, fmt::format("no pod of Service {} in namespace {} runs: `binnacle doctor "
                                              "pods --kube-config FILE` says why",
                                              found.service, name_space)};
  }
  return found;
}

result<std::string> authority_in(std::string_view told, const std::string& service,
                                 const std::string& name_space) {
  boost::system::error_code ec;
  const json::value as_json = json::parse(json::string_view(told.data(), told.size()), ec);
  const json::value spec = object(as_json, "spec"), behind = object(spec, "service");
  const std::string leads_to = text(behind, "name"), there = text(behind, "namespace");
  if (leads_to == service && there == name_space) return pem_in(spec, "caBundle");
  const json::value metadata = object(as_json, "metadata"), own = object(metadata, "labels");
  if (text(own, "app.kubernetes.io/name") != "binnacle") return std::string();
  const std::string namespace_too = there == name_space ? "" : fmt::format("--kube-namespace {}, or ", there);
  return error{errc::not_found,
               fmt::format("the APIService of Binnacle's chart leads to Service {} in namespace {}, not to "
                           "{} in {}: give {}the CA of the aggregator's certificate with --ca",
                           leads_to, there, service, name_space, namespace_too)};
}

result<tls::files> pem_in_secret(std::string_view told, std::string_view name) {
  boost::system::error_code ec;
  const json::value secret = json::parse(json::string_view(told.data(), told.size()), ec);
  const json::value data = object(secret, "data");
  tls::files found;
  found.authority = pem_in(data, "ca.crt");
  if (found.authority.empty()) {
    return error{
        errc::protocol,
        fmt::format("Secret {} has no ca.crt: give the CA of the aggregator's certificate with --ca", name)};
  }
  const std::string certificate = pem_in(data, "tls.crt"), key = pem_in(data, "tls.key");
  if (certificate.empty() || key.empty()) return found;
  found.certificate = certificate;
  found.key = key;
  return found;
}

std::optional<std::uint16_t> forwarded_port(std::string_view line) {
  constexpr std::string_view before = "Forwarding from 127.0.0.1:";
  if (!line.starts_with(before)) return std::nullopt;
  line.remove_prefix(before.size());
  const auto port = parse_unsigned(line.substr(0, line.find(' ')));
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

std::string words_of(std::string_view errors) {
  std::string words;
  while (!errors.empty()) {
    const auto end = std::min(errors.find('\n'), errors.size());
    const std::string_view line = trimmed(errors.substr(0, end));
    errors.remove_prefix(std::min(end + 1, errors.size()));
    const bool is_log = line.size() > 5 && std::string_view("IWEF").find(line[0]) < 4 &&
                        std::ranges::all_of(line.substr(1, 4), is_digit) && line[5] == ' ';
    if (!line.empty() && !is_log) words += (words.empty() ? "" : "; ") + std::string(line);
  }
  return for_terminal(words);
}

std::string next_pod(const std::string& now, const std::vector<std::string>& running,
                     const std::vector<std::string>& taken) {
  const auto is_in = [](const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
  };
  if (is_in(running, now)) return now;
  const auto free = std::ranges::find_if(running, [&](const std::string& pod) { return !is_in(taken, pod); });
  if (free != running.end()) return *free;
  return running.empty() ? "" : running.front();
}

}  // namespace binnacle::cli::bridge
