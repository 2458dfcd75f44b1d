/* spank_cox.so: the --cox-* options, and the environment contract (S60..S65) in every task.
 *
 * Loaded by sbatch, srun, salloc, slurmd and slurmstepd (plugstack.conf: required
 * .../spank_cox.so). It holds no policy and no state. Slurm calls the hooks below one at a time in
 * each process. */
#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "contract.h"
#include "options.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char plugin_name[] = "cox";
EXPORT const char plugin_type[] = "spank";
EXPORT const unsigned int plugin_version = SLURM_VERSION_NUMBER;
EXPORT const unsigned int spank_plugin_version = 1;

EXPORT int slurm_spank_init(spank_t spank, int argc, char** argv) {
  (void)argc, (void)argv;
  spank_context_t context = spank_context();
  if (context == S_CTX_ALLOCATOR || context == S_CTX_LOCAL) cox_forget_outer_job(context);
  return cox_register_options(spank);
}

/* In slurmstepd still as root, who may look at nodes even where PrivateData hides them. */
EXPORT int slurm_spank_init_post_opt(spank_t spank, int argc, char** argv) {
  (void)argc, (void)argv;
  return spank_context() == S_CTX_REMOTE ? cox_contract_of_batch_step(spank) : 0;
}

/* In srun, as the user, once the job has its nodes. */
EXPORT int slurm_spank_local_user_init(spank_t spank, int argc, char** argv) {
  (void)argc, (void)argv;
  return cox_contract_of_srun(spank);
}

/* In slurmstepd, as the user, once a step and node, before its tasks are forked. */
EXPORT int slurm_spank_user_init(spank_t spank, int argc, char** argv) {
  (void)argc, (void)argv;
  return cox_contract_of_step(spank);
}

/* In each task, as the user. Slurm tells how often the job was restarted only here. */
EXPORT int slurm_spank_task_init(spank_t spank, int argc, char** argv) {
  (void)argc, (void)argv;
  return cox_contract_of_batch_task(spank);
}
