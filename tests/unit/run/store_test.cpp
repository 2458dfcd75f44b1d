#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "run/json.hpp"
#include "unit/run/rig.hpp"

namespace cox::run::test {
namespace {

using testing::HasSubstr;

std::shared_ptr<const model::Task> ATask(uint64_t id) {
  model::Task task;
  task.id = TaskId{id};
  task.root_uuid = "root-" + std::to_string(id);
  task.name = "llama-" + std::to_string(id);
  task.owner = {"alice", "nlp", "lab"};
  task.job = Job();
  task.state = State::kRunning;
  task.version = 3;
  task.deadline = kNever;
  task.placement = model::Placement{};
  task.placement->candidate.roles = {{model::Role::kMaster, 1, "h100.1g", 8, {1, 2, 3}, "h100"}};
  task.placement->replicas = {{model::Role::kMaster, 0, "n1", {1, 2, 3}}};
  task.pending_exit = model::Exit{};
  task.pending_exit->cause = model::Cause::kSpotEvicted;
  task.pending_exit->log_tail = "caf\xc3\xa9 \x01 \"quoted\"\n";
  task.attempts.resize(1);
  task.attempts[0].failure_class = "Infra";
  task.exclusions = {{"n9", FromSeconds(99), "bad"}};
  return std::make_shared<const model::Task>(std::move(task));
}

model::TaskEvent AnEvent(uint64_t task, uint64_t version) {
  model::TaskEvent event;
  event.task = TaskId{task};
  event.version = version;
  event.at = FromSeconds(5);
  event.reason = "Admitted";
  return event;
}

TEST(Store, GivesBackWhatWasSaved) {
  TempDir dir;
  Batch batch;
  batch.tasks[7] = ATask(7);
  batch.events = {AnEvent(7, 1), AnEvent(7, 2), AnEvent(8, 1)};
  spec::NodePolicy policy;
  policy.id = "np-1";
  policy.node_names = {"n1"};
  policy.type = spec::NodePolicyType::kNodeIn;
  batch.policies["np-1"] = policy;
  batch.nominations.resize(1);
  batch.nominations[0].task = TaskId{7};
  batch.nominations_changed = true;
  batch.next_task = 9;
  batch.next_policy = 2;
  {
    auto store = Store::Open(dir / "a.db");
    ASSERT_TRUE(store) << store.error().text;
    ASSERT_TRUE((*store)->Load());
    ASSERT_TRUE((*store)->Save(batch));
  }
  auto store = Store::Open(dir / "a.db");
  ASSERT_TRUE(store);
  auto stored = (*store)->Load();
  ASSERT_TRUE(stored) << stored.error().text;
  ASSERT_EQ(stored->tasks.size(), 1u);
  EXPECT_EQ(ToJson(stored->tasks[0]), ToJson(*batch.tasks[7]));
  EXPECT_EQ(stored->tasks[0].placement, batch.tasks[7]->placement);
  EXPECT_EQ(stored->policies.at(0).type, spec::NodePolicyType::kNodeIn);
  EXPECT_EQ(stored->nominations, batch.nominations);
  EXPECT_EQ(stored->next_task, 9u);
  EXPECT_EQ(stored->next_policy, 2u);
  EXPECT_EQ(stored->starts, 2u);

  auto reader = StoreReader::Open(dir / "a.db");
  ASSERT_TRUE(reader) << reader.error().text;
  auto events = (*reader)->Events(TaskId{7});
  ASSERT_TRUE(events);
  EXPECT_EQ(*events, (std::vector<model::TaskEvent>{AnEvent(7, 1), AnEvent(7, 2)}));
  auto page = (*reader)->EventsAfter(1, 1);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->size(), 1u);
  EXPECT_EQ((*page)[0].sequence, 2u);

  Batch drop;
  drop.deleted_policies = {"np-1"};
  ASSERT_TRUE((*store)->Save(drop));
  EXPECT_TRUE((*store)->Load()->policies.empty());
}

TEST(Store, KeepsALogTailThatIsNotText) {
  TempDir dir;
  auto store = Store::Open(dir / "a.db");
  ASSERT_TRUE(store);
  model::Task task = *ATask(1);
  task.pending_exit->log_tail = "bad \xff\xfe bytes";
  Batch batch;
  batch.tasks[1] = std::make_shared<const model::Task>(task);
  ASSERT_TRUE((*store)->Save(batch));
  EXPECT_EQ((*store)->Load()->tasks.at(0).pending_exit->log_tail,
            "bad \xef\xbf\xbd\xef\xbf\xbd bytes");
}

TEST(Store, IsReadableByItsOwnerOnly) {
  TempDir dir;
  ASSERT_TRUE(Store::Open(dir / "a.db"));
  struct stat status {};
  ASSERT_EQ(::stat((dir / "a.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(Store, RefusesASecondDaemonOnTheSameFile) {
  TempDir dir;
  auto first = Store::Open(dir / "a.db");
  ASSERT_TRUE(first);
  auto second = Store::Open(dir / "a.db");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text, HasSubstr("in use by another daemon"));
}

TEST(Store, RefusesADamagedFileByName) {
  TempDir dir;
  std::ofstream(dir / "bad.db") << "this is not a database, but it is long enough to look at. "
                                << std::string(8192, 'x');
  auto store = Store::Open(dir / "bad.db");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(store.error().text, HasSubstr(dir / "bad.db"));
  EXPECT_THAT(store.error().text, HasSubstr("restore it from a backup"));
}

TEST(Store, RefusesAFileWithAPageOverwritten) {
  TempDir dir;
  {
    auto store = Store::Open(dir / "a.db");
    ASSERT_TRUE(store);
    Batch batch;
    for (uint64_t i = 1; i <= 50; ++i) batch.tasks[i] = ATask(i);
    ASSERT_TRUE((*store)->Save(batch));
  }
  {
    std::fstream file(dir / "a.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(20000, '\x5a');
  }
  auto store = Store::Open(dir / "a.db");
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().text, HasSubstr("a.db"));
}

void Execute(const std::string& file, const char* sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

TEST(Store, RefusesTheDatabaseOfAnotherProgramAndOfAnotherSchema) {
  TempDir dir;
  Execute(dir / "other.db", "CREATE TABLE t(x)");
  EXPECT_THAT(Store::Open(dir / "other.db").error().text, HasSubstr("another program"));
  ASSERT_TRUE(Store::Open(dir / "new.db"));
  Execute(dir / "new.db", "PRAGMA user_version=99");
  EXPECT_THAT(Store::Open(dir / "new.db").error().text, HasSubstr("has schema 99"));
}

TEST(Store, NamesTheRecordThatCannotBeRead) {
  TempDir dir;
  ASSERT_TRUE(Store::Open(dir / "a.db"));
  Execute(dir / "a.db",
          "INSERT INTO tasks VALUES(5,'u','n','a','Running',1,'{\"state\": \"Runing\"}')");
  auto store = Store::Open(dir / "a.db");
  ASSERT_TRUE(store);
  auto stored = (*store)->Load();
  ASSERT_FALSE(stored);
  EXPECT_THAT(stored.error().text, HasSubstr("task 5"));
  EXPECT_THAT(stored.error().text, HasSubstr("Runing"));
}

TEST(Store, RefusesAFolderThatIsNotThere) {
  EXPECT_THAT(Store::Open("/nonexistent/cox.db").error().text, HasSubstr("/nonexistent/cox.db"));
}

// A child saves batch after batch, each with task and event of the same number, and is killed in
// the middle. Whatever is in the file then is whole batches, and all that it had confirmed.
TEST(Regress, NothingIsSavedIntoAFileThatWasRemoved) {
  TempDir dir;
  const std::string file = dir / "cox.db";
  auto store = Store::Open(file);
  ASSERT_TRUE(store);
  Batch batch;
  batch.tasks[7] = ATask(7);
  ASSERT_TRUE((*store)->Save(batch));
  std::filesystem::rename(file, dir / "elsewhere.db");
  const auto lost = (*store)->Save(batch);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().text, HasSubstr("was moved or removed while in use"));
  std::filesystem::rename(dir / "elsewhere.db", file);
  EXPECT_TRUE((*store)->Save(batch));
}

TEST(Store, AKilledProcessLeavesTheLastWholeTransaction) {
  for (int round = 0; round < 5; ++round) {
    TempDir dir;
    int confirmed[2];
    ASSERT_EQ(::pipe(confirmed), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(confirmed[0]);
      auto store = Store::Open(dir / "a.db");
      for (uint64_t i = 1; store; ++i) {
        Batch batch;
        batch.tasks[i] = ATask(i);
        batch.events = {AnEvent(i, 1)};
        batch.next_task = i + 1;
        if (!(*store)->Save(batch)) _exit(1);
        if (::write(confirmed[1], &i, sizeof i) != sizeof i) _exit(1);
      }
      _exit(1);
    }
    ::close(confirmed[1]);
    uint64_t last = 0;
    for (int i = 0; i < 20 + 7 * round; ++i) {
      ASSERT_EQ(::read(confirmed[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (uint64_t more; ::read(confirmed[0], &more, sizeof more) == sizeof more;) last = more;
    ::close(confirmed[0]);

    auto store = Store::Open(dir / "a.db");
    ASSERT_TRUE(store) << store.error().text;
    auto stored = (*store)->Load();
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_GE(stored->tasks.size(), last);
    EXPECT_LE(stored->tasks.size(), last + 1);
    EXPECT_EQ(stored->next_task, stored->tasks.size() + 1);
    auto reader = StoreReader::Open(dir / "a.db");
    EXPECT_EQ((*reader)->EventsAfter(0, 10000)->size(), stored->tasks.size());
  }
}

}  // namespace
}  // namespace cox::run::test
