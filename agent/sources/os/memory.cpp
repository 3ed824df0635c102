#include "agent/kernel/absence_of.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/part.hpp"
#include "agent/sources/os/proc_text.hpp"
#include "common/system/os_error.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cerrno>
#include <tuple>

namespace binnacle::agent {
namespace {

class memory_part final : public text_part {
 public:
  explicit memory_part(const os_options& options) : text_part(options.proc + "/meminfo") {}

  std::string what() const override { return "memory (" + text_part::what() + ")"; }

 protected:
  void announce_all(board& out, board::group_ref group) override {
    for (const auto* name : {"total", "available", "free", "buffers", "cached", "slab_reclaimable",
                             "slab_unreclaimable", "swap_total", "swap_free", "used"}) {
      series_.push_back(announce(out, group, std::string("os_memory_") + name + "_bytes"));
    }
  }
  bool take(std::string_view text, board& out) override {
    const auto m = proc::parse_meminfo(text);
    if (!m) return false;
    const std::optional<std::uint64_t> values[] = {m->total,
                                                   m->available,
                                                   m->free,
                                                   m->buffers,
                                                   m->cached,
                                                   m->slab_reclaimable,
                                                   m->slab_unreclaimable,
                                                   m->swap_total,
                                                   m->swap_free,
                                                   m->used()};
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (i == available && m->total && m->available > m->total) {
        out.set_absent(series_[i], absence::implausible);
      } else {
        set_or_absent(out, series_[i], values[i]);
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t available = 1;  // its place among the series

  std::vector<board::series_ref> series_;
};

/// Huge pages of each size, on the machine and on each NUMA node.
/// Source: Linux Documentation/admin-guide/mm/hugetlbpage.rst.
class hugepages_part final : public os_part {
 public:
  explicit hugepages_part(const os_options& options) : sys_(options.sys) {}

  std::string what() const override { return "huge pages (" + sys_ + "/kernel/mm/hugepages)"; }
  std::string remedy() const override {
    return "nothing, if this kernel has no huge pages; else check sys-root";
  }

  result<void> discover(board& out, board::group_ref group) override {
    add_pools(sys_ + "/kernel/mm/hugepages", "", out, group);
    if (pools_.empty()) return error{errc::not_found, sys_ + "/kernel/mm/hugepages: no page sizes there"};
    const auto nodes = sys_ + "/devices/system/node";
    for (const auto& name : names_in(nodes)) {
      if (name.starts_with("node") && parse_unsigned(name.substr(4)))
        add_pools(nodes + "/" + name + "/hugepages", name.substr(4), out, group);
    }
    return {};
  }

  result<void> read(board& out) override {
    result<void> outcome{};
    for (auto& p : pools_) {
      for (auto& [file, series, count] :
           {std::tuple<kernel_file&, board::series_ref, board::series_ref>(p.pages, p.total, p.total_count),
            {p.free_pages, p.free, p.free_count}}) {
        const auto pages = file.read_integer();
        if (pages && *pages >= 0) {
          out.set(series, *pages * p.page_bytes);
          out.set(count, *pages);
          continue;
        }
        const int why = pages ? EINVAL : file.last_errno();
        for (const auto s : {series, count}) out.set_absent(s, absence_of(why));
        outcome = error{errc_of(why),
                        file.path() + ": " + (why == EINVAL ? std::string("not a number") : describe(why))};
      }
    }
    return outcome;
  }

 private:
  struct pool {
    std::int64_t page_bytes = 0;
    kernel_file pages, free_pages;
    board::series_ref total = board::no_series, free = board::no_series;
    board::series_ref total_count = board::no_series, free_count = board::no_series;  // of the machine only
  };

  // `node` is empty for the whole machine.
  void add_pools(const std::string& folder, const std::string& node, board& out, board::group_ref group) {
    for (const auto& name : names_in(folder)) {
      const auto path = folder + "/" + name;
      constexpr std::string_view prefix = "hugepages-";
      if (!name.starts_with(prefix) || !name.ends_with("kB")) continue;
      const auto size = name.substr(prefix.size());
      const auto kilobytes = parse_unsigned(size.substr(0, size.size() - 2));
      if (!kilobytes || *kilobytes > (1u << 30)) continue;
      if (std::any_of(pools_.begin(), pools_.end(),
                      [&](const pool& p) { return p.pages.path() == path + "/nr_hugepages"; }))
        continue;
      pool p;
      p.page_bytes = static_cast<std::int64_t>(*kilobytes * 1024);
      p.pages = kernel_file(path + "/nr_hugepages");
      p.free_pages = kernel_file(path + "/free_hugepages");
      const std::string family = node.empty() ? "os_hugepages_" : "os_numa_hugepages_";
      metrics::label_set labels;
      if (!node.empty()) labels.emplace_back("numa_node", node);
      labels.emplace_back("size", size);
      p.total = out.add_series(group, family + "total_bytes", labels);
      p.free = out.add_series(group, family + "free_bytes", labels);
      if (node.empty()) {
        p.total_count = out.add_series(group, "os_hugepages_pool_pages", labels);
        p.free_count = out.add_series(group, "os_hugepages_free_pages", labels);
      }
      pools_.push_back(std::move(p));
    }
  }

  std::string sys_;
  std::vector<pool> pools_;
};

}  // namespace

std::unique_ptr<os_part> make_memory_part(const os_options& options) {
  return std::make_unique<memory_part>(options);
}
std::unique_ptr<os_part> make_hugepages_part(const os_options& options) {
  return std::make_unique<hugepages_part>(options);
}

}  // namespace binnacle::agent
