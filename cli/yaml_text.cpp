#include "cli/yaml_text.hpp"

namespace binnacle::cli {
namespace {

constexpr int deepest = 100;

void write(YAML::Emitter& out, const YAML::Node& n, int depth) {
  if (depth > deepest) throw YAML::RepresentationException(n.Mark(), "lists and maps are nested too deeply");
  const bool flow = n.Style() == YAML::EmitterStyle::Flow;
  if (n.IsMap()) {
    if (flow) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& member : n) {
      out << YAML::Key;
      write(out, member.first, depth + 1);
      out << YAML::Value;
      write(out, member.second, depth + 1);
    }
    out << YAML::EndMap;
  } else if (n.IsSequence()) {
    if (flow) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const auto& item : n) write(out, item, depth + 1);
    out << YAML::EndSeq;
  } else if (n.IsScalar() && is_quoted(n)) {
    out << YAML::DoubleQuoted << n.Scalar();
  } else {
    out << n;
  }
}

}  // namespace

bool is_quoted(const YAML::Node& scalar) {
  // yaml-cpp gives a plain scalar the tag "?". A scalar made by this program has an empty tag.
  return scalar.Tag() == "!" || scalar.Tag() == "tag:yaml.org,2002:str";
}

std::string yaml_text(const YAML::Node& node) {
  YAML::Emitter out;
  write(out, node, 0);
  return std::string(out.c_str()) + '\n';
}

}  // namespace binnacle::cli
