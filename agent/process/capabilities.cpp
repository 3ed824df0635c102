#include "agent/process/capabilities.hpp"

#include "common/system/os_error.hpp"

#include <array>
#include <cerrno>
#include <linux/capability.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace binnacle::agent {
namespace {

struct sets {
  capability_set effective = 0, permitted = 0, inheritable = 0;
};

// glibc has no wrapper for capget(2) and capset(2). For these three functions alone a dependency on libcap is
// not worth it.
bool get(sets& out) noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> halves{};
  if (::syscall(SYS_capget, &header, halves.data()) != 0) return false;
  const auto whole = [](std::uint32_t low, std::uint32_t high) {
    return capability_set{high} << 32 | capability_set{low};
  };
  out = {whole(halves[0].effective, halves[1].effective), whole(halves[0].permitted, halves[1].permitted),
         whole(halves[0].inheritable, halves[1].inheritable)};
  return true;
}

result<void> set(const sets& wanted) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> halves{};
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto half = [i](capability_set s) { return static_cast<std::uint32_t>(s >> (32 * i)); };
    halves[i] = {half(wanted.effective), half(wanted.permitted), half(wanted.inheritable)};
  }
  if (::syscall(SYS_capset, &header, halves.data()) == 0) return {};
  return error{errc::permission, "capabilities cannot be changed: " + describe(errno)};
}

struct named {
  int number;
  std::string_view name;
};
// The capabilities that a source of ours may need, or that a message may name.
constexpr named known[] = {
    {CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"}, {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
    {CAP_NET_RAW, "CAP_NET_RAW"},           {CAP_NET_BIND_SERVICE, "CAP_NET_BIND_SERVICE"},
    {CAP_SYS_RAWIO, "CAP_SYS_RAWIO"},       {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},     {CAP_PERFMON, "CAP_PERFMON"},
};

}  // namespace

std::string names_of(capability_set set) {
  std::string out;
  for (int number = 0; number < 64; ++number) {
    if ((set & one_capability(number)) == 0) continue;
    if (!out.empty()) out += ", ";
    std::string name = "capability " + std::to_string(number);
    for (const auto& k : known) {
      if (k.number == number) name = k.name;
    }
    out += name;
  }
  return out.empty() ? "none" : out;
}

capability_set effective_capabilities() noexcept {
  sets now;
  return get(now) ? now.effective : 0;
}

capability_set permitted_capabilities() noexcept {
  sets now;
  return get(now) ? now.permitted : 0;
}

result<void> set_effective(capability_set set_to) {
  sets now;
  get(now);
  now.effective = set_to;
  return set(now);
}

result<void> keep_only(capability_set keep) {
  sets now;
  get(now);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // This needs CAP_SETPCAP. Without it the bounding set stays as it is; no_new_privs alone then keeps
  // children from gaining capabilities.
  for (int number = 0; number < 64; ++number) {
    if ((keep & one_capability(number)) == 0) ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
  }
  const auto kept = now.permitted & keep;
  if (auto done = set({kept, kept, 0}); !done) return done;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return error{errc::permission, "no_new_privs cannot be set, which Linux has since 3.5"};
  return {};
}

}  // namespace binnacle::agent
