#include "aggregator/extender/prioritize.hpp"

#include "aggregator/extender/call.hpp"
#include "aggregator/policy/published/scores.hpp"

#include <array>
#include <string_view>

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

// The text between the names of two candidates holds the first one's score.
constexpr std::string_view before_first = R"([{"Host":)", before_another = R"(,{"Host":)";
constexpr std::array<std::string_view, policy::top_score + 1> after_name{
    R"(,"Score":0},{"Host":)", R"(,"Score":1},{"Host":)", R"(,"Score":2},{"Host":)",
    R"(,"Score":3},{"Host":)", R"(,"Score":4},{"Host":)", R"(,"Score":5},{"Host":)",
    R"(,"Score":6},{"Host":)", R"(,"Score":7},{"Host":)", R"(,"Score":8},{"Host":)",
    R"(,"Score":9},{"Host":)", R"(,"Score":10},{"Host":)"};

std::vector<std::string> prioritize_call::body() {
  const name_list& names = candidates();
  const std::vector<std::uint8_t> scores = decider_.score(names, now_);
  std::string out;
  if (scores.empty()) {
    out = "[]";
  } else {
    out.reserve(names.bytes() + 24 * names.size() + 16);
    out += before_first;
    for (std::size_t i = 0; i < names.size(); ++i) {
      names.append_to(out, i, i);
      out += after_name[scores[i]];
    }
    out.resize(out.size() - before_another.size());
    out += ']';
  }
  std::vector<std::string> pieces;
  pieces.push_back(std::move(out));
  return pieces;
}

}  // namespace

std::unique_ptr<http::exchange> make_prioritize(context& shared, std::size_t announced) {
  return std::make_unique<prioritize_call>(shared, announced);
}

}  // namespace binnacle::extender
