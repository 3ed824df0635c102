#include "aggregator/extender/prioritize.hpp"

#include "aggregator/extender/call.hpp"
#include "common/text/json_writer.hpp"

namespace binnacle::extender {
namespace {

class prioritize_call final : public call {
 public:
  prioritize_call(context& shared, std::size_t announced)
      : call(shared, decision::verb::prioritize, announced) {}

 private:
  void on_item_bytes(std::string_view) override {}
  void on_item() override {}
  void on_repeated_item() override {}
  std::vector<std::string> body() override;
};

std::vector<std::string> prioritize_call::body() {
  const name_list& names = candidates();
  const std::vector<std::uint8_t> scores = decider_.score(names, now_);
  std::string out = "[";
  if (!scores.empty()) {
    out.reserve(names.bytes() + 24 * names.size() + 8);
    for (std::size_t i = 0; i < names.size(); ++i) {
      out += R"({"Host":)";
      if (names.quoted(i))
        out += names.quoted_text(i, i);
      else
        append_json_string(out, names[i]);
      out += R"(,"Score":)";
      if (scores[i] >= 10) out += '1';
      out += static_cast<char>('0' + scores[i] % 10);
      out += "},";
    }
    if (out.back() == ',') out.pop_back();
  }
  out += ']';
  std::vector<std::string> pieces;
  pieces.push_back(std::move(out));
  return pieces;
}

}  // namespace

std::unique_ptr<http::exchange> make_prioritize(context& shared, std::size_t announced) {
  return std::make_unique<prioritize_call>(shared, announced);
}

}  // namespace binnacle::extender
