// cox-slurm: wires the parts in the order in which they depend on each other, runs the decision
// loop on this thread until SIGTERM, and takes them apart in the opposite order.
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "arguments.hpp"
#include "base/log.hpp"
#include "run/config.hpp"
#include "run/control.hpp"
#include "run/judge.hpp"
#include "run/loop.hpp"
#include "run/metrics.hpp"
#include "run/store.hpp"
#include "slurm/actuator.hpp"
#include "slurm/admission.hpp"
#include "slurm/shared.hpp"
#include "slurm/source.hpp"
#include "slurm/submit_server.hpp"
#include "slurm/wire.hpp"
#include "spec/parse.hpp"

namespace cox::slurm {
namespace {

// slurmctld waits 100 ms for job_submit's answer; later nobody listens any more.
constexpr auto kJudgeTimeout = std::chrono::milliseconds(80);

int Fail(const Error& error) {
  std::fprintf(stderr, "cox-slurm: %s\n", error.text.c_str());
  return 1;
}

Result<std::string> UserName(uint32_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> buffer;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return NotFound("uid " + std::to_string(uid) + ": no such user here");
  return std::string(found->pw_name);
}

// Two daemons on one store would each undo what the other did. The lock goes with the process.
Result<void> LockStateDir(const std::string& dir) {
  const std::string file = dir + "/lock";
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return Unavailable("state folder " + dir + ": " + std::strerror(errno));
  const int lock = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Unavailable(file + ": " + std::strerror(errno));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0)
    return Conflict(dir + ": another cox-slurm uses this state folder");
  return {};
}

class SignalWaiter {  // SIGTERM, SIGINT, SIGHUP arrive on a thread of their own
 public:
  SignalWaiter(run::Loop& loop, Log& log) : thread_([&loop, &log] { Wait(loop, log); }) {}
  ~SignalWaiter() {
    pthread_kill(thread_.native_handle(), SIGUSR1);  // ends the wait
    thread_.join();
  }

  static void Block() {
    const sigset_t signals = Signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }

 private:
  static sigset_t Signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, one);
    return signals;
  }

  static void Wait(run::Loop& loop, Log& log) {
    const sigset_t signals = Signals();
    for (int got = 0; sigwait(&signals, &got) == 0;) {
      if (got != SIGHUP) return loop.Stop();
      log.Info("SIGHUP: reading the site file again");
      loop.Ask(run::ReloadRequest{[](const Result<std::string>&) {}});
    }
  }

  std::thread thread_;
};

// Starts the source as soon as slurmctld answers for the first time.
class Starter {
 public:
  Starter(SlurmSource& source, DeltaSink& sink, Log& log)
      : thread_([this, &source, &sink, &log] { Try(source, sink, log); }) {}
  ~Starter() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }

 private:
  void Try(SlurmSource& source, DeltaSink& sink, Log& log) {
    for (bool said = false;; said = true) {
      const auto started = source.Start(sink);
      if (started) return log.Info("slurmctld answers");
      if (!said)
        log.Warn("slurmctld does not answer yet; trying again", {{"error", started.error().text}});
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; })) return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

// No answer ("") makes job_submit accept the job held; it is judged when it is seen in the queue.
std::string Answer(const std::string& line, const Shared& shared, SlurmSource& source,
                   const AskJudge& judge, Log& log) {
  const auto question = ParseQuestion(line);
  if (!question) {
    log.Warn("a question that cannot be read", {{"error", question.error().text}});
    return "";
  }
  source.Kick();
  if (question->op == "kick") return DoneLine();
  const auto user = UserName(question->record.uid);
  if (!user) return RejectLine("cox: " + user.error().text);
  auto answer = AnswerSubmission(*question, *user, *shared.site(), judge);
  if (answer) return *answer;
  log.Warn("submission not judged in time, held for later",
           {{"user", *user}, {"error", answer.error().text}});
  return "";
}

Result<std::string> LogPath(Api& api, const model::Task& task) {
  uint32_t id = 0;
  const std::string& text = task.native_id;
  if (std::from_chars(text.data(), text.data() + text.size(), id).ec != std::errc())
    return NotFound("task " + task.name + " has no Slurm job yet");
  auto record = api.LoadJob(id);
  if (!record) return record.error();
  if (record->output.empty())
    return NotFound("job " + text + " is interactive; its output is where it was started");
  return record->output;
}

Result<std::string> ReadFile(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) return NotFound("site file " + file + ": " + std::strerror(errno));
  return std::move(text).str();
}

struct Loaded {
  Settings settings;
  run::Config config;
};

Result<Loaded> Load(const Arguments& arguments) {
  auto text = ReadFile(arguments.config);
  if (!text) return text.error();
  const auto site = spec::ParseSite(*text, arguments.config);
  if (!site) return site.error();
  auto settings = ParseSettings(site->adapter_json, site->adapter_position);
  if (!settings) return settings.error();
  if (!arguments.state_dir.empty()) settings->state_dir = arguments.state_dir;
  host::Options options;
  options.plugin_directory = settings->plugin_dir;
  auto config = run::MakeConfig(std::move(*text), arguments.config, options);
  if (!config) return config.error();
  return Loaded{std::move(*settings), std::move(*config)};
}

Result<void> Serve(const Arguments& arguments, const Loaded& loaded, Log& log) {
  const Settings& settings = loaded.settings;
  auto api = Connect(settings.slurm_conf);
  if (!api) return api.error();
  const std::string store_file = settings.state_dir + "/cox.db";
  auto store = run::Store::Open(store_file);
  if (!store) return store.error();

  const SystemClock clock;
  Shared shared(loaded.config.site);
  SlurmActuator actuator({api->get(), &shared, &clock, &log, settings.verify});
  SlurmSource source({api->get(), &shared, &clock, &log, settings.poll});

  run::LoopParts parts;
  parts.clock = &clock;
  parts.store = store->get();
  parts.actuator = &actuator;
  parts.log = &log;
  parts.config = loaded.config;
  parts.reload = [&arguments, &shared]() -> Result<run::Config> {
    auto fresh = Load(arguments);
    if (!fresh) return fresh.error();
    shared.Use(fresh->config.site);
    return fresh->config;
  };
  auto loop = run::Loop::Create(std::move(parts));
  if (!loop) return loop.error();
  const run::Observer observer([&loop] { return (*loop)->published(); }, std::chrono::seconds(1));

  run::ControlOptions control_options;
  control_options.socket = settings.control_socket;
  control_options.store_file = store_file;
  control_options.clock = &clock;
  control_options.log_path = [&api](const model::Task& task, int64_t, const std::string&) {
    return LogPath(**api, task);
  };
  auto control = run::ControlServer::Start(control_options, **loop);
  if (!control) return control.error();

  const run::Judge judge([&loop](run::JudgeRequest request) { (*loop)->Ask(std::move(request)); },
                         kJudgeTimeout);
  const AskJudge ask = [&judge](const std::string& user,
                                const spec::TrainingJob& job) -> Result<run::Judgement> {
    run::Judgement judgement = judge.Check(user, job);
    if (!judgement.unavailable.empty()) return Unavailable(judgement.unavailable);
    return judgement;
  };
  auto submissions = SubmitServer::Start(
      {settings.submit_socket,
       [&](const std::string& line) { return Answer(line, shared, source, ask, log); }, &log});
  if (!submissions) return submissions.error();

  actuator.Start((*loop)->sink());
  {
    const Starter starter(source, (*loop)->sink(), log);
    const SignalWaiter signals(**loop, log);
    log.Info("started", {{"site", arguments.config}, {"state", settings.state_dir}});
    (*loop)->Run();
    submissions->reset();
  }
  source.Stop();  // after the starter, which may just have started it
  actuator.Stop();
  log.Info("stopped; jobs go on");
  return {};
}

int Main(int argc, char** argv) {
  auto arguments = ParseArguments(argc, argv);
  if (!arguments) return Fail(arguments.error());
  // A reload must find the file again when the daemon has gone to "/".
  arguments->config = std::filesystem::absolute(arguments->config).string();
  if (arguments->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  auto loaded = Load(*arguments);
  if (!loaded) return Fail(loaded.error());
  if (auto locked = LockStateDir(loaded->settings.state_dir); !locked) return Fail(locked.error());
  const auto level = arguments->debug ? Log::Level::kDebug : Log::Level::kInfo;
  if (!arguments->foreground && daemon(/*nochdir=*/0, /*noclose=*/0) != 0)
    return Fail(Unavailable(std::string("going to the background: ") + std::strerror(errno)));
  SignalWaiter::Block();
  std::optional<Log> log;
  if (arguments->foreground) {
    log.emplace("cox-slurm", level);
  } else {
    log.emplace("cox-slurm", level, loaded->settings.state_dir + "/cox-slurm.log");
  }
  if (auto served = Serve(*arguments, *loaded, *log); !served) {
    log->Error("cannot serve", {{"error", served.error().text}});
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace cox::slurm

int main(int argc, char** argv) {
  return cox::slurm::Main(argc, argv);
}
