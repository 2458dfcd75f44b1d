// The layout of every type that crosses the plugin line, against the list that plugins in the field
// were built with. A change here breaks them: append, or do not touch. COX_UPDATE_GOLDEN=1 rewrites
// the list; review its diff.
#include <cox/plugin.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

// A member appended into tail padding would leave sizeof unchanged, and COX_HAS would see it where
// it is not. So no struct may have any.
#define COX_STRUCT(type, last)                                                       \
  static_assert(offsetof(type, last) + sizeof(type::last) == sizeof(type),           \
                #type " has padding at its end: add a `reserved` member before it"); \
  out << #type << " size " << sizeof(type) << " align " << alignof(type) << "\n"
#define COX_FIELD(type, field)                                                                \
  out << "  " << #field << " at " << offsetof(type, field) << " size " << sizeof(type::field) \
      << "\n"

std::string Layout() {
  std::ostringstream out;
  COX_STRUCT(cox_str, len);
  COX_FIELD(cox_str, ptr);
  COX_FIELD(cox_str, len);
  COX_STRUCT(cox_error, text);
  COX_FIELD(cox_error, struct_size);
  COX_FIELD(cox_error, text);
  COX_STRUCT(cox_reason, text);
  COX_FIELD(cox_reason, struct_size);
  COX_FIELD(cox_reason, row);
  COX_FIELD(cox_reason, retry_at_ns);
  COX_FIELD(cox_reason, code);
  COX_FIELD(cox_reason, policy);
  COX_FIELD(cox_reason, text);
  COX_STRUCT(cox_names, name);
  COX_FIELD(cox_names, struct_size);
  COX_FIELD(cox_names, count);
  COX_FIELD(cox_names, name);
  COX_STRUCT(cox_nodes, column);
  COX_FIELD(cox_nodes, struct_size);
  COX_FIELD(cox_nodes, count);
  COX_FIELD(cox_nodes, stride);
  COX_FIELD(cox_nodes, columns);
  COX_FIELD(cox_nodes, name);
  COX_FIELD(cox_nodes, column);
  COX_STRUCT(cox_jobs, start_ns);
  COX_FIELD(cox_jobs, struct_size);
  COX_FIELD(cox_jobs, count);
  COX_FIELD(cox_jobs, id);
  COX_FIELD(cox_jobs, name);
  COX_FIELD(cox_jobs, user);
  COX_FIELD(cox_jobs, project);
  COX_FIELD(cox_jobs, tenant);
  COX_FIELD(cox_jobs, priority);
  COX_FIELD(cox_jobs, guaranteed);
  COX_FIELD(cox_jobs, capacity);
  COX_FIELD(cox_jobs, attempt);
  COX_FIELD(cox_jobs, replicas);
  COX_FIELD(cox_jobs, submit_ns);
  COX_FIELD(cox_jobs, start_ns);
  COX_STRUCT(cox_ledger, used);
  COX_FIELD(cox_ledger, struct_size);
  COX_FIELD(cox_ledger, count);
  COX_FIELD(cox_ledger, level);
  COX_FIELD(cox_ledger, subject);
  COX_FIELD(cox_ledger, capacity);
  COX_FIELD(cox_ledger, pool);
  COX_FIELD(cox_ledger, flavor);
  COX_FIELD(cox_ledger, limit);
  COX_FIELD(cox_ledger, used);
  COX_STRUCT(cox_policies, node);
  COX_FIELD(cox_policies, struct_size);
  COX_FIELD(cox_policies, count);
  COX_FIELD(cox_policies, id);
  COX_FIELD(cox_policies, kind);
  COX_FIELD(cox_policies, scope);
  COX_FIELD(cox_policies, subject);
  COX_FIELD(cox_policies, expires_ns);
  COX_FIELD(cox_policies, node_begin);
  COX_FIELD(cox_policies, node);
  COX_STRUCT(cox_view, gpu_types);
  COX_FIELD(cox_view, struct_size);
  COX_FIELD(cox_view, reserved);
  COX_FIELD(cox_view, generation);
  COX_FIELD(cox_view, seed);
  COX_FIELD(cox_view, now_ns);
  COX_FIELD(cox_view, nodes);
  COX_FIELD(cox_view, pending);
  COX_FIELD(cox_view, running);
  COX_FIELD(cox_view, ledger);
  COX_FIELD(cox_view, policies);
  COX_FIELD(cox_view, users);
  COX_FIELD(cox_view, projects);
  COX_FIELD(cox_view, tenants);
  COX_FIELD(cox_view, pools);
  COX_FIELD(cox_view, flavors);
  COX_FIELD(cox_view, gpu_types);
  COX_STRUCT(cox_host, cfg_len);
  COX_FIELD(cox_host, struct_size);
  COX_FIELD(cox_host, reserved);
  COX_FIELD(cox_host, ctx);
  COX_FIELD(cox_host, log);
  COX_FIELD(cox_host, count);
  COX_FIELD(cox_host, cfg_i64);
  COX_FIELD(cox_host, cfg_f64);
  COX_FIELD(cox_host, cfg_str);
  COX_FIELD(cox_host, cfg_len);
  COX_STRUCT(cox_asks, row);
  COX_FIELD(cox_asks, struct_size);
  COX_FIELD(cox_asks, count);
  COX_FIELD(cox_asks, job);
  COX_FIELD(cox_asks, capacity);
  COX_FIELD(cox_asks, pool);
  COX_FIELD(cox_asks, flavor);
  COX_FIELD(cox_asks, units);
  COX_FIELD(cox_asks, row_begin);
  COX_FIELD(cox_asks, row);
  COX_STRUCT(cox_quota, explain);
  COX_FIELD(cox_quota, struct_size);
  COX_FIELD(cox_quota, reserved);
  COX_FIELD(cox_quota, admit);
  COX_FIELD(cox_quota, explain);
  COX_STRUCT(cox_priority, rank);
  COX_FIELD(cox_priority, struct_size);
  COX_FIELD(cox_priority, reserved);
  COX_FIELD(cox_priority, rank);
  COX_STRUCT(cox_shape, gpu_type);
  COX_FIELD(cox_shape, struct_size);
  COX_FIELD(cox_shape, job);
  COX_FIELD(cox_shape, cpu_milli);
  COX_FIELD(cox_shape, mem_mib);
  COX_FIELD(cox_shape, gpu_milli);
  COX_FIELD(cox_shape, gpu_type);
  COX_STRUCT(cox_node_policy, explain);
  COX_FIELD(cox_node_policy, struct_size);
  COX_FIELD(cox_node_policy, reserved);
  COX_FIELD(cox_node_policy, filter);
  COX_FIELD(cox_node_policy, score);
  COX_FIELD(cox_node_policy, explain);
  COX_STRUCT(cox_failure, log_tail);
  COX_FIELD(cox_failure, struct_size);
  COX_FIELD(cox_failure, cause);
  COX_FIELD(cox_failure, exit_code);
  COX_FIELD(cox_failure, signal);
  COX_FIELD(cox_failure, enabled);
  COX_FIELD(cox_failure, policy);
  COX_FIELD(cox_failure, user_rule);
  COX_FIELD(cox_failure, max_retries);
  COX_FIELD(cox_failure, max_preemption_retries);
  COX_FIELD(cox_failure, attempt);
  COX_FIELD(cox_failure, retries_used);
  COX_FIELD(cox_failure, preemptions);
  COX_FIELD(cox_failure, infra_failures);
  COX_FIELD(cox_failure, hang_failures);
  COX_FIELD(cox_failure, app_failures);
  COX_FIELD(cox_failure, exclude_enabled);
  COX_FIELD(cox_failure, exclude_ttl_ns);
  COX_FIELD(cox_failure, log_tail);
  COX_STRUCT(cox_fault_verdict, text);
  COX_FIELD(cox_fault_verdict, struct_size);
  COX_FIELD(cox_fault_verdict, failure_class);
  COX_FIELD(cox_fault_verdict, retry);
  COX_FIELD(cox_fault_verdict, counts);
  COX_FIELD(cox_fault_verdict, exclude_node);
  COX_FIELD(cox_fault_verdict, reserved);
  COX_FIELD(cox_fault_verdict, backoff_ns);
  COX_FIELD(cox_fault_verdict, exclude_ttl_ns);
  COX_FIELD(cox_fault_verdict, reason);
  COX_FIELD(cox_fault_verdict, text);
  COX_STRUCT(cox_fault, judge);
  COX_FIELD(cox_fault, struct_size);
  COX_FIELD(cox_fault, reserved);
  COX_FIELD(cox_fault, judge);
  COX_STRUCT(cox_samples, label_value);
  COX_FIELD(cox_samples, struct_size);
  COX_FIELD(cox_samples, count);
  COX_FIELD(cox_samples, name);
  COX_FIELD(cox_samples, help);
  COX_FIELD(cox_samples, kind);
  COX_FIELD(cox_samples, value);
  COX_FIELD(cox_samples, label_begin);
  COX_FIELD(cox_samples, label_key);
  COX_FIELD(cox_samples, label_value);
  COX_STRUCT(cox_targets, label_value);
  COX_FIELD(cox_targets, struct_size);
  COX_FIELD(cox_targets, count);
  COX_FIELD(cox_targets, address);
  COX_FIELD(cox_targets, path);
  COX_FIELD(cox_targets, label_begin);
  COX_FIELD(cox_targets, label_key);
  COX_FIELD(cox_targets, label_value);
  COX_STRUCT(cox_monitor, observe);
  COX_FIELD(cox_monitor, struct_size);
  COX_FIELD(cox_monitor, reserved);
  COX_FIELD(cox_monitor, observe);
  COX_STRUCT(cox_plugin, reason);
  COX_FIELD(cox_plugin, struct_size);
  COX_FIELD(cox_plugin, abi_major);
  COX_FIELD(cox_plugin, abi_minor);
  COX_FIELD(cox_plugin, id);
  COX_FIELD(cox_plugin, version);
  COX_FIELD(cox_plugin, summary);
  COX_FIELD(cox_plugin, config_schema);
  COX_FIELD(cox_plugin, create);
  COX_FIELD(cox_plugin, destroy);
  COX_FIELD(cox_plugin, extension);
  COX_FIELD(cox_plugin, reason);
  return out.str();
}

TEST(AbiLayout, IsTheOneThatPluginsInTheFieldWereBuiltWith) {
  const std::string path = COX_SOURCE_DIR "/tests/abi/layout-1.0.txt";
  if (std::getenv("COX_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << Layout();
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(Layout(), golden.str());
}

// Numbers are part of the line too.
static_assert(COX_ABI_MAJOR == 1 && COX_ALLOW == 0 && COX_FIXED == 0x8000 &&
              COX_NONE == 0xffffffff);
static_assert(COX_OK == 0 && COX_INTERNAL == 4);
static_assert(COX_RESERVED == 0 && COX_IDLE == 3 && COX_LOW == 0 && COX_HIGH == 2);
static_assert(COX_TENANT == 0 && COX_USER == 2 && COX_NODE_IN == 0 && COX_NODE_NOT_IN == 1);
static_assert(COX_SCOPE_JOB == 0 && COX_SCOPE_FAILURE == 3);
static_assert(COX_NODE_CPU_MILLI_CAPACITY == 0 && COX_NODE_READY_AGE_S == 7);
static_assert(COX_NODE_COLUMNS == 8, "a new column goes to the end");
static_assert(COX_CAUSE_EXIT == 0 && COX_CAUSE_SPOT_EVICTED == 10 && COX_CLASS_APP == 4);
static_assert(COX_POLICY_NEVER == 3 && COX_RULE_FAIL == 2 && COX_COUNTER == 1);

}  // namespace
