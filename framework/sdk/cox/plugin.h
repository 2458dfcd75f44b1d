/* cox/plugin.h -- all that the scheduler and a plugin agree on. C11, self-contained.
 *
 *  tables   begin with struct_size and grow only at the end: test a member with COX_HAS.
 *  values   (cox_str) never change while COX_ABI_MAJOR stands.
 *  memory   stays with its maker; a pointer passed in is dead once the call returns.
 *  threads  [load] one thread, no cycle running   [cycle] the decision thread
 *           [observer] a thread of its own        [any] any of them
 *  A plugin does not throw across this line, read a clock, block in [cycle], or exit the process.
 *  Every [cycle] call is a pure function of its arguments and of the instance's configuration.
 *
 *  The plugin judges, the core counts: a plugin returns verdicts and numbers, never changes usage.
 */
/* Columns of tables and their comments are set by hand. */
/* clang-format off */
#ifndef COX_PLUGIN_H
#define COX_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COX_ABI_MAJOR 1u /* differs: not loaded */
#define COX_ABI_MINOR 0u /* informative; COX_HAS decides */
#define COX_HAS(table, member)                                         \
  ((table)->struct_size >= offsetof(__typeof__(*(table)), member) + \
                               sizeof((table)->member))

typedef struct cox_str { /* UTF-8, not terminated */
  const char *ptr;
  size_t len;
} cox_str;

enum { /* what every int32_t-returning function returns */
  COX_OK = 0,
  COX_INVALID_ARGUMENT,
  COX_FAILED_PRECONDITION,
  COX_UNAVAILABLE,
  COX_INTERNAL
};

typedef struct cox_error { /* the host's memory; text is NUL-terminated by whoever writes it */
  uint32_t struct_size;
  char text[252];
} cox_error;

/* 0 = allow; else a plugin-local reason code of 1..0x7ffe, or-ed with COX_FIXED. 0x7fff is the
 * host's own: the instance failed. */
typedef uint16_t cox_verdict;
#define COX_ALLOW 0x0000u
#define COX_FIXED 0x8000u /* evicting others would not change this verdict */

/* The long form of a "no", asked for only when a person will read it. The host zeroes it. */
typedef struct cox_reason {
  uint32_t struct_size;
  uint32_t row;         /* quota: the ledger row that blocks; else 0 */
  int64_t retry_at_ns;  /* earliest time at which a timer alone could lift it; 0 = no timer */
  char code[64];        /* CamelCase, for programs: "InsufficientQuota" */
  char policy[128];     /* ids of the objects behind it, comma-separated */
  char text[1024];      /* for the person who gets it: the level, the numbers, the remedy */
} cox_reason;

/* ---- What a plugin sees: one immutable snapshot, in columns. Row numbers live one cycle. ---- */

enum { /* capacity types */
  COX_RESERVED = 0,
  COX_ON_DEMAND,
  COX_SPOT,
  COX_IDLE
};
enum { /* priorities */
  COX_LOW = 0,
  COX_MEDIUM,
  COX_HIGH
};
enum { /* levels of the ledger */
  COX_TENANT = 0,
  COX_PROJECT,
  COX_USER
};
#define COX_NONE 0xffffffffu /* "no such row" in a uint32_t column */

/* Names behind the dense numbers that the other tables use. */
typedef struct cox_names {
  uint32_t struct_size, count;
  const cox_str *name;
} cox_names;

/* Node columns: int32 lanes of one width, each 64-byte aligned and padded to a multiple of 64 rows
 * (`stride`), so that a loop over them vectorises. Rows at and beyond `count` are zero. */
enum {
  COX_NODE_CPU_MILLI_CAPACITY = 0,
  COX_NODE_CPU_MILLI_FREE, /* free: net of everything placed in this cycle so far */
  COX_NODE_MEM_MIB_CAPACITY,
  COX_NODE_MEM_MIB_FREE,
  COX_NODE_GPU_MILLI_CAPACITY,
  COX_NODE_GPU_MILLI_FREE,
  COX_NODE_GPU_TYPE,    /* row in view->gpu_types */
  COX_NODE_READY_AGE_S, /* seconds since it last became ready; 0 = not ready */
  COX_NODE_COLUMNS
};
typedef struct cox_nodes {
  uint32_t struct_size, count, stride, columns;
  const cox_str *name;           /* [count] */
  const int32_t *const *column;  /* [columns][stride] */
} cox_nodes;

/* Jobs: a gang is one job. Column[i] is job i. */
typedef struct cox_jobs {
  uint32_t struct_size, count;
  const uint64_t *id;
  const cox_str *name;
  const uint32_t *user, *project, *tenant; /* rows in view->users, projects, tenants */
  const uint32_t *priority;                /* COX_LOW.. */
  const uint32_t *guaranteed;              /* 1 = not preemptible */
  const uint32_t *capacity;                /* asked for (pending) or in effect (running) */
  const uint32_t *attempt;                 /* 0 = the first */
  const uint32_t *replicas;
  const int64_t *submit_ns;                /* of the first attempt */
  const int64_t *start_ns;                 /* running only; 0 = pending */
} cox_jobs;

/* The ledger: who uses how many units of what. Units are whole flavor units. */
typedef struct cox_ledger {
  uint32_t struct_size, count;
  const uint32_t *level;   /* COX_TENANT.. */
  const uint32_t *subject; /* row in tenants, projects or users, by level */
  const uint32_t *capacity, *pool, *flavor; /* pool COX_NONE = any pool */
  const int64_t *limit;    /* units; -1 = no quota object names this row */
  const int64_t *used;     /* units, net of everything admitted in this cycle so far */
} cox_ledger;

/* Node policies in effect now, and the per-job exclusions after failures. */
enum { COX_NODE_IN = 0, COX_NODE_NOT_IN };
enum { COX_SCOPE_JOB = 0, COX_SCOPE_USER, COX_SCOPE_TENANT, COX_SCOPE_FAILURE };
typedef struct cox_policies {
  uint32_t struct_size, count;
  const cox_str *id;
  const uint32_t *kind, *scope;
  const uint64_t *subject;    /* user or tenant row; for JOB and FAILURE: the job's id */
  const int64_t *expires_ns;  /* exclusive; INT64_MAX = with the job */
  const uint32_t *node_begin; /* [count + 1]: node[node_begin[p] .. node_begin[p + 1]) */
  const uint32_t *node;       /* rows in nodes; names that no node bears are left out */
} cox_policies;

/* Any table may be empty. ledger, policies and the names may be NULL on a host that has none; the
 * columns of nodes, jobs and asks are there, but for node columns beyond nodes->columns. */
typedef struct cox_view {
  uint32_t struct_size, reserved;
  uint64_t generation, seed;
  int64_t now_ns; /* the only clock a plugin has */
  const cox_nodes *nodes;
  const cox_jobs *pending, *running;
  const cox_ledger *ledger;
  const cox_policies *policies;
  const cox_names *users, *projects, *tenants, *pools, *flavors, *gpu_types;
} cox_view;

/* ---- What the host offers; outlives the instance. ---- */
typedef struct cox_host {
  uint32_t struct_size, reserved;
  void *ctx;
  void (*log)(void *ctx, int32_t level, cox_str message); /* [any] 0 error 1 warn 2 info 3 debug */
  void (*count)(void *ctx, cox_str metric, double by);    /* [any] */
  /* The instance's configuration: already checked against the plugin's schema, defaults filled.
   * Keys are dotted paths with array indices: "rules.0.exit_codes.1". COX_INVALID_ARGUMENT when
   * there is no such key or it has another type. Strings live as long as the instance. [load] */
  int32_t (*cfg_i64)(void *ctx, cox_str key, int64_t *out);
  int32_t (*cfg_f64)(void *ctx, cox_str key, double *out);
  int32_t (*cfg_str)(void *ctx, cox_str key, cox_str *out);
  int32_t (*cfg_len)(void *ctx, cox_str key, uint32_t *out); /* elements of an array or object */
} cox_host;

/* ---- Extension points: "name/revision". A plugin may offer several. ---- */

/* May these jobs start, as far as quota goes? All instances must allow (AND). */
typedef struct cox_asks { /* one row: all that one candidate wants of one flavor */
  uint32_t struct_size, count;
  const uint32_t *job;       /* row in view->pending */
  const uint32_t *capacity, *pool, *flavor;
  const int64_t *units;      /* of the whole gang */
  const uint32_t *row_begin; /* [count + 1]: the ledger rows that this ask is charged to */
  const uint32_t *row;
} cox_asks;
#define COX_EXT_QUOTA "cox.quota/1"
typedef struct cox_quota {
  uint32_t struct_size, reserved;
  int32_t (*admit)(void *self, const cox_view *, const cox_asks *, cox_verdict *out,
                   cox_error *); /* [cycle] out[asks->count] */
  /* Asks of equal units to equal rows with an equal verdict are explained once, by the first of
   * them: write about the rows and the units, not about the job. */
  int32_t (*explain)(void *self, const cox_view *, const cox_asks *, uint32_t ask, cox_verdict,
                     cox_reason *out, cox_error *); /* [cycle] */
} cox_quota;

/* In which order are pending jobs looked at? Higher first; ties by submit time, then id.
 * Several instances: weighted sum. */
#define COX_EXT_PRIORITY "cox.priority/1"
typedef struct cox_priority {
  uint32_t struct_size, reserved;
  int32_t (*rank)(void *self, const cox_view *, int64_t *out,
                  cox_error *); /* [cycle] out[view->pending->count]; within +-2^40 */
} cox_priority;

/* On which nodes may a replica of this job run, and where rather? Either may be NULL.
 * Filters: AND. Scores: weighted sum; each within 0..10000, more is better; ties are the host's. */
typedef struct cox_shape { /* one replica */
  uint32_t struct_size, job; /* row in view->pending */
  int32_t cpu_milli, mem_mib, gpu_milli;
  uint32_t gpu_type; /* COX_NONE = any */
} cox_shape;
#define COX_EXT_NODE_POLICY "cox.node-policy/1"
typedef struct cox_node_policy {
  uint32_t struct_size, reserved;
  int32_t (*filter)(void *self, const cox_view *, const cox_shape *, int32_t *verdicts,
                    cox_error *); /* [cycle] verdicts[nodes->stride], zeroed by the host */
  int32_t (*score)(void *self, const cox_view *, const cox_shape *, int32_t *scores,
                   cox_error *); /* [cycle] scores[nodes->stride], zeroed by the host */
  /* Called when the job would fit if `verdict` of this instance were lifted from `nodes`: what
   * should the person read? NULL: the host builds a text from cox_plugin.reason. */
  int32_t (*explain)(void *self, const cox_view *, const cox_shape *, cox_verdict verdict,
                     const uint32_t *nodes, uint32_t n, cox_reason *out, cox_error *); /* [cycle] */
} cox_node_policy;

/* An attempt has failed: what is it, and what shall be done? The framework disposes; with several
 * instances the safest verdict wins (fail before retry, longer before shorter). */
enum { /* what the adapter saw */
  COX_CAUSE_EXIT = 0,   /* exit_code, or signal when it is not 0 */
  COX_CAUSE_OOM,        /* killed by the memory limit */
  COX_CAUSE_NODE,       /* a node of the job went away */
  COX_CAUSE_IMAGE,      /* image breaker tripped, image unknown */
  COX_CAUSE_SETUP,      /* mount, data set or specification cannot be carried out */
  COX_CAUSE_LAUNCH,     /* the batch system refused or failed to start it */
  COX_CAUSE_RUNTIME,    /* Ray or its runtime environment is missing or broken */
  COX_CAUSE_HANG,       /* hang verdict */
  COX_CAUSE_TIME_LIMIT, /* the job's own wall time */
  COX_CAUSE_PREEMPTED,
  COX_CAUSE_SPOT_EVICTED
};
enum { /* classes (semantics 2.1) */
  COX_CLASS_PREEMPTED = 0,
  COX_CLASS_NON_RETRYABLE,
  COX_CLASS_INFRA,
  COX_CLASS_HANG,
  COX_CLASS_APP
};
enum { /* failurePolicy.policy */
  COX_POLICY_ON_FAILURE = 0,
  COX_POLICY_ON_INFRA_FAILURE,
  COX_POLICY_EXIT_CODE_AND_LOG,
  COX_POLICY_NEVER
};
enum { /* what the user's own rule says, when one matched */
  COX_RULE_NONE = 0,
  COX_RULE_RETRY,
  COX_RULE_FAIL
};
typedef struct cox_failure {
  uint32_t struct_size;
  uint32_t cause;
  int32_t exit_code, signal; /* of the first failing replica */
  uint32_t enabled;          /* failurePolicy.enabled */
  uint32_t policy, user_rule;
  int32_t max_retries;            /* of the job */
  int32_t max_preemption_retries; /* -1 = no limit */
  uint32_t attempt;               /* index of the failed one, 0 = the first */
  uint32_t retries_used;          /* earlier retries that counted against max_retries */
  uint32_t preemptions, infra_failures, hang_failures, app_failures; /* earlier ones */
  uint32_t exclude_enabled;
  int64_t exclude_ttl_ns; /* as the job asks */
  cox_str log_tail;       /* of the first failing replica */
} cox_failure;
typedef struct cox_fault_verdict { /* the host zeroes it */
  uint32_t struct_size;
  uint32_t failure_class;
  uint32_t retry;        /* 1 = another attempt */
  uint32_t counts;       /* 1 = this retry counts against max_retries */
  uint32_t exclude_node; /* 1 = keep the next attempts off the failed node */
  uint32_t reserved;
  int64_t backoff_ns, exclude_ttl_ns;
  char reason[64];  /* CamelCase: "CudaOutOfMemory" */
  char text[448];   /* for the person: what it was and why it is (not) retried */
} cox_fault_verdict;
#define COX_EXT_FAULT "cox.fault/1"
typedef struct cox_fault {
  uint32_t struct_size, reserved;
  int32_t (*judge)(void *self, const cox_failure *, cox_fault_verdict *out,
                   cox_error *); /* [cycle] */
} cox_fault;

/* Metrics and events leave the framework here. May block; cannot delay a cycle. */
enum { COX_GAUGE = 0, COX_COUNTER };
typedef struct cox_samples {
  uint32_t struct_size, count;
  const cox_str *name, *help;   /* Prometheus names, unit in the name */
  const uint32_t *kind;         /* COX_GAUGE.. */
  const double *value;          /* counters: the total so far */
  const uint32_t *label_begin;  /* [count + 1] into the next two */
  const cox_str *label_key, *label_value;
} cox_samples;
typedef struct cox_targets { /* endpoints of running jobs' own metrics (S121-S126) */
  uint32_t struct_size, count;
  const cox_str *address, *path; /* "host:port" */
  const uint32_t *label_begin;
  const cox_str *label_key, *label_value; /* the nine of S123, then role and rank */
} cox_targets;
#define COX_EXT_MONITOR "cox.monitor/1"
typedef struct cox_monitor {
  uint32_t struct_size, reserved;
  int32_t (*observe)(void *self, const cox_samples *, const cox_targets *,
                     cox_error *); /* [observer] */
} cox_monitor;

/* ---- The plugin itself. ---- */
typedef struct cox_plugin {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  const char *id;            /* reverse DNS: "io.coxswain.quota-tree" */
  const char *version, *summary;
  const char *config_schema; /* JSON Schema, draft 7 */
  int32_t (*create)(const cox_host *, void **self, cox_error *); /* [load] */
  void (*destroy)(void *self);                                   /* [load] */
  const void *(*extension)(void *self, const char *ext_id);      /* [load] NULL = not offered */
  const char *(*reason)(void *self, cox_verdict);                /* [any] static text of a code */
} cox_plugin;

/* The sole export. */
__attribute__((visibility("default"))) const cox_plugin *cox_plugin_entry(void);

#ifdef __cplusplus
}
#endif
#endif /* COX_PLUGIN_H */
