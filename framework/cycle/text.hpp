// The words in which the cycle explains itself to the owner of a job.
#pragma once

#include <string>
#include <vector>

#include "base/resources.hpp"
#include "base/time.hpp"

namespace cox::cycle {

std::string Amount(const Resources& r);                    // "8 GPU, 64 CPU, 512 GiB"
std::string Names(const std::vector<std::string>& names);  // "n1, n2, n3 and 4 more"
std::string Gpus(int64_t milli);                           // "1.5 GPU"
std::string Utc(TimePoint t);                              // "2026-01-31T12:00:00Z"
std::string Count(int64_t n, const std::string& noun);     // "1 node", "2 nodes"

// S5: a text names to its reader only his own tasks, and counts those of others.
std::string TaskFor(const std::string& reader, const std::string& user, const std::string& name);
class TasksFor {
 public:
  explicit TasksFor(const std::string& reader) : reader_(reader) {}
  void Add(const std::string& user, const std::string& name);
  int64_t count() const { return static_cast<int64_t>(own_.size()) + others_; }
  std::string Text() const;  // "a, b", "2 tasks of others", "a and 2 tasks of others"

 private:
  const std::string& reader_;
  std::vector<std::string> own_;
  int64_t others_ = 0;
};

}  // namespace cox::cycle
