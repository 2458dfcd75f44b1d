#include "run/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "run/json.hpp"
#include "run/sqlite.hpp"

namespace cox::run {
namespace {

constexpr int kSchema = 1;
constexpr int kOurFile = 0x636f7873;  // "coxs": application_id of our files

constexpr char kTables[] = R"sql(
CREATE TABLE tasks(id INTEGER PRIMARY KEY, root_uuid TEXT NOT NULL, name TEXT NOT NULL,
                   user TEXT NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL,
                   record TEXT NOT NULL);
CREATE TABLE events(sequence INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL,
                    record TEXT NOT NULL);
CREATE INDEX events_of_task ON events(task);
CREATE TABLE node_policies(id TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
)sql";

int Pragma(Connection& c, const char* sql) {
  Statement s(c, sql);
  return s.Row() ? static_cast<int>(s.Number(0)) : -1;
}

Result<void> CheckIsOurs(Connection& c) {
  Statement s(c, "PRAGMA quick_check(1)");
  if (!s.Row()) return c.Failed("check");
  if (s.Text(0) != "ok") {
    return FailedPrecondition("store " + c.file() + ": damaged: " + s.Text(0) +
                              "; restore it from a backup, or move it away to start with an empty "
                              "one");
  }
  const int application = Pragma(c, "PRAGMA application_id");
  if (application != kOurFile) {
    return FailedPrecondition("store " + c.file() +
                              ": is a database of another program; name another file");
  }
  const int schema = Pragma(c, "PRAGMA user_version");
  if (schema != kSchema) {
    return FailedPrecondition("store " + c.file() + ": has schema " + std::to_string(schema) +
                              ", this program knows " + std::to_string(kSchema) +
                              "; use the version that wrote it");
  }
  return {};
}

bool CreateTables(Connection& c) {
  const std::string mark = "PRAGMA application_id=" + std::to_string(kOurFile) +
                           ";PRAGMA user_version=" + std::to_string(kSchema) + ";";
  return c.Do("BEGIN IMMEDIATE") && c.Do(kTables) && c.Do(mark.c_str()) && c.Do("COMMIT");
}

bool IsEmpty(Connection& c) {
  Statement s(c, "SELECT count(*) FROM sqlite_master");
  return s.Row() && s.Number(0) == 0;
}

bool SetMeta(Connection& c, const std::string& key, const std::string& value) {
  return Statement(c, "INSERT INTO meta VALUES(?1,?2) ON CONFLICT(key) DO UPDATE SET value=?2")
      .Bind(1, key)
      .Bind(2, value)
      .Run();
}

}  // namespace

struct Store::Database : Connection {
  ~Database() {
    if (lock >= 0) ::close(lock);
  }
  // Two daemons on one store would decide twice. Why a file of its own: closing any descriptor of
  // the database would drop SQLite's locks on it.
  Result<void> Lock(const std::string& path) {
    lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return Unavailable("store " + path + ": " + std::strerror(errno));
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return {};
    return FailedPrecondition("store " + path + ": in use by another daemon; stop that one first");
  }
  Result<void> IsThere() const {
    if (!HasMoved()) return {};
    return Unavailable("store " + file() +
                       ": was moved or removed while in use; put it back: a daemon that starts "
                       "without it does not know the jobs it had taken up");
  }
  int lock = -1;
};

Store::Store(std::unique_ptr<Database> db) : db_(std::move(db)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::Open(const std::string& file) {
  // Made by hand first: SQLite would make it readable by everybody.
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Unavailable("store " + file + ": " + std::strerror(errno));
  ::close(fd);

  auto db = std::make_unique<Database>();
  if (auto locked = db->Lock(file + ".lock"); !locked) return locked.error();
  if (auto opened = db->Open(file, Connection::Mode::kReadWrite); !opened) return opened.error();
  if (IsEmpty(*db) && !CreateTables(*db)) return db->Failed("create tables");
  if (auto ours = CheckIsOurs(*db); !ours) return ours.error();
  if (!db->Do("PRAGMA journal_mode=WAL") || !db->Do("PRAGMA synchronous=FULL") ||
      !db->Do("PRAGMA wal_autocheckpoint=1000")) {
    return db->Failed("set up");
  }
  return std::unique_ptr<Store>(new Store(std::move(db)));
}

Result<Stored> Store::Load() {
  Stored stored;
  {
    Statement s(*db_, "SELECT id, record FROM tasks ORDER BY id");
    while (s.Row()) {
      auto json = ParseJson(s.Text(1), "task");
      auto task = json ? TaskFrom(*json) : Result<model::Task>(json.error());
      if (!task) {
        return FailedPrecondition("store " + db_->file() + ": task " + std::to_string(s.Number(0)) +
                                  " cannot be read: " + task.error().text);
      }
      stored.tasks.push_back(*std::move(task));
    }
    if (!s.ok()) return db_->Failed("read tasks");
  }
  {
    Statement s(*db_, "SELECT id, record FROM node_policies ORDER BY id");
    while (s.Row()) {
      auto json = ParseJson(s.Text(1), "node policy");
      auto policy = json ? PolicyFrom(*json) : Result<spec::NodePolicy>(json.error());
      if (!policy) {
        return FailedPrecondition("store " + db_->file() + ": node policy " + s.Text(0) +
                                  " cannot be read: " + policy.error().text);
      }
      stored.policies.push_back(*std::move(policy));
    }
    if (!s.ok()) return db_->Failed("read node policies");
  }
  {
    Statement s(*db_, "SELECT key, value FROM meta");
    while (s.Row()) {
      const std::string key = s.Text(0);
      if (key == "nominations") {
        auto json = ParseJson(s.Text(1), key);
        auto list =
            json ? NominationsFrom(*json) : Result<std::vector<model::Nomination>>(json.error());
        if (list) stored.nominations = *std::move(list);  // else: the next cycle makes them anew
      } else {
        const uint64_t number = std::strtoull(s.Text(1).c_str(), nullptr, 10);
        if (key == "next_task") stored.next_task = number;
        if (key == "next_policy") stored.next_policy = number;
        if (key == "starts") stored.starts = number;
      }
    }
    if (!s.ok()) return db_->Failed("read numbers");
  }
  ++stored.starts;
  if (!SetMeta(*db_, "starts", std::to_string(stored.starts)))
    return db_->Failed("count the start");
  return stored;
}

Result<void> Store::Save(const Batch& batch) {
  Connection& c = *db_;
  if (auto there = db_->IsThere(); !there) return there.error();
  const auto write = [&] {
    {
      Statement s(c, "INSERT OR REPLACE INTO tasks VALUES(?1,?2,?3,?4,?5,?6,?7)");
      for (const auto& [id, task] : batch.tasks) {
        s.Bind(1, id).Bind(2, task->root_uuid).Bind(3, task->name).Bind(4, task->owner.user);
        s.Bind(5, std::string(model::Name(task->state))).Bind(6, task->version);
        if (!s.Bind(7, Dump(ToJson(*task))).Run()) return false;
      }
    }
    {
      Statement s(c, "INSERT INTO events(task,record) VALUES(?1,?2)");
      for (const model::TaskEvent& event : batch.events) {
        if (!s.Bind(1, event.task.value).Bind(2, Dump(ToJson(event))).Run()) return false;
      }
    }
    for (const char* sql : {"DELETE FROM tasks WHERE id=?1", "DELETE FROM events WHERE task=?1"}) {
      Statement s(c, sql);
      for (const TaskId task : batch.deleted_tasks) {
        if (!s.Bind(1, task.value).Run()) return false;
      }
    }
    {
      Statement s(c, "INSERT OR REPLACE INTO node_policies VALUES(?1,?2)");
      for (const auto& [id, policy] : batch.policies) {
        if (!s.Bind(1, id).Bind(2, Dump(ToJson(policy))).Run()) return false;
      }
    }
    {
      Statement s(c, "DELETE FROM node_policies WHERE id=?1");
      for (const std::string& id : batch.deleted_policies) {
        if (!s.Bind(1, id).Run()) return false;
      }
    }
    if (batch.nominations_changed && !SetMeta(c, "nominations", Dump(ToJson(batch.nominations)))) {
      return false;
    }
    if (batch.next_task != 0 && !SetMeta(c, "next_task", std::to_string(batch.next_task))) {
      return false;
    }
    return batch.next_policy == 0 || SetMeta(c, "next_policy", std::to_string(batch.next_policy));
  };
  if (!c.Do("BEGIN IMMEDIATE")) return c.Failed("begin");
  if (write() && c.Do("COMMIT")) return {};
  Error error = c.Failed("save");
  c.Do("ROLLBACK");  // fails harmlessly where SQLite has rolled back by itself
  return error;
}

struct StoreReader::Database : Connection {};

StoreReader::StoreReader(std::unique_ptr<Database> db) : db_(std::move(db)) {}
StoreReader::~StoreReader() = default;

Result<std::unique_ptr<StoreReader>> StoreReader::Open(const std::string& file) {
  auto db = std::make_unique<Database>();
  if (auto opened = db->Open(file, Connection::Mode::kReadOnly); !opened) return opened.error();
  return std::unique_ptr<StoreReader>(new StoreReader(std::move(db)));
}

Result<std::vector<model::TaskEvent>> StoreReader::Events(TaskId task) {
  Statement s(*db_, "SELECT record FROM events WHERE task=?1 ORDER BY sequence");
  s.Bind(1, task.value);
  std::vector<model::TaskEvent> events;
  while (s.Row()) {
    auto json = ParseJson(s.Text(0), "event");
    auto event = json ? EventFrom(*json) : Result<model::TaskEvent>(json.error());
    if (!event) return event.error();
    events.push_back(*std::move(event));
  }
  if (!s.ok()) return db_->Failed("read events");
  return events;
}

Result<std::vector<StoreReader::Numbered>> StoreReader::EventsAfter(uint64_t after, int limit) {
  Statement s(*db_,
              "SELECT sequence, record FROM events WHERE sequence>?1 ORDER BY sequence LIMIT ?2");
  s.Bind(1, after).Bind(2, static_cast<uint64_t>(limit));
  std::vector<Numbered> events;
  while (s.Row()) {
    auto json = ParseJson(s.Text(1), "event");
    auto event = json ? EventFrom(*json) : Result<model::TaskEvent>(json.error());
    if (!event) return event.error();
    events.push_back({s.Number(0), *std::move(event)});
  }
  if (!s.ok()) return db_->Failed("read events");
  return events;
}

}  // namespace cox::run
