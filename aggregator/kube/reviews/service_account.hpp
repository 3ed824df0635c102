#pragma once

#include <string>
#include <string_view>

/// The user name of a service account: "system:serviceaccount:NAMESPACE:NAME".
/// Source: kubernetes.io/docs/reference/access-authn-authz/authentication (Service account tokens).
namespace binnacle::kube {

std::string user_of_service_account(std::string_view name_space, std::string_view name);

/// The namespace of the service account, in which its pods are, too; empty if the user is not a service
/// account.
std::string_view namespace_of_service_account(std::string_view user) noexcept;

}  // namespace binnacle::kube
