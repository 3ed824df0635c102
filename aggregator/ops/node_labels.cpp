#include "aggregator/ops/node_labels.hpp"

#include "aggregator/store/walk.hpp"
#include "common/text/json_writer.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace binnacle::ops {
namespace {

constexpr std::size_t nodes_per_slice = 100;  // of some thirty labels each: about a millisecond

/// Looks at each node once, some in each slice.
class over_labels : public http::slices {
 public:
  over_labels(const store::view& nodes, label_reader labels) : labels_(std::move(labels)), place_(nodes) {}

  bool step() override {
    for (std::size_t i = 0; i < nodes_per_slice; ++i) {
      const store::node_view* node = labels_ ? place_.next() : nullptr;
      if (node == nullptr) return false;
      labels_(node->name, [&](std::string_view key, std::string_view value) { see(node->name, key, value); });
    }
    return true;
  }

 private:
  virtual void see(const std::string& node, std::string_view key, std::string_view value) = 0;
  label_reader labels_;
  store::walk place_;
};

class key_list final : public over_labels {
 public:
  using over_labels::over_labels;

  http::response take() override {
    std::string text;
    json_writer out(text);
    out.begin_object().key("keys").begin_array();
    for (const auto& [key, of] : keys_) {
      out.begin_object().field("key", key).field("nodes", of.nodes);
      if (of.values.size() <= most_label_values) out.field("values", of.values.size());
      out.end_object();
    }
    out.end_array().field("omitted", omitted_).end_object();
    return http::response::json(text += '\n');
  }

 private:
  struct seen {
    std::size_t nodes = 0;
    std::set<std::string, std::less<>> values;  // one more than shown means that there are too many
  };
  void see(const std::string&, std::string_view key, std::string_view value) override {
    auto at = keys_.find(key);
    if (at == keys_.end()) {
      omitted_ = omitted_ || keys_.size() >= most_label_keys;
      if (omitted_) return;
      at = keys_.emplace(key, seen()).first;
    }
    ++at->second.nodes;
    auto& values = at->second.values;
    if (values.size() <= most_label_values && !values.contains(value)) values.emplace(value);
  }

  std::map<std::string, seen, std::less<>> keys_;
  bool omitted_ = false;
};

class value_list final : public over_labels {
 public:
  value_list(const store::view& nodes, label_reader labels, std::string key)
      : over_labels(nodes, std::move(labels)), key_(std::move(key)) {}

  http::response take() override {
    std::string text;
    json_writer out(text);
    out.begin_object().field("key", key_).key("values").begin_array();
    for (const auto& [value, nodes] : values_) {
      out.begin_object().field("value", value).key("nodes").begin_array();
      for (const std::string& node : nodes) out.value(node);
      out.end_array().end_object();
    }
    out.end_array().field("omitted", omitted_).end_object();
    return http::response::json(text += '\n');
  }

 private:
  void see(const std::string& node, std::string_view key, std::string_view value) override {
    if (key != key_) return;
    auto at = values_.find(value);
    if (at == values_.end()) {
      if (values_.size() >= most_label_values) {
        ++omitted_;
        return;
      }
      at = values_.emplace(value, std::vector<std::string>()).first;
    }
    at->second.push_back(node);
  }

  std::string key_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::size_t omitted_ = 0;
};

}  // namespace

std::unique_ptr<http::slices> label_keys(const store::view& nodes, label_reader labels) {
  return std::make_unique<key_list>(nodes, std::move(labels));
}

std::unique_ptr<http::slices> label_values(const store::view& nodes, label_reader labels, std::string key) {
  return std::make_unique<value_list>(nodes, std::move(labels), std::move(key));
}

}  // namespace binnacle::ops
