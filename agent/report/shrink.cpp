#include "agent/report/shrink.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {
namespace {

constexpr const char* left_out = "left-out";

std::size_t leaves_of(const YAML::Node& n) {
  if (!n.IsMap()) return 1;
  std::size_t count = 0;
  for (const auto& member : n) count += leaves_of(member.second);
  return count;
}

bool same_leaf(const YAML::Node& a, const YAML::Node& b) {
  if (a.Type() != b.Type() || a.Tag() != b.Tag()) return false;
  if (a.IsScalar()) return a.Scalar() == b.Scalar();
  return a.IsSequence() && a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const YAML::Node& x, const YAML::Node& y) { return same_leaf(x, y); });
}

// What in `b` differs from `a`. Nothing if the two do not have the same files. The parts are copied, because
// a yaml-cpp node that is put into another tree keeps its whole old tree alive.
std::optional<YAML::Node> difference(const YAML::Node& a, const YAML::Node& b) {
  YAML::Node changes(YAML::NodeType::Map);
  if (a.size() != b.size()) return std::nullopt;
  for (const auto& member : b) {
    const auto name = member.first.Scalar();
    const auto& theirs = member.second;
    const auto ours = a[name];
    if (!ours || ours.IsMap() != theirs.IsMap()) return std::nullopt;
    if (!theirs.IsMap()) {
      if (!same_leaf(ours, theirs)) changes[name] = YAML::Clone(theirs);
      continue;
    }
    const auto below = difference(ours, theirs);
    if (!below) return std::nullopt;
    if (below->size() > 0) changes[name] = *below;
  }
  return changes;
}

std::size_t text_size(const std::string& name, const YAML::Node& n, std::size_t depth) {
  constexpr std::size_t marks = 4;  // colon, blank, line end, quotes
  std::size_t size = 2 * depth + name.size() + marks;
  if (n.IsMap()) {
    for (const auto& member : n) size += text_size(member.first.Scalar(), member.second, depth + 1);
  } else if (n.IsSequence()) {
    for (const auto& one : n) size += one.Scalar().size() + 2;
  } else if (n.IsScalar()) {
    size += n.Scalar().size() + (n.Tag().size() > 1 ? n.Tag().size() + 1 : 0);
  }
  return size;
}

/// Builds the part of a folder for which there is room.
struct room {
  std::size_t bytes = 0;
  bool full = false;  // something was cut, so everything that comes later is cut, too

  YAML::Node fitting(const YAML::Node& folder, std::size_t depth) {
    YAML::Node kept(YAML::NodeType::Map);
    kept.SetStyle(folder.Style());
    std::size_t cut = 0;
    for (const auto& member : folder) {
      const auto name = member.first.Scalar();
      const bool whole = !member.second.IsMap() || member.second["as"];
      const auto size = whole ? text_size(name, member.second, depth) : text_size(name, {}, depth);
      full = full || size > bytes;
      if (full) {
        ++cut;
        continue;
      }
      bytes -= size;
      kept.force_insert(name, whole ? YAML::Clone(member.second) : fitting(member.second, depth + 1));
    }
    if (cut > 0) kept.force_insert(left_out, std::to_string(cut));
    return kept;
  }
};

}  // namespace

void share_alike(YAML::Node tree) {
  constexpr std::size_t most_elders = 16;
  if (!tree.IsMap()) return;
  std::vector<std::string> elders;
  for (const auto& member : tree) {
    const auto name = member.first.Scalar();
    if (!member.second.IsMap()) continue;
    bool shared = false;
    for (const auto& elder : elders) {
      const auto changes = difference(tree[elder], member.second);
      if (!changes || leaves_of(*changes) * 2 > leaves_of(member.second) || member.second.size() == 0)
        continue;
      YAML::Node less(YAML::NodeType::Map);
      less.SetStyle(YAML::EmitterStyle::Flow);
      less["as"] = elder;
      for (const auto& change : *changes) less[change.first.Scalar()] = change.second;
      tree[name] = less;
      shared = true;
      break;
    }
    if (!shared && elders.size() < most_elders) elders.push_back(name);
  }
  // Only now share what is inside the folders that stay. The loop above compares whole folders, so they must
  // be unchanged until then.
  for (const auto& member : tree) {
    if (member.second.IsMap() && !member.second["as"]) share_alike(member.second);
  }
}

YAML::Node cut_to(const YAML::Node& folder, std::size_t most) { return room{most}.fitting(folder, 1); }

}  // namespace binnacle::agent
