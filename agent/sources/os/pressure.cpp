#include "agent/kernel/counter_rate.hpp"
#include "agent/sources/os/part.hpp"
#include "agent/sources/os/proc_text.hpp"

namespace binnacle::agent {
namespace {

/// Pressure stall information of one resource. The ratios are computed here from the totals. So they cover
/// the time since the last read; the kernel's running averages are not used.
class pressure_part final : public text_part {
 public:
  pressure_part(const os_options& options, std::string resource)
      : text_part(options.proc + "/pressure/" + resource),
        now_(options.time.now),
        resource_(std::move(resource)) {}

  std::string what() const override { return "pressure on " + resource_ + " (" + text_part::what() + ")"; }
  std::string remedy() const override {
    return "needs CONFIG_PSI (Linux 4.20), and psi=1 on the kernel's command line where it is off by default";
  }

 protected:
  void announce_all(board& out, board::group_ref group) override {
    const metrics::label_set labels{{"resource", resource_}};
    some_.total = announce(out, group, "os_pressure_waiting_seconds_total", labels);
    some_.ratio = announce(out, group, "os_pressure_waiting_ratio", labels);
    // For a whole machine "full" has no meaning for the resource cpu; the kernel gives 0.
    if (resource_ == "cpu") return;
    full_.total = announce(out, group, "os_pressure_stalled_seconds_total", labels);
    full_.ratio = announce(out, group, "os_pressure_stalled_ratio", labels);
  }

  bool take(std::string_view text, board& out) override {
    const auto now = now_();
    const auto p = proc::parse_pressure(text);
    if (!p) {
      some_.rate.restart();
      full_.rate.restart();
      return false;
    }
    some_.take(p->some_us, now, out);
    full_.take(p->full_us, now, out);
    return true;
  }

 private:
  struct stall {
    board::series_ref total = board::no_series;
    board::series_ref ratio = board::no_series;
    counter_rate rate;

    void take(std::optional<std::uint64_t> us, instant now, board& out) {
      if (!us) {
        rate.restart();
        out.set_absent(total, absence::missing);
        out.set_absent(ratio, absence::missing);
        return;
      }
      out.set(total, static_cast<std::int64_t>(*us / 1000));  // in ms, the family's resolution
      rate.update(*us, now);
      if (rate.reason() == absence::none) {
        out.set(ratio, rate.per_second() / 1e6);
      } else {
        out.set_absent(ratio, rate.reason());
      }
    }
  };

  std::function<instant()> now_;
  std::string resource_;
  stall some_;
  stall full_;
};

}  // namespace

std::unique_ptr<os_part> make_pressure_part(const os_options& options, std::string resource) {
  return std::make_unique<pressure_part>(options, std::move(resource));
}

}  // namespace binnacle::agent
