#pragma once

#include "common/error.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"

#include <span>
#include <string>
#include <vector>

/// Finds out who besides administrators may write TASPolicy objects. That matters because a policy can move
/// pods and label nodes in the whole cluster. Pure: makes the requests and reads the answers.
namespace binnacle::kube {

/// One question: about every authenticated user (an access review), or about a role that clusters give to
/// users.
struct writer_question {
  std::string who;  ///< "every authenticated user", "whoever has the ClusterRole edit"
  http::call call;
  bool is_role = false;
};
std::vector<writer_question> policy_writer_questions();
/// Whether these users may write TASPolicy objects in some namespace. Errors: permission (we may not read the
/// role), and those of access_answer_of().
result<bool> may_write_policies(const writer_question& q, const http::answer& a);

/// One sentence with the remedy; empty if `who` is empty.
std::string writers_warning(std::span<const std::string> who);

}  // namespace binnacle::kube
