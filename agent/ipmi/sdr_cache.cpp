#include "agent/ipmi/sdr_cache.hpp"

#include "agent/ipmi/fiid.hpp"
#include "agent/ipmi/sdr_record.hpp"
#include "common/system/read_file.hpp"

#include <fmt/format.h>
#include <freeipmi/freeipmi.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <new>
#include <sys/stat.h>

namespace binnacle::ipmi {
namespace {

std::string file_name(const std::string& address) {
  std::string name = "sdr-";
  for (const char c : address) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    name += plain ? c : '_';
  }
  return name.substr(0, 200);
}

// The BMC's identity. Records in the cache are used only for the BMC with the same identity. It contains the
// firmware version, since an update brings new records.
std::string identity_of(const bmc& b) {
  return fmt::format("manufacturer {} product {} firmware {} guid {}\n", b.manufacturer_id, b.product_id,
                     b.firmware, b.guid);
}

// The state of the BMC's sensor repository, with which a cache is compared. FreeIPMI's own check asks only
// whether a timestamp is newer, which fails for BMCs whose clock starts again with every boot.
result<std::string> state_of(const bmc_link& link) {
  answer info(tmpl_cmd_get_sdr_repository_info_rs);
  if (::ipmi_cmd_get_sdr_repository_info(link.context(), info.get()) != 0) {
    const bool lost = link.last_trouble() == trouble::lost;
    return error{lost ? errc::timeout : errc::io,
                 fmt::format("the BMC does not say what sensors it describes: {}", link.last_message())};
  }
  return fmt::format("records {} added {} erased {}\n", info.field("record_count").value_or(0),
                     info.field("most_recent_addition_timestamp").value_or(0),
                     info.field("most_recent_erase_timestamp").value_or(0));
}

}  // namespace

sdr_cache::sdr_cache(std::string folder, const std::string& address)
    : folder_(std::move(folder)), file_(folder_ + "/" + file_name(address)), identity_file_(file_ + ".bmc") {}

error sdr_cache::failed(const bmc_link& link, const context& c, const char* what) const {
  const int number = ::ipmi_sdr_ctx_errnum(c.get());
  if (number == IPMI_SDR_ERR_IPMI_ERROR && link.last_trouble() == trouble::lost) {
    return {errc::timeout, fmt::format("the BMC stopped answering while {}: {}", what, link.last_message())};
  }
  if (number == IPMI_SDR_ERR_PERMISSION || number == IPMI_SDR_ERR_SYSTEM_ERROR ||
      number == IPMI_SDR_ERR_FILESYSTEM) {
    return {errc::io, fmt::format("{}: {} while {}: set cache-folder to one this program may write", file_,
                                  ::ipmi_sdr_ctx_errormsg(c.get()), what)};
  }
  return {errc::io, fmt::format("{}: {} while {}", file_, ::ipmi_sdr_ctx_errormsg(c.get()), what)};
}

// Opens the file. Nothing if it is not there or is damaged.
result<sdr_cache::context> sdr_cache::open(const bmc_link& link) const {
  context c(::ipmi_sdr_ctx_create());
  if (!c) throw std::bad_alloc();
  if (::ipmi_sdr_cache_open(c.get(), nullptr, file_.c_str()) == 0) return c;
  switch (::ipmi_sdr_ctx_errnum(c.get())) {
    case IPMI_SDR_ERR_CACHE_READ_CACHE_DOES_NOT_EXIST:
    case IPMI_SDR_ERR_CACHE_INVALID: return context();
    default: return failed(link, c, "the sensors' descriptions were opened");
  }
}

result<void> sdr_cache::rebuild(const bmc_link& link, const std::string& written, const progress& tick) {
  std::error_code bad;
  if (!std::filesystem::is_directory(folder_, bad)) {
    std::filesystem::create_directories(folder_, bad);
    if (!bad) ::chmod(folder_.c_str(), 0700);
  }
  if (bad) {
    return error{errc::io, fmt::format("cache-folder {} cannot be made ({}): set one this program may write",
                                       folder_, bad.message())};
  }
  // The file with the identity is removed before the records change and written after them. If the helper is
  // started in between, it finds records that belong to no BMC, and reads them again.
  std::filesystem::remove(identity_file_, bad);
  // FreeIPMI opens the file for writing wherever a link there leads. So it finds no file.
  std::filesystem::remove(file_, bad);
  if (bad) {
    return error{errc::io, fmt::format("{} cannot be removed ({}): set cache-folder to one this program may "
                                       "write",
                                       file_, bad.message())};
  }
  context c(::ipmi_sdr_ctx_create());
  if (!c) throw std::bad_alloc();
  struct told {
    const progress* tick;
    unsigned at = 0;
  } state{&tick};
  const auto each = [](std::uint8_t, std::uint16_t count, std::uint32_t, std::uint32_t, std::uint16_t,
                       void* data) {
    auto& t = *static_cast<told*>(data);
    if (*t.tick) (*t.tick)(++t.at, count);
  };
  constexpr int how = IPMI_SDR_CACHE_CREATE_FLAGS_OVERWRITE | IPMI_SDR_CACHE_CREATE_FLAGS_DUPLICATE_RECORD_ID;
  if (::ipmi_sdr_cache_create(c.get(), link.context(), file_.c_str(), how, each, &state) != 0) {
    return failed(link, c, "the sensors' descriptions were read");
  }
  ++rebuilds_;
  std::ofstream(identity_file_, std::ios::trunc) << written;
  return {};
}

result<std::vector<known_sensor>> sdr_cache::sensors(const bmc_link& link, const bmc& who,
                                                     const progress& tick) {
  auto state = state_of(link);
  if (!state) return state.error();
  state_ = *std::move(state);
  // Taken before the records are read. If the repository changes meanwhile, the next look finds the
  // difference.
  const auto written = identity_of(who) + state_;
  context c;
  if (const auto before = read_file(identity_file_, 4096); before && *before == written) {
    auto opened = open(link);
    if (!opened) return opened.error();
    c = *std::move(opened);
  }
  if (!c) {
    if (auto rebuilt = rebuild(link, written, tick); !rebuilt) return rebuilt.error();
    auto opened = open(link);
    if (!opened) return opened.error();
    c = *std::move(opened);
    if (!c) return error{errc::io, file_ + " cannot be read back: see that the disk is not full"};
  }

  std::vector<known_sensor> all;
  records_ = 0;
  do {
    std::array<std::uint8_t, IPMI_SDR_MAX_RECORD_LENGTH> record{};
    const int length = ::ipmi_sdr_cache_record_read(c.get(), record.data(), record.size());
    if (length > 0) {
      ++records_;
      for (auto& s : sensors_of(c.get(), std::span(record).first(static_cast<std::size_t>(length)))) {
        if (all.size() < max_sensors) all.push_back(std::move(s));
      }
    }
  } while (::ipmi_sdr_cache_next(c.get()) == 1);
  return all;
}

result<bool> sdr_cache::current(const bmc_link& link) const {
  const auto state = state_of(link);
  if (!state) return state.error();
  return *state == state_;
}

}  // namespace binnacle::ipmi
