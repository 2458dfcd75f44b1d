// What job_submit is answered: the user's words made a TrainingJob, judged, and either refused in
// words or accepted with its mark, its environment and the size of its first candidate. Pure but
// for the judge's plugins; never asks slurmctld, which waits for the answer.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "run/judge.hpp"
#include "slurm/wire.hpp"
#include "spec/site.hpp"

namespace cox::slurm {

// run/judge, asked from any thread; Unavailable when the decision thread is too busy to answer.
using AskJudge =
    std::function<Result<run::Judgement>(const std::string& user, const spec::TrainingJob& job)>;

struct Answer {
  bool accepted = false;
  std::string line;  // for the socket
};

// The error means: no answer, so job_submit accepts the job held and it is judged later.
Result<Answer> AnswerSubmission(const Question& question, const std::string& user,
                                const spec::Site& site, const AskJudge& judge);

}  // namespace cox::slurm
