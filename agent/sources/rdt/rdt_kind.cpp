#include "agent/sources/rdt/rdt_kind.hpp"

namespace binnacle::agent {

void rdt_kind::bind(config_spec& spec) {
  spec.group("rdt: cache and memory bandwidth of resctrl's groups");
  add_period(spec, name(), period_);
  spec.add("rdt-groups", most_groups_, 1, 1024, "number of resctrl groups that are read, at most");
}

rdt_options rdt_kind::options(const settings& s) const {
  rdt_options o;
  o.sys_root = s.sys_root;
  o.proc_root = s.proc_root;
  o.period = s.period_of(period_);
  o.most_groups = static_cast<std::size_t>(most_groups_);
  return o;
}

std::unique_ptr<source> rdt_kind::make(const settings& s, const source_parts& /*with*/) const {
  return std::make_unique<rdt_source>(options(s));
}

std::vector<finding> rdt_kind::why_not_made() const {
  return {{finding::grade::absent, "cache and memory bandwidth (RDT)", "it is not among the sources",
           "name it in sources, where resctrl is mounted"}};
}

}  // namespace binnacle::agent
