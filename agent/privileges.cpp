#include "agent/privileges.hpp"

#include "agent/config.hpp"
#include "common/system/descriptor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <linux/capability.h>

namespace binnacle::agent {
namespace {

constexpr std::uint16_t first_free_port = 1024;

// The files that the settings name and the agent opens again and again while it runs.
std::vector<std::string> files_named(const settings& s) {
  std::vector<std::string> files;
  for (const auto* one : {&s.cert, &s.key, &s.ca, &s.token_file, &s.listen_cert, &s.listen_key, &s.listen_ca,
                          &s.listen_denied_serials}) {
    if (!one->empty()) files.push_back(*one);
  }
  return files;
}

bool refused(const std::string& path) { return !open_readonly(path) && errno == EACCES; }

}  // namespace

privileges needed_privileges(const settings& s, const source_kinds& kinds) {
  privileges found;
  const auto need = [&](int capability, const std::string& what) {
    found.needed |= one_capability(capability);
    found.reasons.push_back(fmt::format("{} for {}", names_of(one_capability(capability)), what));
  };

  constexpr auto file_capabilities = one_capability(CAP_DAC_OVERRIDE) | one_capability(CAP_DAC_READ_SEARCH);
  source_needs needs;
  needs.owned = effective_capabilities();
  needs.files = files_named(s);
  const bool without =
      (needs.owned & file_capabilities) != 0 && set_effective(needs.owned & ~file_capabilities);
  for (const auto& kind : kinds) {
    if (kind->wanted(s)) kind->add_needs(s, needs);
  }
  if (without) {
    for (const auto& file : needs.files) {
      if (!refused(file)) continue;
      need(CAP_DAC_READ_SEARCH, file);
      break;
    }
    set_effective(needs.owned);
  }
  for (const auto& one : needs.capabilities) need(one.number, one.what);
  if (const auto at = parse_listen(s.listen); at && at->port > 0 && at->port < first_free_port) {
    need(CAP_NET_BIND_SERVICE, "port " + std::to_string(at->port));
  }
  return found;
}

}  // namespace binnacle::agent
