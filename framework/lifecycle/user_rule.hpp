// The user's own words about failures (failurePolicy.rules, semantics 2.1): first match wins. What
// the fault plugin makes of it is the plugin's affair. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/task.hpp"
#include "spec/training_job.hpp"

namespace cox::lifecycle {

// COX_RULE_NONE, COX_RULE_RETRY or COX_RULE_FAIL. The expression of a rule is tried on each line of
// the log tail; one that does not compile (validation refuses it) matches nothing.
uint32_t MatchRule(const std::vector<spec::FailureRule>& rules, const model::Exit& exit);

}  // namespace cox::lifecycle
