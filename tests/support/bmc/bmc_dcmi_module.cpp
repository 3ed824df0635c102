// A module for OpenIPMI's ipmi_sim (`loadlib`, ipmi_lan(5)). It adds the DCMI commands that a monitor uses,
// which ipmi_sim lacks. Option: the folder of values. In it dcmi_watts holds the power; dcmi_inlet and
// dcmi_cpu (optional) hold temperatures in °C. dcmi_statistics (optional) holds the least, mean and most
// watts and the milliseconds of that period; without it these are since the start. Without a number in
// dcmi_watts the power measurement is inactive. With 0 in dcmi_power_management (optional) the BMC says that
// it cannot measure power. Source: DCMI specification 1.5, 6.1.1 (capabilities), 6.6.1
// (power reading), 6.7.3 (temperature reading).
#include <OpenIPMI/lanserv.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>

// OpenIPMI's header is for C only.
extern "C" {
#include <OpenIPMI/mcserv.h>
}

namespace {

constexpr unsigned char group = 0xdc;
std::string folder;

std::optional<int> number_in(const std::string& file) {
  std::ifstream in(folder + "/" + file);
  int n = 0;
  if (in >> n) return n;
  return std::nullopt;
}

// An answer while it is made: the completion code and the group come first.
class answer {
 public:
  answer(unsigned char* data, unsigned int* length) : data_(data), length_(length) { add({0, group}); }
  void add(std::initializer_list<unsigned> bytes) {
    for (const auto b : bytes) data_[at_++] = static_cast<unsigned char>(b);
    *length_ = at_;
  }
  void add16(unsigned v) { add({v & 0xffu, v >> 8 & 0xffu}); }
  void add32(std::uint32_t v) {
    add16(v & 0xffffu);
    add16(v >> 16);
  }
  void refuse(unsigned char completion) {
    data_[0] = completion;
    *length_ = 1;
  }

 private:
  unsigned char* data_;
  unsigned int* length_;
  unsigned int at_ = 0;
};

void capabilities(unsigned char parameter, answer& to) {
  to.add({1, 5, 2});  // DCMI 1.5, parameter revision 2
  switch (parameter) {
    case 1:  // power management; in-band and LAN access
      to.add({0, number_in("dcmi_power_management") == 0 ? 0u : 1u, 7});
      return;
    case 2: to.add({0, 0, 0, 0, 1}); return;
    case 3: to.add({0x20, 0}); return;  // the power management device
    case 4: to.add({1, 0xff, 0xff}); return;
    case 5: to.add({1, 0x01}); return;  // one rolling average: a second
    default: to.refuse(0xcc);
  }
}

void power(answer& to) {
  static unsigned least = 0xffff, most = 0, count = 0;
  static std::uint64_t sum = 0;
  const auto now = number_in("dcmi_watts");
  const auto watts = static_cast<unsigned>(now.value_or(0));
  if (now) {
    least = std::min(least, watts);
    most = std::max(most, watts);
    sum += watts;
    ++count;
  }
  unsigned least_said = now ? least : 0, mean = count == 0 ? 0 : static_cast<unsigned>(sum / count);
  unsigned most_said = most;
  std::uint32_t window_ms = 1000;
  std::ifstream(folder + "/dcmi_statistics") >> least_said >> mean >> most_said >> window_ms;
  to.add16(watts);
  to.add16(least_said);
  to.add16(most_said);
  to.add16(mean);
  to.add32(static_cast<std::uint32_t>(std::time(nullptr)));
  to.add32(window_ms);
  to.add({now ? 0x40u : 0u});
}

void temperatures(unsigned char entity, answer& to) {
  const auto value = number_in(entity == 0x40 ? "dcmi_inlet" : entity == 0x41 ? "dcmi_cpu" : "none");
  if (!value) {
    to.add({0, 0});
    return;
  }
  const auto magnitude = static_cast<unsigned>(*value < 0 ? -*value : *value) & 0x7fu;
  to.add({1, 1, magnitude | (*value < 0 ? 0x80u : 0u), 1});
}

// A check of our own, since OpenIPMI's check is in a different header in each release.
bool has(unsigned bytes, const msg_t& request, answer& to) {
  constexpr unsigned char data_length_invalid = 0xc7;
  if (request.len >= bytes) return true;
  to.refuse(data_length_invalid);
  return false;
}

void handle(lmc_data_t* mc, msg_t* request, unsigned char* data, unsigned int* length, void*) {
  answer to(data, length);
  switch (request->cmd) {
    case 0x01:
      if (has(2, *request, to)) capabilities(request->data[1], to);
      return;
    case 0x02:
      if (has(4, *request, to)) power(to);
      return;
    case 0x10:
      if (has(5, *request, to)) temperatures(request->data[2], to);
      return;
    default: handle_invalid_cmd(mc, data, length);
  }
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int ipmi_sim_module_print_version(sys_data_t*, char*) {
  std::puts("binnacle DCMI 1");
  return 0;
}
__attribute__((visibility("default"))) int ipmi_sim_module_init(sys_data_t*, const char* options) {
  folder = options == nullptr ? "." : options;
  ipmi_emu_register_group_extension_handler(group, handle, nullptr);
  return 0;
}
}
