#include "contract.h"

#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include "lookup.h"

#define OURS "SLURM_COX_"          /* prefix of what travels even with --export=NONE */
#define ROOT_MARK OURS "ROOT_UUID" /* in every managed job, and in no other */
#define JOB_ID_MARK OURS "JOB_ID"

/* The first kFromDaemon come with the submission or from the record; the first kOfJob are the same
 * in every attempt. */
static const char* const kNames[] = {"X_USER_NAME", "X_ORG_NAME",  "X_TENANT_ID", "X_REGION",
                                     "X_CLUSTER",   "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE",
                                     "TASK_UUID",   "RETRY_INDEX"};
enum {
  kFromDaemon = 5,
  kOfJob = 8,
  kNameCount = sizeof kNames / sizeof kNames[0],
  kNameMax = 64,
  kNumberMax = 16
};

/* Where the variables go: the environment of a step's tasks, or srun's own. */
struct place {
  spank_t step; /* NULL: srun's own */
};

/* Points into the environment: good until the same name is put. */
static const char* get(const struct place* place, const char* name) {
  if (place->step == NULL) return getenv(name);
  char** environment = NULL;
  if (spank_get_item(place->step, S_JOB_ENV, &environment) != ESPANK_SUCCESS) return NULL;
  size_t length = strlen(name);
  for (; environment != NULL && *environment != NULL; ++environment)
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;
  return NULL;
}

static bool put(const struct place* place, const char* name, const char* value) {
  bool done = place->step == NULL ? setenv(name, value, 1) == 0
                                  : spank_setenv(place->step, name, value, 1) == ESPANK_SUCCESS;
  if (!done) slurm_error("cox: %s cannot be set in the job's environment", name);
  return done;
}

static bool put_number(const struct place* place, const char* name, uint32_t value) {
  char text[kNumberMax];
  snprintf(text, sizeof text, "%u", value);
  return put(place, name, text);
}

static void marked(const char* name, char out[kNameMax]) {
  snprintf(out, kNameMax, OURS "%s", name);
}

static bool put_twice(const struct place* place, const char* name, const char* value) {
  char mark[kNameMax];
  marked(name, mark);
  return put(place, name, value) && put(place, mark, value);
}

/* The attempt's uuid: the root itself, then uuid v5 of root and the retry number, so that the
 * daemon computes the same without having been asked. */
static bool put_attempt(const struct place* place, const char* root, uint32_t retry) {
  uuid_t space, attempt;
  char text[UUID_STR_LEN], number[kNumberMax];
  if (uuid_parse(root, space) != 0) {
    slurm_error("cox: task uuid '%s' of the job is not a uuid", root);
    return false;
  }
  int length = snprintf(number, sizeof number, "%u", retry);
  uuid_generate_sha1(attempt, space, number, (size_t)length);
  uuid_unparse_lower(retry == 0 ? space : attempt, text);
  return put_twice(place, "TASK_UUID", text) && put_twice(place, "RETRY_INDEX", number);
}

static bool put_master(const struct place* place, const char* nodes, uint32_t port) {
  char address[kAddressMax];
  uint32_t count = 0;
  if (!cox_first_node_address(nodes, address, &count)) {
    slurm_error("cox: no address of the first node of '%s', so ranks could not meet", nodes);
    return false;
  }
  return put(place, "MASTER_ADDR", address) && put_number(place, "MASTER_PORT", port) &&
         put_number(place, "WORLD_SIZE", count);
}

/* Also says which job the variables belong to; a job made inside this one has another id. */
static bool mark_job(const struct place* place, uint32_t job) {
  for (int i = 0; i < kOfJob; ++i) {
    char mark[kNameMax];
    const char* value = get(place, kNames[i]);
    marked(kNames[i], mark);
    if (value != NULL && !put(place, mark, value)) return false;
  }
  return put_number(place, JOB_ID_MARK, job);
}

static bool put_words_of(const struct place* place, const struct cox_record* record) {
  for (int i = 0; i < kFromDaemon; ++i) {
    char value[kWordMax];
    if (cox_record_word(record, kNames[i], value) && !put(place, kNames[i], value)) return false;
  }
  return true;
}

static bool put_contract_of_job(const struct place* place, uint32_t job) {
  const char* nodes = get(place, "SLURM_JOB_NODELIST");
  uint32_t port = cox_free_port(job);
  if (nodes == NULL || port == 0) {
    slurm_error("cox: job %u: %s", job,
                nodes == NULL ? "SLURM_JOB_NODELIST is missing" : "no free port for MASTER_PORT");
    return false;
  }
  if (!put_master(place, nodes, port)) return false;
  if (get(place, kNames[0]) == NULL) { /* the daemon was away at submission */
    struct cox_record record;
    if (cox_load_record(job, &record)) {
      bool done = put_words_of(place, &record);
      cox_free_record(&record);
      if (!done) return false;
    }
  }
  return mark_job(place, job);
}

static bool inherit(const struct place* place) {
  for (int i = 0; i < kNameCount; ++i) {
    char name[kNameMax];
    marked(kNames[i], name);
    const char* value = get(place, kNames[i]) == NULL ? get(place, name) : NULL;
    if (value != NULL && !put(place, kNames[i], value)) return false;
  }
  return true;
}

struct step {
  const char* root; /* uuid of the task; NULL: not a managed job */
  uint32_t job, id, node;
};

static bool know_step(const struct place* place, struct step* out) {
  out->root = get(place, ROOT_MARK);
  if (out->root == NULL ||
      (spank_get_item(place->step, S_JOB_ID, &out->job) == ESPANK_SUCCESS &&
       spank_get_item(place->step, S_JOB_STEPID, &out->id) == ESPANK_SUCCESS &&
       spank_get_item(place->step, S_JOB_NODEID, &out->node) == ESPANK_SUCCESS))
    return true;
  slurm_error("cox: slurmstepd does not tell the job, the step or the node");
  return false;
}

int cox_contract_of_batch_step(spank_t spank) {
  const struct place place = {spank};
  struct step step;
  if (!know_step(&place, &step)) return -1;
  if (step.root == NULL || step.id != SLURM_BATCH_SCRIPT) return 0;
  return put_contract_of_job(&place, step.job) && put_number(&place, "RANK", 0) ? 0 : -1;
}

int cox_contract_of_batch_task(spank_t spank) {
  const struct place place = {spank};
  struct step step;
  if (!know_step(&place, &step)) return -1;
  if (step.root == NULL || step.id != SLURM_BATCH_SCRIPT) return 0;
  const char* restarts = get(&place, "SLURM_RESTART_COUNT");
  return put_attempt(&place, step.root, restarts ? (uint32_t)strtoul(restarts, NULL, 10) : 0) ? 0
                                                                                              : -1;
}

int cox_contract_of_step(spank_t spank) {
  const struct place place = {spank};
  struct step step;
  if (!know_step(&place, &step)) return -1;
  if (step.root == NULL || step.id == SLURM_BATCH_SCRIPT) return 0;
  const char* job_nodes = get(&place, "SLURM_JOB_NODELIST");
  const char* step_nodes = get(&place, "SLURM_STEP_NODELIST");
  int rank = job_nodes && step_nodes ? cox_rank(job_nodes, step_nodes, step.node) : -1;
  if (rank < 0) {
    slurm_error("cox: node %u of step nodes '%s' is not one of the job's nodes '%s'", step.node,
                step_nodes ? step_nodes : "", job_nodes ? job_nodes : "");
    return -1;
  }
  return inherit(&place) && put_number(&place, "RANK", (uint32_t)rank) ? 0 : -1;
}

int cox_contract_of_srun(spank_t spank) {
  const struct place place = {NULL};
  uint32_t job = 0;
  if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS) return 0;
  const char *owner = getenv(JOB_ID_MARK), *environment = getenv("ENVIRONMENT");
  if (owner != NULL && strtoul(owner, NULL, 10) == job) return 0;
  /* Why: thousands of srun in a foreign batch job should not each ask slurmctld once more. */
  if (owner == NULL && environment != NULL && strcmp(environment, "BATCH") == 0) return 0;

  struct cox_record record;
  if (!cox_load_record(job, &record)) return 0; /* not a managed job */
  bool done = put(&place, ROOT_MARK, record.uuid) && put_words_of(&place, &record) &&
              put_master(&place, record.nodes, cox_first_port(job)) &&
              put_attempt(&place, record.uuid, record.restarts) && mark_job(&place, job);
  cox_free_record(&record);
  return done ? 0 : -1;
}

/* Slurm hands options down to steps in variables, and would to jobs made inside a step as well. */
static void forget_options(void) {
  static const char* const kPrefixes[] = {"SLURM_SPANK__SLURM_SPANK_OPTION_cox_",
                                          "_SLURM_SPANK_OPTION_cox_"};
  for (char** entry = environ; *entry != NULL;) {
    size_t length = strcspn(*entry, "=");
    bool option = strncmp(*entry, kPrefixes[0], strlen(kPrefixes[0])) == 0 ||
                  strncmp(*entry, kPrefixes[1], strlen(kPrefixes[1])) == 0;
    char* name = option ? strndup(*entry, length) : NULL;
    if (name != NULL && unsetenv(name) == 0)
      entry = environ; /* it has moved */
    else
      ++entry;
    free(name);
  }
}

void cox_forget_outer_job(spank_context_t context) {
  if (context == S_CTX_LOCAL && getenv("SLURM_JOB_ID") != NULL) return; /* a step of that job */
  forget_options();
  if (getenv(JOB_ID_MARK) == NULL) return;
  for (int i = 0; i < kNameCount; ++i) {
    char name[kNameMax];
    marked(kNames[i], name);
    unsetenv(kNames[i]);
    unsetenv(name);
  }
  unsetenv("RANK");
  unsetenv(ROOT_MARK);
  unsetenv(JOB_ID_MARK);
}
