/* The environment contract (S60..S65): what every task of a managed job finds in its environment.
 *
 * The values of the job as a whole (MASTER_ADDR, WORLD_SIZE, TASK_UUID, X_..., ...) are made once:
 * by the batch step on the first node, or by srun where there is no batch step. They travel as
 * ordinary variables, and once more as SLURM_COX_<name>, because --export=NONE lets only SLURM_*
 * through. Steps add what is missing and their own RANK; what the batch script exported stays.
 * Jobs of partitions that Coxswain does not manage have no SLURM_COX_ROOT_UUID and see nothing. */
#ifndef COX_SLURM_SPANK_CONTRACT_H
#define COX_SLURM_SPANK_CONTRACT_H

#include <slurm/spank.h>

/* sbatch, salloc and a first srun make a new job: the variables and the options of the managed job
 * that they may run in must not get into it. */
void cox_forget_outer_job(spank_context_t context);

/* They return what SPANK takes: 0, or -1 after a slurm_error that names the reason. Those
 * of a batch step do nothing in other steps, and the other way round. */
int cox_contract_of_srun(spank_t spank);
int cox_contract_of_batch_step(spank_t spank);
int cox_contract_of_batch_task(spank_t spank);
int cox_contract_of_step(spank_t spank);

#endif
