#include "spec/validate.hpp"

#include "spec/rules.hpp"

namespace cox::spec {

Verdict Validate(const TrainingJob& job, const Site& site, const Submitter& who) {
  const Case c{job, site, who};
  Verdict verdict;
  CheckIdentity(c, verdict);
  CheckScheduling(c, verdict);
  CheckJobNodePolicy(c, verdict);
  CheckEnvironment(c, verdict);
  CheckMounts(c, verdict);
  CheckRay(c, verdict);
  CheckFailure(c, verdict);
  CheckMonitoring(c, verdict);
  return verdict;
}

std::string Finding::Line() const {
  return path + ": " + text + (rule.empty() ? "" : " (" + rule + ")");
}

std::string Verdict::ErrorText() const {
  std::string text;
  for (const Finding& error : errors) text += (text.empty() ? "" : "\n") + error.Line();
  return text;
}

}  // namespace cox::spec
