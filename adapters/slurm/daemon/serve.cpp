#include "serve.hpp"

#include <charconv>
#include <memory>
#include <utility>

#include "base/account.hpp"
#include "base/file.hpp"
#include "run/control.hpp"
#include "run/judge.hpp"
#include "run/loop.hpp"
#include "run/metrics.hpp"
#include "run/recorder.hpp"
#include "run/store.hpp"
#include "slurm/actuator.hpp"
#include "slurm/admission.hpp"
#include "slurm/shared.hpp"
#include "slurm/source.hpp"
#include "slurm/submit_server.hpp"
#include "slurm/unsupported.hpp"
#include "spec/parse.hpp"
#include "threads.hpp"

namespace cox::slurm {
namespace {

constexpr uint64_t kMostRecorded = uint64_t{1} << 30;

std::string ChangeLine(const Question& question, SlurmSource& source) {
  switch (source.Change(question.uuid, question.record.uid, question.op == "hold")) {
    case MayChange::kStarted:
      return RefusedLine("started");
    case MayChange::kNotHis:
      return RefusedLine("not_his");
    case MayChange::kLater:
      return RefusedLine("later");
    case MayChange::kDone:
      break;
  }
  return DoneLine();
}

// No answer ("") makes job_submit accept the job held; it is judged when it is seen in the queue.
std::string AnswerLine(const std::string& line, const Shared& shared, SlurmSource& source,
                       const run::Judge& judge, Log& log) {
  const auto question = ParseQuestion(line);
  if (!question) {
    log.Warn("a question that cannot be read", {{"error", question.error().text}});
    return "";
  }
  if (question->op == "kick") {
    source.Kick();
    return DoneLine();
  }
  if (question->op == "hold" || question->op == "release") return ChangeLine(*question, source);
  const auto account = FindAccount(uid_t{question->record.uid});
  if (!account && account.error().code == Code::kNotFound)
    return RejectLine("cox: " + account.error().text);
  const AskJudge ask = [&](const std::string& user,
                           const spec::TrainingJob& job) -> Result<run::Judgement> {
    run::Judgement judgement = judge.Check(user, job, question->timeout * 4 / 5);
    if (!judgement.unavailable.empty()) return Unavailable(judgement.unavailable);
    return judgement;
  };
  auto answer = account ? AnswerSubmission(*question, account->name, *shared.site(), ask)
                        : Result<Answer>(account.error());
  if (!answer || answer->accepted) source.Expect(question->uuid);
  if (answer) return std::move(answer->line);
  log.Warn("submission not judged in time, held for later",
           {{"uid", question->record.uid}, {"error", answer.error().text}});
  return "";
}

Result<std::string> LogPath(Api& api, const model::Task& task, int64_t attempt,
                            const std::string& role) {
  uint32_t id = 0;
  const std::string& text = task.native_id;
  if (std::from_chars(text.data(), text.data() + text.size(), id).ec != std::errc())
    return NotFound("task " + task.name + " has no Slurm job yet");
  auto record = api.LoadJob(id);
  if (!record) return record.error();
  if (record->output.empty())
    return NotFound("job " + text + " is interactive; its output is where it was started");
  if (attempt != task.attempt)
    return FailedPrecondition(
        "Slurm keeps one output file a job: attempt " + std::to_string(task.attempt) + " of " +
        task.name + " has written over attempt " + std::to_string(attempt) +
        " in it, or, after --open-mode=append, behind it; look without --attempt");
  if (!role.empty() && task.job->workers > 0)
    return FailedPrecondition("Slurm keeps one output file a job, with what every replica of " +
                              task.name + " writes; look without --role");
  return record->output;
}

}  // namespace

Result<Loaded> Load(const Arguments& arguments) {
  auto text = ReadFile(arguments.config);
  if (!text) return NotFound("site file " + text.error().text);
  const auto site = spec::ParseSite(*text, arguments.config);
  if (!site) return site.error();
  auto settings = SettingsOf(*site);
  if (!settings) return InvalidArgument(arguments.config + ": " + settings.error().text);
  if (!arguments.state_dir.empty()) settings->state_dir = arguments.state_dir;
  host::Options options;
  options.plugin_directory = settings->plugin_dir;
  auto config = run::MakeConfig(std::move(*text), arguments.config, options);
  if (!config) return config.error();
  return Loaded{std::move(*settings), std::move(*config)};
}

Result<void> Serve(const Arguments& arguments, Loaded loaded, Log& log) {
  const Settings settings = std::move(loaded.settings);
  auto api = Connect(settings.slurm_conf);
  if (!api) return api.error();
  const std::string store_file = settings.state_dir + "/cox.db";
  auto store = run::Store::Open(store_file);
  if (!store) return store.error();

  std::unique_ptr<run::Recorder> recorder;
  if (!arguments.record.empty()) {
    auto opened = run::Recorder::Open(arguments.record, kMostRecorded);
    if (!opened) return opened.error();
    recorder = std::move(*opened);
  }

  const SystemClock clock;
  Shared shared(loaded.config.site);
  SlurmActuator actuator({api->get(), &shared, &clock, &log, settings.verify});
  SlurmSource source({api->get(), &shared, &clock, &log, settings.poll});

  run::LoopParts parts;
  parts.clock = &clock;
  parts.store = store->get();
  parts.actuator = &actuator;
  parts.recorder = recorder.get();
  parts.log = &log;
  parts.config = std::move(loaded.config);
  parts.reload = [&arguments]() -> Result<run::Config> {
    auto fresh = Load(arguments);
    if (!fresh) return fresh.error();
    return std::move(fresh->config);
  };
  parts.unsupported = Unsupported;
  parts.reloaded = [&shared, &source](const run::Config& config) {
    shared.Use(config.site);
    source.Kick();
  };
  auto loop = run::Loop::Create(std::move(parts));
  if (!loop) return loop.error();
  const run::Observer observer([&loop] { return (*loop)->published(); }, std::chrono::seconds(1));

  run::ControlOptions control_options;
  control_options.socket = settings.control_socket;
  control_options.store_file = store_file;
  control_options.clock = &clock;
  control_options.log_path = [&api](const model::Task& task, int64_t attempt,
                                    const std::string& role) {
    return LogPath(**api, task, attempt, role);
  };
  auto control = run::ControlServer::Start(control_options, **loop);
  if (!control) return control.error();

  const run::Judge judge([&loop](run::JudgeRequest request) { (*loop)->Ask(std::move(request)); });
  auto submissions = SubmitServer::Start(
      {settings.submit_socket,
       [&](const std::string& line) { return AnswerLine(line, shared, source, judge, log); },
       &log});
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

}  // namespace cox::slurm
