#pragma once

#include <string>
#include <string_view>

/// The name of the user that a service account is: "system:serviceaccount:NAMESPACE:NAME".
/// Source: kubernetes.io/docs/reference/access-authn-authz/authentication (Service account tokens).
namespace binnacle::kube {

std::string user_of_service_account(std::string_view name_space, std::string_view name);

/// The namespace of the account; empty where that user is no service account. Its pods have the same one.
std::string_view namespace_of_service_account(std::string_view user) noexcept;

}  // namespace binnacle::kube
