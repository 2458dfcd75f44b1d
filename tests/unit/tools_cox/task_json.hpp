// Replies as the daemon writes them (run/json), for the rendering tests.
#pragma once

namespace cox::cli {

// 2026-12-01 10:00:00 UTC is 1796119200 s; the stopped clock stands at 10:05:09.
inline constexpr const char* kPendingTask = R"({
  "id": 7, "root_uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "name": "llama-k3v9x2ab",
  "owner": {"user": "ann", "project": "nlp", "tenant": "lab"}, "org": "example", "native_id": "41",
  "job": {"metadata": {"generateName": "llama-", "labels": {"team": "nlp", "stage": "sft"}},
          "spec": {"type": "PyTorchJob", "timeZone": "Asia/Shanghai", "command": "train",
                   "env": [{"name": "LR", "value": "1e-4"},
                           {"name": "TOKEN", "value": "****", "hidden": true}],
                   "scheduling": {"capacityType": "reserved",
                                  "flavors": [{"name": "h100.1g", "count": 8},
                                              {"name": "a100.1g", "count": 8}]}}},
  "submitted_at": 1796119200000000000, "state": "Pending", "reason": "InsufficientQuota",
  "message": "user ann uses 6 of 8 h100.1g, the job needs 8", "state_since": 1796119449000000000,
  "attempt": 1, "placement": null, "started_at": 0, "not_before": 0, "deadline": 9223372036854775807,
  "attempts": [{"index": 0, "uuid": "u0", "started_at": 1796119260000000000,
                "ended_at": 1796119440000000000, "nodes": ["n1", "n2"],
                "exit": {"cause": "Exit", "exit_code": 1, "signal": 0, "rank": 1, "node": "n2"},
                "failure_class": "App", "reason": "ExitCode", "text": "rank 1 on n2 ended with 1",
                "action": "Retry 1/3"}],
  "explanation": {
    "blockers": [
      {"code": "InsufficientQuota", "text": "user ann uses 6 of 8 h100.1g, the job needs 8",
       "policy": "", "candidate": 0, "retry_at": null},
      {"code": "NodePolicy", "text": "quota check failed due to node blacklist: n3,n4",
       "policy": "np-3", "candidate": 1, "retry_at": 1796119560000000000}],
    "candidates": [
      {"source": "reserved", "pool": "train",
       "roles": [{"role": "master", "replicas": 1, "flavor": "h100.1g", "units": 8},
                 {"role": "worker", "replicas": 1, "flavor": "h100.1g", "units": 8}]},
      {"source": "reserved", "pool": "train",
       "roles": [{"role": "master", "replicas": 1, "flavor": "a100.1g", "units": 8}]}],
    "queue": {"rank_in_pool": 3, "ahead_in_pool": {"high": 1, "medium": 2, "low": 0},
              "rank_in_user": 0, "ahead_in_user": {"high": 0, "medium": 0, "low": 0}},
    "earliest": 1796119560000000000},
  "events": [
    {"at": 1796119200000000000, "attempt": 0, "warning": false, "reason": "Queued", "message": ""},
    {"at": 1796119449000000000, "attempt": 1, "warning": true, "reason": "RetryScheduled",
     "message": "1/3"}]
})";

inline constexpr const char* kRunningTask = R"({
  "name": "bert-aaaa1111", "native_id": "40",
  "owner": {"user": "bob", "project": "nlp", "tenant": "lab"},
  "job": {"metadata": {}, "spec": {"type": "PyTorchJob", "timeZone": "UTC", "command": "x",
          "scheduling": {"capacityType": "reserved"}}},
  "submitted_at": 1796119200000000000, "state": "Running", "reason": "Started",
  "state_since": 1796119260000000000, "started_at": 1796119260000000000, "attempt": 0,
  "placement": {"candidate": {"source": "idle", "pool": "train",
                  "roles": [{"role": "master", "replicas": 1, "flavor": "h100.1g", "units": 8},
                            {"role": "worker", "replicas": 1, "flavor": "h100.1g", "units": 8}]},
                "replicas": [{"role": "master", "rank": 0, "node": "n2"},
                             {"role": "worker", "rank": 1, "node": "n1"}]}
})";

}  // namespace cox::cli
