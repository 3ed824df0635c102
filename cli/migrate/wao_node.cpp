// Migrates the labels by which WAO's first version gives a node its model.
#include "aggregator/model_servers/node_model.hpp"
#include "cli/migrate/wao.hpp"
#include "cli/migrate/wao_allowed.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::cli::migrate {

bool migrate_wao_node(const manifest& m, migration& out) {
  if (m.kind != "Node") return false;
  const YAML::Node labels = below(m.body, "metadata.labels");
  std::map<std::string, std::string, std::less<>> all;
  if (labels.IsMap()) {
    for (const auto& one : labels) {
      if (one.second.IsScalar()) all[one.first.Scalar()] = one.second.Scalar();
    }
  }
  const auto label = [&all](std::string_view key) -> std::optional<std::string_view> {
    const auto at = all.find(key);
    return at == all.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  };
  const auto read = model_servers::read_labels(label);
  if (!read) return true;  // a Node without these labels is not WAO's: there is nothing to say of it
  if (read->has_error()) {
    out.yours(m.title(), read->error().message);
    return true;
  }
  const model_servers::labelled_model& said = **read;
  if (said.spans.has_error()) {
    out.yours(m.title(), said.spans.error().message);
  } else {
    ++out.wao.nodes;
  }
  // The server must be allowed for the time when the labels of the spans are mended, too.
  allow_model(said.model, m.title(), out);
  if (!said.remark.empty()) out.yours(m.title(), said.remark);
  return true;
}

}  // namespace binnacle::cli::migrate
