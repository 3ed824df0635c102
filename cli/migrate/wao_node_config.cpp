// Migrates NodeConfig objects, by which WAO's second version gives a node its model.
#include "aggregator/model_servers/node_config.hpp"
#include "cli/migrate/wao.hpp"
#include "cli/migrate/wao_allowed.hpp"
#include "cli/migrate/wao_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

namespace binnacle::cli::migrate {
namespace {

bool is_node_config(const manifest& m) {
  return m.kind == "NodeConfig" && has_wao_group(text_of(m.body, "apiVersion"));
}

/// Its place among the NodeConfigs for one node.
wao_findings::config place_of(const manifest& m) {
  const bool is_new =
      text_of(m.body, "apiVersion").find(model_servers::node_config_groups[0]) != std::string::npos;
  return {is_new ? 0U : 1U, name_space_of(m), m.name};
}

/// Notes which NodeConfig counts for a node, as model_servers::node_configs says it. One that names no model
/// is passed over.
void note_node_config(const manifest& m, migration& out) {
  const std::string node = text_of(m.body, "spec.nodeName");
  if (node.empty() || model_servers::read_node_config("", name_space_of(m), spec_of(m)).model.has_error())
    return;
  const auto place = place_of(m);
  const auto [at, is_new] = out.wao.config_of.try_emplace(node, place);
  if (!is_new) at->second = std::min(at->second, place);
}

}  // namespace

void find_wao(std::span<const manifest> installed, migration& out) {
  for (const manifest& m : installed) {
    if (is_node_config(m)) note_node_config(m, out);
  }
}

bool migrate_wao_node_config(const manifest& m, migration& out) {
  if (!is_node_config(m)) return false;
  const auto read = model_servers::read_node_config(m.title(), name_space_of(m), spec_of(m));
  const std::string node = text_of(m.body, "spec.nodeName");
  const auto counts = out.wao.config_of.find(node);
  if (node.empty()) {
    out.yours(m.title(), "names no node, so that it does nothing: write spec.nodeName, or delete it");
  } else if (read.model.has_error()) {
    out.yours(m.title(), read.model.error().message);
  } else if (counts != out.wao.config_of.end() && counts->second != place_of(m)) {
    const auto& first = counts->second;
    out.yours(
        fmt::format("{} ({})", m.title(), text_of(m.body, "apiVersion")),
        fmt::format("NodeConfig {}/{} ({}) is for the node {}, too, and goes before it: delete one of "
                    "them",
                    first.name_space, first.name, model_servers::node_config_groups[first.group], node));
  } else {
    const auto& model = *read.model;
    bool is_whole = true;
    if (model.provider) {
      allow_server(model.provider->server(), model.provider->secure, m.title(), out);
      is_whole = allow_secret(model.provider->secret, m.title(), out);
      tell_of_provided_servers(out);
    }
    if (is_written(model)) allow_model(model.model, m.title(), out);
    is_whole = allow_secret(model.model.secret, m.title(), out) && is_whole;
    if (!model.remark.empty()) out.yours(m.title(), model.remark);
    if (is_whole) ++out.wao.objects;
  }
  take_unasked(m, "spec.", out);
  return true;
}

}  // namespace binnacle::cli::migrate
