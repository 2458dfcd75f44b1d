/* What the contract needs to know from outside: Slurm's record of the job, addresses, a free port.
 * Every call runs as the user, in srun or in slurmstepd, and asks slurmctld at most once. */
#ifndef COX_SLURM_SPANK_LOOKUP_H
#define COX_SLURM_SPANK_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

enum { kAddressMax = 256, kUuidMax = 37, kWordMax = 512 };

/* A managed job's record; its admin comment is "cox:<uuid> WORD... [{json}]", and a word may be
 * NAME=VALUE with VALUE percent-encoded (submit_protocol.md). */
struct cox_record {
  char uuid[kUuidMax];
  uint32_t restarts;
  char *nodes, *words; /* from malloc */
};

/* False when there is no such job, it is not a managed one, or slurmctld does not answer. */
bool cox_load_record(uint32_t job, struct cox_record* out);
void cox_free_record(struct cox_record* record);
bool cox_record_word(const struct cox_record* record, const char* name, char out[kWordMax]);

/* The NodeAddr of the list's first node (S60): it is what Slurm itself reaches the node by, while
 * its name need not resolve. `count` gets the number of nodes. */
bool cox_first_node_address(const char* nodes, char out[kAddressMax], uint32_t* count);

/* Index in job_nodes of the step's node `index`; -1 when it is not there. */
int cox_rank(const char* job_nodes, const char* step_nodes, uint32_t index);

/* 20000..31999, other for jobs of neighbouring ids (S61); cox_free_port tries to bind on this host
 * and returns 0 when nothing is free. */
uint32_t cox_first_port(uint32_t job);
uint32_t cox_free_port(uint32_t job);

#endif
