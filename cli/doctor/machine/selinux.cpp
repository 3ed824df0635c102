#include "cli/doctor/checks.hpp"
#include "cli/views/units.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace binnacle::cli::doctor {
namespace {

constexpr const char* audit_log = "/var/log/audit/audit.log";
// How many bytes at the end of the log are read. On a quiet machine they reach back days.
constexpr std::size_t looked_at = 4u << 20;

/// The value after `key` in a line of the audit log, without quotes.
std::string_view field(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == line.npos) return {};
  std::string_view rest = line.substr(at + key.size());
  const char end = rest.starts_with('"') ? '"' : ' ';
  if (end == '"') rest.remove_prefix(1);
  return rest.substr(0, rest.find(end));
}

struct denials {
  std::int64_t enforced = 0, tolerated = 0;
  std::string last;
};

/// Finds our denials in lines such as: type=AVC msg=audit(…): avc:  denied  { read } for pid=1
/// comm="binnacle-agent" name="energy_uj" … scontext=… tclass=file permissive=0. Source: the kernel's
/// security/selinux/avc.c.
denials denials_of(std::string_view log) {
  denials out;
  while (!log.empty()) {
    const auto end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(end == log.npos ? log.size() : end + 1);
    // The kernel cuts a comm to 15 characters: "binnacle-aggreg".
    const bool ours = field(line, "comm=").starts_with("binnacle") ||
                      field(line, "scontext=").find("binnacle_") != line.npos;
    if (line.find("avc:  denied") == line.npos || !ours) continue;
    ++(field(line, "permissive=") == "1" ? out.tolerated : out.enforced);
    const auto open = line.find('{'), close = line.find('}');
    const std::string_view what =
        open < close && close != line.npos ? line.substr(open + 2, close - open - 3) : "?";
    const std::string_view name = field(line, "name=").empty() ? field(line, "path=") : field(line, "name=");
    out.last =
        fmt::format("{} may not {} the {} {}", field(line, "comm="), what, field(line, "tclass="), name);
  }
  return out;
}

}  // namespace

findings check_selinux(const place& p) {
  const auto enforcing = first_line(p.path("/sys/fs/selinux/enforce"));
  if (!enforcing) return {ok("SELinux is not active here")};
  findings out{ok(fmt::format("SELinux is active, {}", *enforcing == "1" ? "enforcing" : "permissive"))};
  const auto log = last_bytes(p.path(audit_log), looked_at);
  if (!log) {
    out.push_back(
        unchecked(fmt::format("denials are not known: {} cannot be read: {}", audit_log, log.error().message),
                  "on the node, as root: ausearch -m avc -ts recent | grep binnacle"));
    return out;
  }
  const denials found = denials_of(*log);
  constexpr std::string_view remedy =
      "load the module of selinux/ (selinux/README.md), or see what it lacks: ausearch -m avc -ts recent | "
      "audit2allow";
  if (found.enforced > 0) {
    out.push_back(failure(fmt::format("SELinux denied something to our programs {}; the last denial: {}",
                                      counted(found.enforced, "time"), found.last),
                          std::string(remedy)));
  } else if (found.tolerated > 0) {
    out.push_back(warning(
        fmt::format("SELinux is permissive; it would have denied something to our programs {}; the last: {}",
                    counted(found.tolerated, "time"), found.last),
        std::string(remedy)));
  } else {
    out.push_back(ok(fmt::format("no denial of our programs in the last part of {}", audit_log)));
  }
  return out;
}

}  // namespace binnacle::cli::doctor
