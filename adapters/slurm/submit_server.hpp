// The Unix socket on which job_submit asks (submit_protocol.md), and on which an epilog may say
// {"op":"kick"}. Each of a few threads takes one connection at a time and gives it a second, so a
// peer that hangs costs the others nothing. Only root and this daemon's own user are listened to.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.hpp"
#include "base/result.hpp"

namespace cox::slurm {

struct SubmitServerParts {
  std::string socket;  // a left-over one of a dead daemon is replaced
  // Question line in, answer line out; called by several threads.
  std::function<std::string(const std::string& line)> answer;
  Log* log = nullptr;
};

class SubmitServer {
 public:
  static Result<std::unique_ptr<SubmitServer>> Start(SubmitServerParts parts);
  ~SubmitServer();

 private:
  struct State;
  explicit SubmitServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cox::slurm
