#include "aggregator/kube/reviews/service_account.hpp"

namespace binnacle::kube {
namespace {

constexpr std::string_view head = "system:serviceaccount:";

}  // namespace

std::string user_of_service_account(std::string_view name_space, std::string_view name) {
  std::string out(head);
  out.append(name_space).append(":").append(name);
  return out;
}

std::string_view namespace_of_service_account(std::string_view user) noexcept {
  if (!user.starts_with(head)) return {};
  user.remove_prefix(head.size());
  const auto end = user.find(':');
  return end == user.npos ? std::string_view() : user.substr(0, end);
}

}  // namespace binnacle::kube
