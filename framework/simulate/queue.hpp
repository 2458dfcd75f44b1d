// The jobs that wait, as far as a decision must see them. A trace has thousands of equal ones in
// line: same owner, same size, same wishes. When the first of them cannot start, none of them can;
// so of equal jobs only the first few are put into the snapshot, and a cycle costs what there is to
// tell apart, not what waits (decision 0083).
//
// Promises: a job that is not shown is behind `few` equal ones that are. A decision that served all
// the shown jobs of a line would have served more: then More() shows more, and it must be made
// anew. Owner: one Engine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/decision.hpp"
#include "model/snapshot.hpp"

namespace cox::simulate {

class Queue {
 public:
  // `shown` is the snapshot's; rows by id. `few` 0 = all are shown.
  Queue(std::vector<model::PendingJob>& shown, size_t few) : shown_(shown), few_(few) {}

  void Put(model::PendingJob row);
  void Drop(TaskId id);  // no effect when it does not wait
  size_t size() const { return size_; }

  // Is there a line of which `made` starts or nominates every job that is shown, and not all are?
  // Then twice as many are.
  bool More(const model::Decision& made);

 private:
  struct Line {  // equal jobs
    std::map<uint64_t, model::PendingJob> hidden;
    size_t shown = 0;
  };
  void Show(Line& line, size_t count);

  std::vector<model::PendingJob>& shown_;
  const size_t few_;
  std::unordered_map<std::string, Line> lines_;  // references into it stay valid
  std::unordered_map<uint64_t, Line*> line_of_;  // of the shown jobs
  size_t size_ = 0;
};

}  // namespace cox::simulate
