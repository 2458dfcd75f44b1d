/* The --cox-* options of sbatch, srun and salloc: one table, and a cheap check of each value.
 *
 * Slurm stores what the user gave and carries it to slurmctld (job_submit/cox reads it there), so
 * nothing is kept here: the callbacks fire up to three times and are idempotent because they only
 * look. A bad value is answered at submission with the values that are allowed (S1..S67 name most
 * of them); whether a value fits the site is the daemon's question, not ours. */
#ifndef COX_SLURM_SPANK_OPTIONS_H
#define COX_SLURM_SPANK_OPTIONS_H

#include <slurm/spank.h>

/* In every context, so that slurmstepd knows what the client sends it. */
int cox_register_options(spank_t spank);

#endif
