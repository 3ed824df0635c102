#include "aggregator/ops/json_pieces.hpp"
#include "aggregator/ops/summary_json.hpp"
#include "aggregator/store/walk.hpp"
#include "common/text/json_writer.hpp"

#include <map>
#include <string>
#include <string_view>

namespace binnacle::ops {
namespace {

void write_members(json_writer& out, std::string_view name, const std::map<std::string, std::string>& all) {
  out.key(name).begin_object();
  for (const auto& [key, value] : all) out.field(key, value);
  out.end_object();
}

class labels_in_slices final : public http::slices {
 public:
  labels_in_slices(const store::view& nodes, std::size_t most) : most_(most), place_(nodes) {
    answer_.out().begin_object().key("nodes").begin_array();
  }
  bool step() override {
    std::size_t labels = 0;
    const bool more = place_.go_on([&](const store::node_view& node) {
      labels += 1 + node.labels.size() + node.would_be.size();
      write(node);
      return labels < labels_per_slice;
    });
    answer_.end_slice();
    return more;
  }
  http::response take() override {
    json_writer& out = answer_.out();
    out.end_array();
    if (omitted_ > 0) out.field("omitted", omitted_);
    out.end_object();
    return answer_.take();
  }

 private:
  static constexpr std::size_t labels_per_slice = 10'000;

  void write(const store::node_view& node) {
    if (node.labels.empty() && node.would_be.empty()) return;
    if (answer_.bytes() > most_) {
      ++omitted_;
      return;
    }
    json_writer& out = answer_.out();
    out.begin_object().field("node", node.name);
    write_members(out, "labels", node.labels);
    if (!node.would_be.empty()) write_members(out, "wouldBe", node.would_be);
    out.end_object();
  }

  const std::size_t most_;
  store::walk place_;
  json_pieces answer_;
  std::size_t omitted_ = 0;  // nodes
};

}  // namespace

std::unique_ptr<http::slices> labels_json(const store::view& nodes, std::size_t bytes) {
  return std::make_unique<labels_in_slices>(nodes, bytes);
}

}  // namespace binnacle::ops
