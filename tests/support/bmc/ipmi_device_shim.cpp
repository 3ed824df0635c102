// Preloaded (LD_PRELOAD) into a program, this replaces the kernel's OpenIPMI driver. What the program sends
// to /dev/ipmi0, or to a file of that name anywhere, goes to the system interface of a simulated BMC
// (ipmi_sim, `serial 15 … codec VM`). So the whole in-band path runs without a kernel driver.
// BINNACLE_IPMI_SHIM names a file of lines, read again for each command:
//   port 9003            TCP, on 127.0.0.1
//   delay_ms 20          each answer comes this much later
//   fail 45 192          commands of this number get this completion code instead (0xc0 node busy)
//   fail_netfn 4         only those of this network function (default: any)
//   fail_first 2         only those whose first byte of data is this: the number of a sensor (default: any)
//   fail_all 195         every command gets this completion code: what the kernel's driver says of a dead BMC
//   log /tmp/commands    a line "netfn command" for each command sent
// Sources: include/uapi/linux/ipmi.h of Linux; the VM protocol as QEMU's hw/ipmi/ipmi_bmc_extern.c documents
// it.
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <linux/ipmi.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr unsigned char end_of_message = 0xa0, end_of_command = 0xa1, escape = 0xaa;

// Any file of this name counts as the device. So a program that only looks for the device, without the shim,
// can be given an ordinary file to find.
bool is_device(const char* path) {
  const char* name = std::strrchr(path, '/');
  return name != nullptr && std::strcmp(name, "/ipmi0") == 0;
}

struct control {
  int port = 0;
  int delay_ms = 0;
  int fail_command = -1, fail_code = 0, fail_netfn = -1, fail_first = -1, fail_all = -1;
  std::string log;
};

control read_control() {
  control c;
  const char* path = std::getenv("BINNACLE_IPMI_SHIM");
  std::ifstream in(path == nullptr ? "" : path);
  for (std::string word; in >> word;) {
    if (word == "port") in >> c.port;
    if (word == "delay_ms") in >> c.delay_ms;
    if (word == "fail") in >> c.fail_command >> c.fail_code;
    if (word == "fail_netfn") in >> c.fail_netfn;
    if (word == "fail_first") in >> c.fail_first;
    if (word == "fail_all") in >> c.fail_all;
    if (word == "log") in >> c.log;
  }
  return c;
}

// The completion code for the answer to this command; -1: that of the simulated BMC.
int code_instead(const control& c, const ipmi_msg& m) {
  if (c.fail_all >= 0) return c.fail_all;
  const bool meant = m.cmd == c.fail_command && (c.fail_netfn < 0 || m.netfn == c.fail_netfn) &&
                     (c.fail_first < 0 || (m.data_len > 0 && m.data[0] == c.fail_first));
  return meant ? c.fail_code : -1;
}

int bmc = -1;  // the descriptor that the program takes for the device
std::array<long, 256> ids{};
unsigned char sequence = 0;
int failing = -1;  // completion code for the next answer

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

int connect_bmc() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(read_control().port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) {
    ::close(fd);
    errno = ENODEV;
    return -1;
  }
  // The version of the VM protocol, which a virtual machine sends first.
  const std::array<unsigned char, 3> version{0xff, 1, end_of_command};
  (void)!::write(fd, version.data(), version.size());
  return bmc = fd;
}

void put(std::vector<unsigned char>& out, unsigned char c) {
  if (c == end_of_message || c == end_of_command || c == escape) {
    out.push_back(escape);
    c |= 0x10;
  }
  out.push_back(c);
}

// One whole message of the simulator; empty if the connection has ended.
std::vector<unsigned char> receive() {
  std::vector<unsigned char> message;
  bool escaped = false;
  for (unsigned char c = 0;;) {
    if (::recv(bmc, &c, 1, 0) <= 0) return {};
    if (!escaped && c == escape) {
      escaped = true;
    } else if (!escaped && c == end_of_command) {
      message.clear();  // a hardware event of the virtual machine: not an answer
    } else if (!escaped && c == end_of_message) {
      return message;
    } else {
      message.push_back(escaped ? static_cast<unsigned char>(c & ~0x10u) : c);
      escaped = false;
    }
  }
}

int send_command(const ipmi_req& request) {
  const auto c = read_control();
  const int netfn = request.msg.netfn, command = request.msg.cmd;
  if (!c.log.empty()) {
    if (std::FILE* log = std::fopen(c.log.c_str(), "a")) {
      std::fprintf(log, "0x%02x 0x%02x\n", static_cast<unsigned>(netfn), static_cast<unsigned>(command));
      std::fclose(log);
    }
  }
  failing = code_instead(c, request.msg);
  if (c.delay_ms > 0) ::usleep(static_cast<useconds_t>(c.delay_ms) * 1000);
  const auto* to = reinterpret_cast<const ipmi_system_interface_addr*>(request.addr);
  std::vector<unsigned char> raw(3 + request.msg.data_len);
  raw[0] = ++sequence;
  raw[1] = static_cast<unsigned char>((netfn << 2) | (to->lun & 3));
  raw[2] = static_cast<unsigned char>(command);
  if (request.msg.data_len > 0) std::memcpy(&raw[3], request.msg.data, request.msg.data_len);
  ids[sequence] = request.msgid;
  unsigned char sum = 0;
  for (const auto b : raw) sum = static_cast<unsigned char>(sum + b);
  raw.push_back(static_cast<unsigned char>(-sum));
  std::vector<unsigned char> out;
  for (const auto b : raw) put(out, b);
  out.push_back(end_of_message);
  return ::write(bmc, out.data(), out.size()) == static_cast<ssize_t>(out.size()) ? 0 : -1;
}

int take_answer(ipmi_recv& into) {
  auto message = receive();
  if (message.size() < 5) {
    errno = EIO;
    return -1;
  }
  auto* from = reinterpret_cast<ipmi_system_interface_addr*>(into.addr);
  *from = {IPMI_SYSTEM_INTERFACE_ADDR_TYPE, IPMI_BMC_CHANNEL, 0};
  into.recv_type = IPMI_RESPONSE_RECV_TYPE;
  into.msgid = ids[message[0]];
  into.addr_len = sizeof *from;
  into.msg.netfn = static_cast<unsigned char>(message[1] >> 2);
  into.msg.cmd = message[2];
  message.pop_back();  // the checksum
  message.erase(message.begin(), message.begin() + 3);
  if (failing >= 0) message.assign(1, static_cast<unsigned char>(failing));
  int result = 0;
  if (message.size() > into.msg.data_len) {
    message.resize(into.msg.data_len);
    errno = EMSGSIZE;
    result = -1;
  }
  std::memcpy(into.msg.data, message.data(), message.size());
  into.msg.data_len = static_cast<unsigned short>(message.size());
  return result;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  if (is_device(path)) return connect_bmc();
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return next<int(const char*, int, ...)>("open")(path, flags, mode);
}
__attribute__((visibility("default"))) int open64(const char* path, int flags, ...) {
  if (is_device(path)) return connect_bmc();
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return next<int(const char*, int, ...)>("open64")(path, flags, mode);
}
__attribute__((visibility("default"))) int access(const char* path, int mode) noexcept {
  return is_device(path) ? 0 : next<int(const char*, int)>("access")(path, mode);
}
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  if (fd < 0 || fd != bmc) return next<int(int, unsigned long, ...)>("ioctl")(fd, request, argument);
  if (request == IPMICTL_SEND_COMMAND) return send_command(*static_cast<const ipmi_req*>(argument));
  if (request == IPMICTL_RECEIVE_MSG || request == IPMICTL_RECEIVE_MSG_TRUNC) {
    return take_answer(*static_cast<ipmi_recv*>(argument));
  }
  return 0;
}
}
