#include "aggregator/extender/filter.hpp"

#include "aggregator/extender/call.hpp"
#include "aggregator/extender/kept_items.hpp"

#include <fmt/format.h>

namespace binnacle::extender {
namespace {

constexpr std::string_view nodes_head = R"({"Nodes":{"metadata":{},"items":[)";

class filter_call final : public call {
 public:
  filter_call(context& shared, std::size_t announced) : call(shared, decision::verb::filter, announced) {}

 private:
  void on_pod() override;
  void on_item_bytes(std::string_view bytes) override;
  void on_item() override;
  void on_repeated_item() override;
  std::vector<std::string> body() override;

  std::vector<std::string> names_body();
  void refuse(const name_list& names, std::size_t i, std::size_t k);
  void take_early();
  /// Whether an item can be judged as soon as it ends.
  bool decides_at_once() const noexcept { return args_.has_pod() && !decider_.wants_all(); }
  std::string tail() const {
    return fmt::format(R"("FailedNodes":{{}},"FailedAndUnresolvableNodes":{{{}}},"Error":""}})", refused_);
  }

  kept_items kept_{std::string(nodes_head)};
  std::string refused_;  // members of FailedAndUnresolvableNodes
  // Items that cannot be judged yet, one string each. That happens in full mode if the Pod comes last (no
  // scheduler does that), or if the pod is to be spread, where all candidates are judged together.
  std::vector<std::string> early_;
  std::size_t early_bytes_ = 0;
  bool early_open_ = false;
};

/// Adds name `i` to FailedAndUnresolvableNodes. It is candidate `k` in the decider's last batch.
void filter_call::refuse(const name_list& names, std::size_t i, std::size_t k) {
  if (!refused_.empty()) refused_ += ',';
  names.append_to(refused_, i, i);
  refused_ += ':';
  refused_ += decider_.refusal(k);
}

void filter_call::on_pod() {
  call::on_pod();
  if (!decider_.wants_all()) take_early();
}

/// Decides about the items that wait.
void filter_call::take_early() {
  decider_.admit(args_.items(), 0, now_);
  for (std::size_t i = 0; i < early_.size(); ++i) {
    if (decider_.admitted(i)) {
      kept_.append(early_[i]);
      kept_.keep();
    } else {
      refuse(args_.items(), i, i);
    }
    early_[i] = {};
  }
}

void filter_call::on_item_bytes(std::string_view bytes) {
  if (decides_at_once()) return kept_.append(bytes);
  if (!early_open_) early_.emplace_back();
  early_open_ = true;
  early_.back() += bytes;
  early_bytes_ += bytes.size();
  if (!args_.has_pod() && early_bytes_ > shared_.settings.early_nodes) {
    problem_ = fmt::format(
        "more than {} bytes of Nodes came before the Pod: send the Pod first, as kube-scheduler does",
        shared_.settings.early_nodes);
  }
}

void filter_call::on_item() {
  early_open_ = false;
  if (!decides_at_once()) return;
  const std::size_t i = args_.items().size() - 1;
  decider_.admit(args_.items(), i, now_);
  if (decider_.admitted(0)) {
    kept_.keep();
  } else {
    kept_.drop();
    refuse(args_.items(), i, 0);
  }
}

void filter_call::on_repeated_item() {
  early_open_ = false;
  if (decides_at_once()) return kept_.drop();
  early_.pop_back();
}

std::vector<std::string> filter_call::body() {
  if (by_names()) return names_body();
  if (decider_.wants_all()) take_early();
  return kept_.take("]},\"NodeNames\":null," + tail());
}

std::vector<std::string> filter_call::names_body() {
  const name_list& names = args_.names();
  decider_.admit(names, 0, now_);
  std::string out = R"({"Nodes":null,"NodeNames":[)";
  out.reserve(out.size() + names.bytes() + 3 * names.size() + 256);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!decider_.admitted(i)) {
      refuse(names, i, i);
      continue;
    }
    const std::size_t first = i;
    while (names.joined(i) && decider_.admitted(i + 1)) ++i;
    names.append_to(out, first, i);
    out += ',';
  }
  if (out.back() == ',') out.pop_back();
  out += "],";
  std::vector<std::string> pieces;
  pieces.push_back(std::move(out));
  pieces.push_back(tail());
  return pieces;
}

}  // namespace

std::unique_ptr<http::exchange> make_filter(context& shared, std::size_t announced) {
  return std::make_unique<filter_call>(shared, announced);
}

}  // namespace binnacle::extender
