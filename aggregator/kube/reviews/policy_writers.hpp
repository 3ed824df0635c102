#pragma once

#include "common/error.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"

#include <span>
#include <string>
#include <vector>

/// Who else than administrators may write TASPolicy objects: whoever may steers pods and labels nodes of the
/// whole cluster. Pure: requests and the meaning of answers.
namespace binnacle::kube {

/// One look: at everybody who has an identity (an access review), or at a role that clusters give to users.
struct writer_question {
  std::string who;  ///< "every authenticated user", "whoever has the ClusterRole edit"
  http::call call;
  bool is_role = false;
};
std::vector<writer_question> policy_writer_questions();
/// Whether those may write TASPolicy objects in some namespace. Errors: permission (we may not look), and
/// those of access_answer_of().
result<bool> may_write_policies(const writer_question& q, const http::answer& a);

/// One sentence with the remedy; empty: nobody of these may.
std::string writers_warning(std::span<const std::string> who);

}  // namespace binnacle::kube
