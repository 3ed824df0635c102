#include "agent/ipmi/bmc_link.hpp"

#include "agent/ipmi/fiid.hpp"

#include <fmt/format.h>
#include <freeipmi/freeipmi.h>

#include <array>
#include <new>

namespace binnacle::ipmi {
namespace {

constexpr unsigned ms(duration d) { return static_cast<unsigned>(d / std::chrono::milliseconds(1)); }

// How often an unanswered packet is sent again within the time allowed.
constexpr unsigned tries = 5;

std::string hex(const std::uint8_t* bytes, std::size_t from, std::size_t to) {
  std::string text;
  for (auto i = from; i < to; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// The GUID's bytes in the order in which they come. BMCs do not agree on the order (IPMI 2.0, 20.8), and we
// only need it to stay the same.
std::string guid_text(const answer& a) {
  std::array<std::uint8_t, 16> bytes{};
  if (::fiid_obj_get_data(a.get(), "guid", bytes.data(), bytes.size()) != 16) return {};
  return hex(bytes.data(), 0, 4) + "-" + hex(bytes.data(), 4, 6) + "-" + hex(bytes.data(), 6, 8) + "-" +
         hex(bytes.data(), 8, 10) + "-" + hex(bytes.data(), 10, 16);
}

// What it means that an open failed. `where` names the BMC.
error why_not_open(int number, const link_options& o, const std::string& where) {
  switch (number) {
    case IPMI_ERR_USERNAME_INVALID:
    case IPMI_ERR_PASSWORD_INVALID:
    case IPMI_ERR_K_G_INVALID:
      return {
          errc::permission,
          fmt::format(
              "{} does not accept the user or password: it is not tried again before the credentials-file "
              "changes, because BMCs lock accounts",
              where)};
    case IPMI_ERR_PRIVILEGE_LEVEL_INSUFFICIENT:
    case IPMI_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED:
      return {
          errc::unsupported,
          fmt::format(
              "{} does not give this user the privilege level asked for: set privilege to user, or give the "
              "user a higher level",
              where)};
    case IPMI_ERR_AUTHENTICATION_TYPE_UNAVAILABLE:
    case IPMI_ERR_CIPHER_SUITE_ID_UNAVAILABLE:
      return {
          errc::unsupported,
          fmt::format(
              "{} does not offer {}: set cipher-suite to one that it has (3 or 17), or allow it on the BMC",
              where,
              o.lan_1_5 ? std::string("MD5 authentication")
                        : fmt::format("cipher suite {}", o.cipher_suite))};
    case IPMI_ERR_IPMI_2_0_UNAVAILABLE:
      return {errc::unsupported, fmt::format("{} does not speak IPMI 2.0: set protocol to 1.5", where)};
    case IPMI_ERR_PASSWORD_VERIFICATION_TIMEOUT:
      return {errc::overloaded, fmt::format("{} stopped answering when the password was sent: it may be "
                                            "wrong; tried again in ten minutes, because BMCs lock accounts",
                                            where)};
    case IPMI_ERR_CONNECTION_TIMEOUT:
    case IPMI_ERR_SESSION_TIMEOUT:
    case IPMI_ERR_MESSAGE_TIMEOUT:
    case IPMI_ERR_DRIVER_TIMEOUT:
      return {errc::timeout,
              fmt::format("{} does not answer: see that it is on and that UDP reaches it", where)};
    case IPMI_ERR_HOSTNAME_INVALID:
      return {errc::not_found, fmt::format("{}: no such host: mend host or the name service", where)};
    case IPMI_ERR_DEVICE_NOT_FOUND:
    case IPMI_ERR_DEVICE_NOT_SUPPORTED:
      return {errc::not_found,
              fmt::format(
                  "there is no IPMI device {}: load ipmi_si and ipmi_devintf, or mount the device into the "
                  "container",
                  where)};
    case IPMI_ERR_PERMISSION:
      return {errc::not_found,
              fmt::format("{} may not be opened: run binnacle-ipmi as the device's owner (root), and in "
                          "a container allow the device",
                          where)};
    default: return {errc::io, fmt::format("{}: {}: it is tried again", where, ::ipmi_ctx_strerror(number))};
  }
}

}  // namespace

bmc_link::bmc_link(std::string address) : address_(std::move(address)), context_(::ipmi_ctx_create()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

bmc_link::~bmc_link() {
  // Tells the BMC that the session is over, since a BMC has only few sessions. Harmless if none is open.
  ::ipmi_ctx_close(context_);
  ::ipmi_ctx_destroy(context_);
}

result<std::unique_ptr<bmc_link>> bmc_link::open(const link_options& o, const credentials& who) {
  const auto address = o.host.empty() ? o.device : o.host;
  std::unique_ptr<bmc_link> link(new bmc_link(address));
  if (o.host.empty()) {
    if (::ipmi_ctx_open_inband(link->context_, IPMI_DEVICE_OPENIPMI, 0, 0, 0, o.device.c_str(), 0,
                               IPMI_FLAGS_DEFAULT) == 0) {
      return link;
    }
    return why_not_open(::ipmi_ctx_errnum(link->context_), o, address);
  }

  const auto timeout = ms(o.call_timeout), again = timeout / tries;
  const auto privilege = static_cast<std::uint8_t>(o.privilege);
  if (o.lan_1_5) {
    if (::ipmi_ctx_open_outofband(link->context_, o.host.c_str(), who.user.c_str(), who.password.c_str(),
                                  IPMI_AUTHENTICATION_TYPE_MD5, privilege, timeout, again, o.workarounds,
                                  IPMI_FLAGS_DEFAULT) == 0) {
      return link;
    }
    return why_not_open(::ipmi_ctx_errnum(link->context_), o, address);
  }
  // Some BMCs (OpenIPMI's simulator among them) read the privilege level of the open-session request in
  // another way than the specification says. They refuse before the password is sent, so a second try does
  // not count as a failed login.
  auto workarounds = o.workarounds;
  for (;;) {
    const auto* k_g = who.k_g.empty() ? nullptr : reinterpret_cast<const unsigned char*>(who.k_g.data());
    if (::ipmi_ctx_open_outofband_2_0(link->context_, o.host.c_str(), who.user.c_str(), who.password.c_str(),
                                      k_g, static_cast<unsigned>(who.k_g.size()), privilege,
                                      static_cast<std::uint8_t>(o.cipher_suite), timeout, again, workarounds,
                                      IPMI_FLAGS_DEFAULT) == 0) {
      return link;
    }
    const int number = ::ipmi_ctx_errnum(link->context_);
    constexpr unsigned other_reading = IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_OPEN_SESSION_PRIVILEGE;
    if (number != IPMI_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED || (workarounds & other_reading) != 0) {
      return why_not_open(number, o, address);
    }
    workarounds |= other_reading;
    link.reset(new bmc_link(address));
  }
}

result<bmc> bmc_link::identify(bool patient) {
  bmc b;
  b.address = address_;
  answer id(tmpl_cmd_get_device_id_rs);
  if (::ipmi_cmd_get_device_id(context_, id.get()) != 0) {
    return error{errc::timeout,
                 fmt::format("{} does not answer Get Device ID: {}", address_, last_message())};
  }
  b.manufacturer_id = static_cast<std::uint32_t>(id.field("manufacturer_id.id").value_or(0));
  b.product_id = static_cast<std::uint32_t>(id.field("product_id").value_or(0));
  // The minor number is binary coded decimal.
  b.firmware = fmt::format("{}.{:02x}", id.field("firmware_revision1.major_revision").value_or(0),
                           id.field("firmware_revision2.minor_revision").value_or(0));
  b.ipmi_version = fmt::format("{}.{}", id.field("ipmi_version_major").value_or(0),
                               id.field("ipmi_version_minor").value_or(0));
  std::array<char, 256> name{};
  if (::ipmi_iana_enterprise_numbers_string(b.manufacturer_id, name.data(), name.size() - 1) > 0)
    b.manufacturer = name.data();

  // Many BMCs have only one GUID, and answer only one of these two commands with it.
  answer device(tmpl_cmd_get_device_guid_rs), system(tmpl_cmd_get_system_guid_rs);
  if (::ipmi_cmd_get_device_guid(context_, device.get()) == 0) {
    b.guid = guid_text(device);
  } else if (last_trouble() != trouble::lost && ::ipmi_cmd_get_system_guid(context_, system.get()) == 0) {
    b.guid = guid_text(system);
  } else if (const auto known = answered(patient); !known) {
    return known.error();
  }

  answer dcmi(tmpl_cmd_dcmi_get_dcmi_capability_info_supported_dcmi_capabilities_rs);
  b.dcmi = ::ipmi_cmd_dcmi_get_dcmi_capability_info_supported_dcmi_capabilities(context_, dcmi.get()) == 0;
  measures_power_ =
      dcmi.field("optional_platform_capabilities.power_management_monitoring_support").value_or(0) != 0;
  if (!b.dcmi) {
    if (const auto known = answered(patient); !known) return known.error();
    // A BMC without DCMI does not know the command. One that refuses it may have DCMI, and be starting.
    if (patient && last_trouble() == trouble::refused) return busy();
    // If the user may not ask this, DCMI counts as there: each DCMI sensor is then absent with the reason
    // `permission`.
    b.dcmi = measures_power_ = last_trouble() == trouble::forbidden;
  }
  return b;
}

result<void> bmc_link::answered(bool patient) const {
  const auto why = last_trouble();
  if (why == trouble::lost) {
    return error{errc::timeout, fmt::format("{} stopped answering: {}", address_, last_message())};
  }
  if (patient && (why == trouble::busy || why == trouble::timed_out)) return busy();
  return {};
}

error bmc_link::busy() const {
  return {errc::io,
          fmt::format("{} is busy or starting and does not list its sensors yet: the helper asks again",
                      address_)};
}

bool bmc_link::answers() const {
  answer id(tmpl_cmd_get_device_id_rs);
  return ::ipmi_cmd_get_device_id(context_, id.get()) == 0;
}

trouble bmc_link::last_trouble() const {
  switch (::ipmi_ctx_errnum(context_)) {
    case IPMI_ERR_SUCCESS: return trouble::none;
    case IPMI_ERR_PRIVILEGE_LEVEL_INSUFFICIENT: return trouble::forbidden;
    case IPMI_ERR_BMC_BUSY:
    case IPMI_ERR_DRIVER_BUSY: return trouble::busy;
    // Completion code C3. The session or device is sound (freeipmi/api/ipmi-api.h).
    case IPMI_ERR_MESSAGE_TIMEOUT: return trouble::timed_out;
    // Every completion code without an error of its own: D5 (not in the present state), CE, FF…
    case IPMI_ERR_BAD_COMPLETION_CODE: return trouble::refused;
    case IPMI_ERR_COMMAND_INVALID_FOR_SELECTED_INTERFACE:
    case IPMI_ERR_COMMAND_INVALID_OR_UNSUPPORTED:
    case IPMI_ERR_NOT_FOUND: return trouble::unknown;
    case IPMI_ERR_IPMI_ERROR: return trouble::malformed;
    default: return trouble::lost;
  }
}

std::string bmc_link::last_message() const { return ::ipmi_ctx_errormsg(context_); }

}  // namespace binnacle::ipmi
