#include "agent/sources/rapl/powercap_files.hpp"

#include "agent/kernel/absence_of.hpp"
#include "common/system/descriptor.hpp"
#include "common/text/text.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace binnacle::agent {
namespace {

constexpr powercap_zone no_zone{-1, -1, -1, -1, -1, -1};
constexpr powercap_constraint no_constraint{-1, -1, -1, -1, -1, -1, -1};

powercap_number failed(int error_number) { return {0, absence_of(error_number), error_number}; }

bool is_number(int fd) {
  std::array<char, 64> text;
  const auto n = ::pread(fd, text.data(), text.size(), 0);
  return n > 0 && parse_unsigned(std::string_view(text.data(), static_cast<std::size_t>(n))).has_value();
}

// `got` is what a getter returned: 0 or −errno.
powercap_number checked(int got, std::uint64_t value, bool doubtful, int fd) {
  if (got < 0) return failed(-got);
  if (doubtful && !is_number(fd)) return {0, absence::malformed, EINVAL};
  return {value, absence::none, 0};
}

void shut(int fd) {
  if (fd >= 0) ::close(fd);
}

}  // namespace

zone_files::zone_files(const std::string& folder) : fds_(no_zone) {
  const auto where = open_readonly(folder);
  if (!where) {
    energy_errno_ = errno;
    return;
  }
  fds_.energy_uj = open_readonly_at(where.get(), "energy_uj").release();
  if (fds_.energy_uj < 0) energy_errno_ = errno;
  fds_.max_energy_range_uj = open_readonly_at(where.get(), "max_energy_range_uj").release();
}

zone_files::~zone_files() {
  shut(fds_.energy_uj);
  shut(fds_.max_energy_range_uj);
}

zone_files::zone_files(zone_files&& other) noexcept
    : fds_(std::exchange(other.fds_, no_zone)), energy_errno_(other.energy_errno_) {}

zone_files& zone_files::operator=(zone_files&& other) noexcept {
  std::swap(fds_, other.fds_);
  energy_errno_ = other.energy_errno_;
  return *this;
}

powercap_number zone_files::energy_uj(std::uint64_t last, std::uint64_t range) const {
  if (fds_.energy_uj < 0) return failed(energy_errno_);
  std::uint64_t value = 0;
  const int got = powercap_zone_get_energy_uj(&fds_, &value);
  return checked(got, value, value == 0 || value < last || value > range, fds_.energy_uj);
}

powercap_number zone_files::max_energy_range_uj() const {
  std::uint64_t value = 0;
  const int got = powercap_zone_get_max_energy_range_uj(&fds_, &value);
  return checked(got, value, true, fds_.max_energy_range_uj);
}

constraint_files::constraint_files(const std::string& folder, unsigned index) : fds_(no_constraint) {
  const auto where = open_readonly(folder);
  if (!where) return;
  const auto prefix = "constraint_" + std::to_string(index);
  fds_.power_limit_uw = open_readonly_at(where.get(), (prefix + "_power_limit_uw").c_str()).release();
  fds_.max_power_uw = open_readonly_at(where.get(), (prefix + "_max_power_uw").c_str()).release();
}

constraint_files::~constraint_files() {
  shut(fds_.power_limit_uw);
  shut(fds_.max_power_uw);
}

constraint_files::constraint_files(constraint_files&& other) noexcept
    : fds_(std::exchange(other.fds_, no_constraint)) {}

constraint_files& constraint_files::operator=(constraint_files&& other) noexcept {
  std::swap(fds_, other.fds_);
  return *this;
}

powercap_number constraint_files::power_limit_uw() const {
  std::uint64_t value = 0;
  const int got = powercap_constraint_get_power_limit_uw(&fds_, &value);
  return checked(got, value, value == 0, fds_.power_limit_uw);
}

powercap_number constraint_files::max_power_uw() const {
  std::uint64_t value = 0;
  const int got = powercap_constraint_get_max_power_uw(&fds_, &value);
  return checked(got, value, true, fds_.max_power_uw);
}

}  // namespace binnacle::agent
