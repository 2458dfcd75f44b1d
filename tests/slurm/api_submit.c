/* Submits a job as the daemon does: through the API, with an admin comment of its own.
 * usage: api_submit PARTITION ADMIN_COMMENT   (prints the job id) */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  slurm_init(NULL);
  char* environment[] = {"PATH=/usr/bin:/bin", NULL};
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  job.partition = argv[1];
  job.admin_comment = argv[2];
  job.name = "api";
  job.script = "#!/bin/bash\nenv\n";
  job.work_dir = "/tmp";
  job.std_out = "/dev/null";
  job.user_id = getuid();
  job.group_id = getgid();
  job.min_nodes = 1;
  job.environment = environment;
  job.env_size = 1;
  submit_response_msg_t* response = NULL;
  if (slurm_submit_batch_job(&job, &response) != SLURM_SUCCESS) {
    fprintf(stderr, "%s\n", slurm_strerror(slurm_get_errno()));
    return 1;
  }
  printf("%u\n", response->job_id);
  slurm_free_submit_response_response_msg(response);
  return 0;
}
