#include "cli/connection.hpp"

#include "common/text/load_yaml.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace binnacle::cli {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

error at_line(const std::string& name, const YAML::Mark& mark, std::string_view what) {
  return {errc::invalid_input, fmt::format("{}:{}: {}", name, mark.line + 1, what)};
}

}  // namespace

std::string kubeconfig_files(const cluster_access& to) {
  if (!to.config.empty()) return to.config;
  if (const char* files = std::getenv("KUBECONFIG"); files != nullptr && *files != '\0') return files;
  const char* home = std::getenv("HOME");
  return fmt::format("{}/.kube/config", home == nullptr ? "" : home);
}

connection merged(connection flags, const std::function<const char*(const char*)>& environment,
                  connection file) {
  const auto variable = [&](const char* name) {
    const char* value = environment(name);
    return value == nullptr ? std::string() : std::string(value);
  };
  const auto first = [](const std::string& a, const std::string& b, const std::string& c) {
    return !a.empty() ? a : !b.empty() ? b : c;
  };
  connection c = std::move(flags);
  using use = cluster_access::use;
  if (c.cluster.how != use::always) {
    if (c.aggregators.empty()) c.aggregators = split(variable("BINNACLE_AGGREGATOR"));
    if (c.aggregators.empty()) c.aggregators = std::move(file.aggregators);
    if (c.aggregators.empty() && c.cluster.how == use::never) c.aggregators = {"https://localhost:9102"};
  }
  if (c.cluster.name_space.empty()) c.cluster.name_space = "binnacle";
  c.pem.certificate = first(c.pem.certificate, variable("BINNACLE_CERT"), file.pem.certificate);
  c.pem.key = first(c.pem.key, variable("BINNACLE_KEY"), file.pem.key);
  c.pem.authority = first(c.pem.authority, variable("BINNACLE_CA"), file.pem.authority);
  c.token_file = first(c.token_file, variable("BINNACLE_TOKEN_FILE"), file.token_file);
  return c;
}

result<connection> parse_settings(const std::string& yaml, const std::string& name) {
  constexpr std::string_view known = "aggregator, cert, key, ca, token-file";
  connection c;
  try {
    const YAML::Node top = load_yaml(yaml);
    if (top.IsNull()) return c;
    if (!top.IsMap()) return at_line(name, top.Mark(), fmt::format("expected keys and values: {}", known));
    for (const auto& entry : top) {
      const auto key = entry.first.as<std::string>();
      const YAML::Node& value = entry.second;
      const auto file = [&] {
        return (std::filesystem::path(name).parent_path() / value.as<std::string>()).string();
      };
      if (key == "aggregator" && value.IsSequence()) {
        c.aggregators = value.as<std::vector<std::string>>();
      } else if (!value.IsScalar()) {
        return at_line(name, value.Mark(), fmt::format("{} must be one value", key));
      } else if (key == "aggregator") {
        c.aggregators = {value.as<std::string>()};
      } else if (key == "cert") {
        c.pem.certificate = file();
      } else if (key == "key") {
        c.pem.key = file();
      } else if (key == "ca") {
        c.pem.authority = file();
      } else if (key == "token-file") {
        c.token_file = file();
      } else {
        return at_line(name, entry.first.Mark(), fmt::format("unknown key '{}'; known are {}", key, known));
      }
    }
  } catch (const YAML::Exception& e) {
    return at_line(name, e.mark, e.msg);
  }
  return c;
}

result<server_url> parse_server_url(std::string_view url, std::uint16_t default_port) {
  const auto wrong = [&](std::string_view what) {
    return error{errc::invalid_input,
                 fmt::format("'{}' is not an address of an aggregator: {}; write https://HOST:{}", url, what,
                             default_port)};
  };
  const auto [scheme, authority, path] = split_url(url);
  if (!scheme.empty() && scheme != "https" && scheme != "http")
    return wrong("only https and http are spoken");
  if (!path.empty() && path != "/") return wrong("it has a path");
  if (!authority.starts_with('[') && std::ranges::count(authority, ':') > 1)
    return wrong("an IPv6 address needs brackets");

  auto at = read_endpoint(authority, default_port);
  if (!at) return wrong("HOST or HOST:PORT is expected, with a port from 1 to 65535");
  const bool secure = scheme != "http";
  auto text = fmt::format("{}://{}", secure ? "https" : "http", to_string(*at));
  return server_url{std::move(text), *std::move(at), secure};
}

}  // namespace binnacle::cli
