#include "agent/kernel/absence_of.hpp"
#include "agent/kernel/counter_rate.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/part.hpp"
#include "agent/sources/os/proc_text.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <unistd.h>
#include <utility>

namespace binnacle::agent {
namespace {

struct column {
  const char* family;  // without _total and _per_second
  std::uint64_t proc::interface::*value;
};
constexpr std::array<column, 8> columns{{
    {"os_network_receive_bytes", &proc::interface::receive_bytes},
    {"os_network_receive_packets", &proc::interface::receive_packets},
    {"os_network_receive_errors", &proc::interface::receive_errors},
    {"os_network_receive_dropped", &proc::interface::receive_dropped},
    {"os_network_transmit_bytes", &proc::interface::transmit_bytes},
    {"os_network_transmit_packets", &proc::interface::transmit_packets},
    {"os_network_transmit_errors", &proc::interface::transmit_errors},
    {"os_network_transmit_dropped", &proc::interface::transmit_dropped},
}};

constexpr std::size_t most_interfaces = 256;  // announced; a Kubernetes node may have thousands of veths

/// The folder with the file "dev" of the machine's interfaces. In a host's /proc that is mounted elsewhere,
/// "net" shows our own network namespace and "1/net" shows the host's. If "1/net" may not be read there are
/// no values, because our own interfaces are not the node's.
std::string net_folder(const os_options& options) {
  if (!options.net.empty()) return options.net;
  return options.proc + (options.proc == "/proc" ? "/net" : "/1/net");
}

/// The interfaces in /proc/net/dev. They come and go all the time (pods, virtual functions handed to pods).
/// So an interface that is gone is forgotten at once, and the node's sums go on.
class network_part final : public os_part {
 public:
  explicit network_part(const os_options& options)
      : sys_(options.sys),
        file_(net_folder(options) + "/dev"),
        now_(options.time.now),
        with_virtual_(options.virtual_interfaces) {}

  std::string what() const override { return "network (" + file_.path() + ")"; }
  std::string remedy() const override {
    return "check proc-net or proc-root, and that this user may look at process 1 there (hidepid, SELinux); "
           "in a container the host's interfaces need hostNetwork, or the host's /proc/1/net at proc-net";
  }

  result<void> discover(board&, board::group_ref group) override {
    group_ = group;
    if (const auto text = file_.read(buffer_); !text) return text.error();
    return {};
  }

  result<void> read(board& out) override {
    const auto text = file_.read(buffer_);
    const auto now = now_();
    if (!text || !proc::parse_net_dev(*text, lines_)) {
      const auto reason = text ? absence::malformed : absence_of(file_.last_errno());
      for (auto& [name, d] : devices_) {
        for (const auto s : d.totals) out.set_absent(s, reason);
        for (const auto s : d.rates) out.set_absent(s, reason);
        for (auto& r : d.rate) r.restart();
      }
      return text ? error{errc::invalid_input, file_.path() + ": not the text that the kernel writes there"}
                  : text.error();
    }
    ++round_;
    left_out_ = illegible_ = 0;
    for (const auto& line : lines_) take(line, now, out);
    for (auto it = devices_.begin(); it != devices_.end();) {
      it = it->second.seen == round_ ? std::next(it) : forget(it, out);
    }
    return {};
  }

  void add_limitations(problem_summary& to) const override {
    if (left_out_ > 0) {
      to.add(fmt::format("{} network interfaces more than the {} that are read{}", left_out_, most_interfaces,
                         with_virtual_ ? ": leave virtual-interfaces off" : ""));
    }
    if (illegible_ > 0) {
      to.add(
          fmt::format("{} left out, because the name is not UTF-8: rename it (ip link set NAME name OTHER)",
                      illegible_ == 1 ? "a network interface is"
                                      : fmt::format("each of {} network interfaces is", illegible_)));
    }
  }

 private:
  struct device {
    bool physical = false, wanted = false;
    bool legible = true;  // its name is UTF-8: otherwise several interfaces might be one on the board
    bool announced = false;
    std::uint64_t seen = 0;
    std::array<board::series_ref, 8> totals;
    std::array<board::series_ref, 8> rates;
    std::array<counter_rate, 8> rate;

    device() {
      totals.fill(board::no_series);
      rates.fill(board::no_series);
    }
  };
  using devices = std::map<std::string, device, std::less<>>;

  void take(const proc::interface& line, instant now, board& out) {
    auto it = devices_.find(line.name);
    if (it == devices_.end()) it = meet(std::string(line.name));
    auto& d = it->second;
    d.seen = round_;
    if (d.wanted && !d.legible) ++illegible_;
    if (d.wanted && d.legible && !d.announced) announce(line.name, d, out);
    if (!d.announced) return;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto value = line.*columns[i].value;
      out.set(d.totals[i], static_cast<std::int64_t>(value));
      d.rate[i].update(value, now);
      if (d.rate[i].reason() == absence::none) {
        out.set(d.rates[i], d.rate[i].per_second());
      } else {
        out.set_absent(d.rates[i], d.rate[i].reason());
      }
    }
  }

  devices::iterator meet(std::string name) {
    device d;
    d.physical = ::access((sys_ + "/class/net/" + name + "/device").c_str(), F_OK) == 0;
    d.wanted = d.physical || (with_virtual_ && name != "lo");
    d.legible = find_invalid_utf8(name) == name.npos;
    return devices_.emplace(std::move(name), std::move(d)).first;
  }

  // Announces the series of an interface. Also called later, when an interface that is gone leaves room.
  void announce(std::string_view name, device& d, board& out) {
    if (announced_ >= most_interfaces) {
      ++left_out_;
      return;
    }
    ++announced_;
    d.announced = true;
    const metrics::label_set labels{{"device", std::string(name)},
                                    {"kind", d.physical ? "physical" : "virtual"}};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      d.totals[i] = out.add_series(group_, std::string(columns[i].family) + "_total", labels);
      d.rates[i] = out.add_series(group_, std::string(columns[i].family) + "_per_second", labels);
    }
  }

  devices::iterator forget(devices::iterator it, board& out) {
    if (it->second.announced) --announced_;
    for (const auto s : it->second.totals) out.remove_series(s);
    for (const auto s : it->second.rates) out.remove_series(s);
    return devices_.erase(it);
  }

  std::string sys_;
  kernel_file file_;
  std::function<instant()> now_;
  bool with_virtual_;
  board::group_ref group_ = board::no_group;
  devices devices_;
  std::size_t announced_ = 0, left_out_ = 0, illegible_ = 0;
  std::uint64_t round_ = 0;
  std::vector<char> buffer_;
  std::vector<proc::interface> lines_;
};

}  // namespace

std::unique_ptr<os_part> make_network_part(const os_options& options) {
  return std::make_unique<network_part>(options);
}

}  // namespace binnacle::agent
