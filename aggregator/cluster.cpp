#include "aggregator/cluster.hpp"

#include "aggregator/kube/access.hpp"
#include "aggregator/kube/follow.hpp"
#include "aggregator/kube/policy_objects.hpp"
#include "common/async/task_group.hpp"

#include <cstdlib>
#include <random>

namespace binnacle::aggregator {
namespace {

result<kube::access> access_of(const settings& s) {
  if (s.kube_config == "in-cluster")
    return kube::in_cluster([](const char* name) { return std::getenv(name); });
  return kube::load_kubeconfig(s.kube_config, s.kube_context);
}

}  // namespace

struct cluster::impl {
  impl(std::shared_ptr<kube::client> c, logger l)
      : log(std::move(l)),
        api(std::move(c)),
        policy_follower(kube::policy_objects::collection(), policies, std::random_device{}()) {}

  void pass_on(ingest_loop& writer);

  const logger log;
  const std::shared_ptr<kube::client> api;
  kube::policy_objects policies;
  kube::reflector policy_follower;
  std::string trouble;
  bool told_of_policies = false;
};

// After each step of the follower: what changed goes to the ingest loop, and a change for the worse or the
// better is said once.
void cluster::impl::pass_on(ingest_loop& writer) {
  std::vector<policy_text> changed;
  for (kube::policy_objects::change& c : policies.take())
    changed.push_back({std::move(c.name), std::move(c.text)});
  const bool news = trouble != policy_follower.trouble();
  if (news) {
    trouble = policy_follower.trouble();
    if (trouble.empty()) {
      log.info("TASPolicy objects are up to date again");
    } else {
      log.warning("{}; {}", trouble,
                  policy_follower.is_synced() ? "the policies read before stay in force"
                                              : "there are no policies yet");
    }
  }
  if (!changed.empty() || news) writer.take_policies(std::move(changed), trouble);
  if (policy_follower.is_synced() && !told_of_policies) {
    told_of_policies = true;
    log.info("{} TASPolicy objects read from {}", policy_follower.size(), api->where().url());
  }
}

cluster::cluster(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
cluster::~cluster() = default;

result<std::unique_ptr<cluster>> cluster::open(const settings& s, logger log) {
  auto to = access_of(s);
  if (to.has_error()) return to.error();
  auto api = kube::client::open(std::move(*to), log);
  if (api.has_error()) return api.error();
  auto made = std::make_unique<impl>(std::move(*api), std::move(log));
  return std::unique_ptr<cluster>(new cluster(std::move(made)));
}

void cluster::start(async::task_group& tasks, ingest_loop& writer) {
  impl* self = impl_.get();
  std::function<void()> after = [self, &writer] { self->pass_on(writer); };
  tasks.spawn("policies of the API server", kube::follow(self->api, self->policy_follower, std::move(after)));
}

cluster::report cluster::state() const {
  const kube::client::counters& c = impl_->api->stats();
  const kube::reflector::counters& r = impl_->policy_follower.stats();
  report out;
  out.url = impl_->api->where().url();
  out.policies_read = impl_->policy_follower.is_synced();
  out.policies = impl_->policy_follower.size();
  out.trouble = impl_->policy_follower.trouble();
  out.calls = c.calls;
  out.refused = c.refused;
  out.broken = c.broken;
  out.lists = r.lists;
  return out;
}

}  // namespace binnacle::aggregator
