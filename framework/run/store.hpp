// What must survive a restart, in one SQLite file (WAL, synchronous=FULL; decision 0040): tasks
// with their attempts, events, node policies, a few numbers. It is the truth about what was
// decided; the batch system is the truth about what runs.
//
// Store: owned by the loop, decision thread only. StoreReader: a second connection for the
// control server's thread; WAL lets it read while the loop writes.
//
// Promises: Save() is one transaction, on disk when it returns, or nothing of it. A process killed
// at any instruction leaves the last whole transaction. A full disk is an Unavailable error and
// Save() may be called again. A file that is not ours or is damaged is refused by Open(), naming
// it; nothing is ever repaired by dropping data.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "model/event.hpp"
#include "model/snapshot.hpp"
#include "model/task.hpp"
#include "spec/site.hpp"

namespace cox::run {

// Everything in the file, as a start finds it. Events stay on disk.
struct Stored {
  std::vector<model::Task> tasks;  // by id, ended ones too
  std::vector<spec::NodePolicy> policies;
  std::vector<model::Nomination> nominations;
  uint64_t next_task = 1;
  uint64_t next_policy = 1;
  uint64_t starts = 0;  // how often this file has been opened by a loop, this time included
};

// What one turn of the loop changed. Merging a later batch into an earlier one that could not be
// saved loses nothing: tasks and policies are whole records, events are appended.
struct Batch {
  std::map<uint64_t, std::shared_ptr<const model::Task>> tasks;
  std::vector<model::TaskEvent> events;
  std::vector<TaskId> deleted_tasks;  // with their events
  std::map<std::string, spec::NodePolicy> policies;
  std::vector<std::string> deleted_policies;
  std::vector<model::Nomination> nominations;
  bool nominations_changed = false;
  uint64_t next_task = 0, next_policy = 0;  // 0 = unchanged

  bool empty() const {
    return tasks.empty() && events.empty() && deleted_tasks.empty() && policies.empty() &&
           deleted_policies.empty() && !nominations_changed;
  }
};

class Store {
 public:
  // Creates the file when there is none (mode 0600: records hold hidden variables).
  static Result<std::unique_ptr<Store>> Open(const std::string& file);
  ~Store();

  // Reads everything and counts one more start, durably.
  Result<Stored> Load();
  Result<void> Save(const Batch& batch);

 private:
  struct Database;
  explicit Store(std::unique_ptr<Database> db);
  std::unique_ptr<Database> db_;
};

class StoreReader {
 public:
  static Result<std::unique_ptr<StoreReader>> Open(const std::string& file);
  ~StoreReader();

  // Of one task, oldest first.
  Result<std::vector<model::TaskEvent>> Events(TaskId task);
  // Of all tasks: those with a sequence number above `after`, oldest first, at most `limit`.
  struct Numbered {
    uint64_t sequence = 0;
    model::TaskEvent event;
  };
  Result<std::vector<Numbered>> EventsAfter(uint64_t after, int limit);

 private:
  struct Database;
  explicit StoreReader(std::unique_ptr<Database> db);
  std::unique_ptr<Database> db_;
};

}  // namespace cox::run
