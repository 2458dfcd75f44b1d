#include "host/view.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace cox::host {
namespace {

using model::PolicyRow;

std::string_view Text(cox_str s) {
  return {s.ptr, s.len};
}

model::Node Node(const std::string& name, const std::string& gpu_type) {
  model::Node node;
  node.name = name;
  node.gpu_type = gpu_type;
  node.capacity = {8'000, 1'024, 4'000};
  return node;
}

model::Snapshot Small() {
  model::Snapshot s;
  s.generation = 7;
  s.seed = 9;
  s.now = FromSeconds(100);
  auto site = std::make_shared<spec::Site>();
  site->pools.resize(1);
  site->pools[0].name = "pool";
  s.site = site;
  s.nodes = {Node("n1", "h200"), Node("n2", "h100")};
  s.nodes[0].unmanaged = {1'000, 24, 1'000};
  s.nodes[0].ready_since = FromSeconds(40);
  s.nodes[1].ready = false;
  model::PendingJob job;
  job.id = {5};
  job.name = "job";
  job.owner = {"zoe", "nlp", "acme"};
  job.candidates.resize(1);
  job.candidates[0].pool = "pool";
  job.candidates[0].roles = {{model::Role::kMaster, 1, "h100.1g", 2, {}, "h100"},
                             {model::Role::kWorker, 3, "h100.1g", 2, {}, "h100"}};
  s.pending = {job};
  return s;
}

TEST(View, NodeLanesAreAlignedAndPaddedWithZeroRows) {
  const auto s = Small();
  const View view(s);
  const cox_nodes& nodes = *view.table().nodes;
  ASSERT_EQ(nodes.count, 2U);
  ASSERT_EQ(nodes.stride, 64U);
  for (uint32_t c = 0; c < nodes.columns; ++c) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(nodes.column[c]) % 64, 0U);
    for (uint32_t n = nodes.count; n < nodes.stride; ++n) EXPECT_EQ(nodes.column[c][n], 0);
  }
}

TEST(View, ANodesColumnsSayWhatItIs) {
  const auto s = Small();
  const View view(s);
  const cox_nodes& nodes = *view.table().nodes;
  EXPECT_EQ(Text(nodes.name[0]), "n1");
  EXPECT_EQ(nodes.column[COX_NODE_CPU_MILLI_CAPACITY][0], 8'000);
  EXPECT_EQ(nodes.column[COX_NODE_CPU_MILLI_FREE][0], 7'000);
  EXPECT_EQ(nodes.column[COX_NODE_MEM_MIB_FREE][0], 1'000);
  EXPECT_EQ(nodes.column[COX_NODE_GPU_MILLI_FREE][0], 3'000);
  EXPECT_EQ(nodes.column[COX_NODE_READY_AGE_S][0], 60);
  EXPECT_EQ(nodes.column[COX_NODE_READY_AGE_S][1], 0) << "not ready";
  EXPECT_EQ(Text(view.table().gpu_types->name[nodes.column[COX_NODE_GPU_TYPE][0]]), "h200");
}

TEST(View, ANodeThatBecameReadyThisSecondIsReady) {
  auto s = Small();
  s.nodes[0].ready_since = s.now;
  EXPECT_EQ(View(s).table().nodes->column[COX_NODE_READY_AGE_S][0], 1);
}

TEST(View, WhatDoesNotFitALaneIsCutNeverWrapped) {
  auto s = Small();
  s.nodes[0].capacity.mem_mib = int64_t{1} << 40;
  View view(s);
  EXPECT_EQ(view.lane(COX_NODE_MEM_MIB_CAPACITY)[0], std::numeric_limits<int32_t>::max());
  view.SetFree(0, {-5, 3, 2});
  EXPECT_EQ(view.lane(COX_NODE_CPU_MILLI_FREE)[0], 0);
  EXPECT_EQ(view.table().nodes->column[COX_NODE_GPU_MILLI_FREE][0], 2) << "in place";
}

TEST(View, JobsPointToTheirOwnersByRow) {
  const auto s = Small();
  const View view(s);
  const cox_jobs& jobs = *view.table().pending;
  ASSERT_EQ(jobs.count, 1U);
  EXPECT_EQ(jobs.id[0], 5U);
  EXPECT_EQ(Text(view.table().users->name[jobs.user[0]]), "zoe");
  EXPECT_EQ(Text(view.table().projects->name[jobs.project[0]]), "nlp");
  EXPECT_EQ(Text(view.table().tenants->name[jobs.tenant[0]]), "acme");
  EXPECT_EQ(jobs.priority[0], uint32_t{COX_MEDIUM});
  EXPECT_EQ(jobs.replicas[0], 4U);
  EXPECT_EQ(jobs.start_ns[0], 0);
}

TEST(View, TheLedgerHasARowForAllThatAPendingJobWouldBeChargedTo) {
  auto s = Small();
  s.ledger.SetLimits(
      {{spec::QuotaLevel::kUser, "zoe", spec::CapacityType::kReserved, "pool", "h100.1g", 16}});
  View view(s);
  const cox_ledger& ledger = *view.table().ledger;
  EXPECT_EQ(ledger.count, 3U);
  const model::LedgerKey user = {spec::QuotaLevel::kUser, "zoe", spec::CapacityType::kReserved,
                                 "pool", "h100.1g"};
  const uint32_t row = view.LedgerRow(user);
  ASSERT_NE(row, COX_NONE);
  EXPECT_EQ(view.ledger_key(row), user);
  EXPECT_EQ(ledger.limit[row], 16);
  EXPECT_EQ(ledger.limit[view.LedgerRow({spec::QuotaLevel::kTenant, "acme",
                                         spec::CapacityType::kReserved, "pool", "h100.1g"})],
            -1);
  view.SetUsed(row, 5);
  EXPECT_EQ(ledger.used[row], 5);
  EXPECT_EQ(view.LedgerRow({spec::QuotaLevel::kUser, "nobody", {}, "", ""}), COX_NONE);
}

TEST(View, PoliciesNameNodesByRowAndEndedOnesAreGone) {
  auto s = Small();
  const auto row = [](PolicyRow::Scope scope, const std::string& subject, int64_t until_s) {
    PolicyRow p;
    p.scope = scope;
    p.id = subject;
    p.subject = subject;
    p.task = {5};
    p.node_names = {"n2", "unknown"};
    p.expires_at = FromSeconds(until_s);
    return p;
  };
  s.policies = {row(PolicyRow::Scope::kJob, "", 101), row(PolicyRow::Scope::kUser, "zoe", 101),
                row(PolicyRow::Scope::kTenant, "acme", 100)};
  const View view(s);
  const cox_policies& policies = *view.table().policies;
  ASSERT_EQ(policies.count, 2U) << "the end is exclusive (S78)";
  EXPECT_EQ(policies.subject[0], 5U);
  EXPECT_EQ(Text(view.table().users->name[policies.subject[1]]), "zoe");
  ASSERT_EQ(policies.node_begin[2] - policies.node_begin[1], 1U);
  EXPECT_EQ(policies.node[policies.node_begin[1]], 1U);
}

TEST(View, AnEmptyClusterIsAView) {
  model::Snapshot s;
  s.site = std::make_shared<spec::Site>();
  const View view(s);
  EXPECT_EQ(view.table().nodes->count, 0U);
  EXPECT_EQ(view.table().pending->count, 0U);
  EXPECT_EQ(view.table().policies->node_begin[0], 0U);
  EXPECT_EQ(view.NodeRow("n"), COX_NONE);
}

}  // namespace
}  // namespace cox::host
