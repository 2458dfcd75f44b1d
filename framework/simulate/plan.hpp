// A trace on a site: each of its jobs in the words of the site file (flavors, pool, owner), and the
// nodes in their pools. What the site does not know is added to the site in memory, never to the
// file: users with the tenant and project of the trace, and a flavor for a size that none of the
// site's makes up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/plugins.hpp"
#include "model/node.hpp"
#include "run/config.hpp"
#include "simulate/workload.hpp"

namespace cox::simulate {

struct Plan {
  std::string name;  // of the configuration
  run::Config config;
  std::vector<model::Node> nodes;
  struct Job {
    std::string user;
    std::string tenant;
    std::shared_ptr<const spec::TrainingJob> job;
    Resources need;  // of one replica
    int64_t replicas = 1;
  };
  std::vector<Job> jobs;  // as in the workload
  std::vector<std::string> notes;
};

// `site_text` "" = a site of one pool without limits, with the four built-in plugins that decide.
Result<Plan> MakePlan(const Workload& workload, const std::string& name,
                      const std::string& site_text, const host::Options& options);

// The class of a job in reports: "reserved, medium".
std::string GroupOf(const spec::TrainingJob& job);

}  // namespace cox::simulate
