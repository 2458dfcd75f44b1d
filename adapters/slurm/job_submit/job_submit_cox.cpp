// job_submit/cox: what runs inside slurmctld, and no more than this (decisions/0050).
//
// For a job of a managed partition it asks Coxswain's daemon once, with a deadline, and then either
// refuses in the daemon's words or accepts the job held and marked. Without an answer it accepts
// held: nothing starts that the daemon has not judged. Jobs of other partitions pass untouched.
// slurmctld calls the functions below one at a time, under a lock of its own; nothing throws.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include <memory>
#include <utility>

#include "ask.hpp"
#include "config.hpp"
#include "job_description.hpp"
#include "message.hpp"
#include "not_honoured.hpp"

struct job_record;  // Slurm's own; its layout is in no public header

extern "C" {
// Of slurmctld and libslurmfull, in no header. The weak ones are checked in init().
extern char* default_part_name __attribute__((weak));
job_desc_msg_t* copy_job_record_to_job_desc(job_record* record) __attribute__((weak));
char* slurm_get_extra_conf_path(const char* name);
void slurm_free_job_desc_msg(job_desc_msg_t* job);
void slurm_xfree_ptr(void* pointer);
void slurm_info(const char* format, ...) __attribute__((format(printf, 1, 2)));
void slurm_error(const char* format, ...) __attribute__((format(printf, 1, 2)));
}

namespace cox::slurm {
namespace {

using std::chrono::steady_clock;

bool IsAdmin(uint32_t uid) {
  return uid == 0 || uid == geteuid();
}  // root or SlurmUser

std::string NewUuid() {
  uuid_t uuid;
  char text[UUID_STR_LEN];
  uuid_generate_random(uuid);
  uuid_unparse_lower(uuid, text);
  return text;
}

struct Refusal {
  int code = SLURM_SUCCESS;
  std::string text;
};

class Plugin {
 public:
  // False when it cannot even know which partitions are managed.
  bool Start() {
    char* path = slurm_get_extra_conf_path("cox.conf");
    path_ = Text(path);
    slurm_xfree_ptr(path);
    RefreshConfig();
    return !config_.partitions.empty();
  }

  // What the user shall read goes to `message`, also on success.
  int Submit(job_desc_msg_t& job, uint32_t uid, std::string& message) {
    RefreshConfig();
    const std::string partitions =
        Text(job.partition != nullptr ? job.partition : default_part_name);
    const auto [managed, others] = Count(partitions);
    if (managed == 0) {
      if (OptionsOf(job).empty()) return SLURM_SUCCESS;
      message = "cox: partition " + partitions +
                " is not managed by Coxswain; its partitions are: " + config_.PartitionList();
      return ESLURM_INVALID_PARTITION_NAME;
    }
    if (IsAdmin(uid) && Text(job.admin_comment).starts_with(kMark)) {
      const std::string comment = Text(job.admin_comment);
      MarkHeld(job, UuidOf(comment), comment);
      return SLURM_SUCCESS;
    }
    if (Refusal no = NotYet(job, others); no.code != SLURM_SUCCESS) {
      message = no.text;
      return no.code;
    }
    return Judge(job, partitions, message);
  }

  int Modify(job_desc_msg_t& update, job_record* record, uint32_t uid) {
    const Change change = ChangeOf(update);
    if (IsAdmin(uid) ? change == Change::kNone || SaysWhoseHold(update)
                     : !TouchesManagedFields(update))
      return SLURM_SUCCESS;
    const Known job = KnownOf(record);
    const bool managed = Count(job.partitions).managed > 0;
    const bool enters = update.partition != nullptr && Count(update.partition).managed > 0;
    if (!managed && !enters) return SLURM_SUCCESS;
    if (change != Change::kNone && managed) return HoldOrRelease(change, job.uuid, update, uid);
    slurm_info("job_submit/cox: uid %u may not change job %s: %s", uid, update.job_id_str,
               managed ? "Coxswain holds, ranks and places it"
                       : "jobs enter a managed partition by submission only");
    return ESLURM_ACCESS_DENIED;
  }

 private:
  struct Counts {
    int managed = 0, others = 0;
  };

  Counts Count(std::string_view partitions) const {
    Counts counts;
    while (!partitions.empty()) {
      const size_t end = std::min(partitions.find(','), partitions.size());
      ++(config_.Manages(partitions.substr(0, end)) ? counts.managed : counts.others);
      partitions.remove_prefix(std::min(end + 1, partitions.size()));
    }
    return counts;
  }

  static Refusal NotYet(const job_desc_msg_t& job, int others) {
    if (others > 0)
      return {ESLURM_INVALID_PARTITION_NAME,
              "cox: a job may not name partitions of Coxswain together with others"};
    if (job.array_inx != nullptr)
      return {
          ESLURM_NOT_SUPPORTED,
          "cox: job arrays are not supported in a managed partition; submit the jobs one by one"};
    if (job.het_job_offset != NO_VAL)
      return {ESLURM_NOT_SUPPORTED,
              "cox: heterogeneous jobs are not supported in a managed partition"};
    if (std::string lines = NotHonoured(job); !lines.empty())
      return {ESLURM_NOT_SUPPORTED, std::move(lines)};
    return {};
  }

  int Judge(job_desc_msg_t& job, const std::string& partitions, std::string& message) {
    const std::string uuid = NewUuid();
    Request request = RequestOf(job, partitions, uuid);
    request.timeout = config_.timeout;
    const auto begin = steady_clock::now();
    auto reply = Question(request, begin);
    const auto us =
        std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin);
    const char* outcome = !reply ? "held" : reply->accepted ? "accepted" : "rejected";
    slurm_info("job_submit/cox: task %s of uid %u: %s after %lld us%s%s", uuid.c_str(), request.uid,
               outcome, static_cast<long long>(us.count()), reply ? "" : ": ",
               reply ? "" : reply.error().text.c_str());
    if (!reply) {
      MarkHeld(job, uuid,
               WithHold(job, std::string(kMark) + uuid + " wait " + OptionsJson(request)));
      message = config_.errors.empty()
                    ? "cox: accepted and held: Coxswain's daemon did not answer within " +
                          std::to_string(config_.timeout.count()) +
                          " ms; the job is judged when it is back"
                    : "cox: accepted and held: cox.conf is wrong, see slurmctld's log; the job is "
                      "judged when an administrator has corrected it";
      return SLURM_SUCCESS;
    }
    message = reply->text;
    if (!reply->accepted) return ESLURM_ACCOUNTING_POLICY;
    MarkHeld(job, uuid, WithHold(job, reply->admin_comment));
    Apply(*reply, job);
    return SLURM_SUCCESS;
  }

  Result<Reply> Question(const Request& request, steady_clock::time_point now) {
    const auto line = AskDaemon(RequestLine(request), request.timeout, now);
    if (!line) return line.error();
    return ParseReply(*line, request.uuid);
  }

  Result<std::string> AskDaemon(const std::string& question, std::chrono::milliseconds timeout,
                                steady_clock::time_point now) {
    if (!config_.errors.empty()) return FailedPrecondition(config_.errors.front());
    if (now < quiet_until_)
      return Unavailable("it did not answer a moment ago, not asked again yet");
    auto line = Ask(config_.socket, question, timeout);
    // Why: submissions wait for each other here. A daemon that hangs costs one of them the
    // time-out, not every one, and slurmctld less than a tenth of its time.
    if (!line && steady_clock::now() - now >= timeout)
      quiet_until_ = steady_clock::now() + 10 * timeout;
    return line;
  }

  void RefreshConfig() {
    struct stat now {};
    stat(path_.c_str(), &now);
    if (now.st_mtim.tv_sec == read_.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == read_.st_mtim.tv_nsec && now.st_size == read_.st_size &&
        now.st_ino == read_.st_ino && !config_unread_)
      return;
    Config fresh = ReadConfig(path_);
    for (const std::string& error : fresh.errors)
      slurm_error("job_submit/cox: %s; jobs of managed partitions are held until it is right",
                  error.c_str());
    if (fresh.partitions.empty()) fresh.partitions = config_.partitions;
    config_ = std::move(fresh);
    read_ = now;
    config_unread_ = false;
    slurm_info("job_submit/cox: manages partitions %s, asks %s", config_.PartitionList().c_str(),
               config_.socket.c_str());
  }

  // Done by the daemon, for which such a job waits (decision 0055). Without it an administrator
  // still has slurmctld's own way; a user is told that it cannot be done now.
  int HoldOrRelease(Change change, const std::string& uuid, job_desc_msg_t& update, uint32_t uid) {
    RefreshConfig();
    const char* op = change == Change::kHold ? "hold" : "release";
    const auto reply = AskChange(ChangeLine(op, uuid, uid));
    slurm_info("job_submit/cox: uid %u: %s task %s: %s", uid, op, uuid.c_str(),
               reply ? reply->c_str() : reply.error().text.c_str());
    if (!reply) return IsAdmin(uid) ? SLURM_SUCCESS : ESLURM_DISABLED;
    if (*reply == "started") return ESLURM_JOB_NOT_PENDING;
    if (*reply == "later") return ESLURM_TRANSITION_STATE_NO_UPDATE;
    if (*reply != "done") return ESLURM_ACCESS_DENIED;
    TakeOver(update);
    return SLURM_SUCCESS;
  }

  Result<std::string> AskChange(const std::string& line) {
    auto reply = AskDaemon(line, config_.timeout, steady_clock::now());
    if (!reply) return reply;
    return ParseChangeReply(*reply);
  }

  struct Known {
    std::string partitions, uuid;
  };

  // Through slurmctld's own copier, since a job record's layout is private to it.
  static Known KnownOf(job_record* record) {
    job_desc_msg_t* copy = copy_job_record_to_job_desc(record);
    if (copy == nullptr) return {};
    Known known{Text(copy->partition), MarkedUuid(*copy)};
    if (copy->environment != nullptr) {  // one block; Slurm's free function takes it for many
      slurm_xfree_ptr(copy->environment[0]);
      slurm_xfree_ptr(copy->environment);
      copy->environment = nullptr;
      copy->env_size = 0;
    }
    slurm_free_job_desc_msg(copy);
    return known;
  }

  std::string path_;
  bool config_unread_ = true;
  struct stat read_ {};
  Config config_;
  steady_clock::time_point quiet_until_;
};

std::unique_ptr<Plugin> plugin;  // Slurm's plug-in interface has no handle to keep it in

}  // namespace
}  // namespace cox::slurm

#define COX_EXPORT __attribute__((visibility("default")))

extern "C" {

COX_EXPORT extern const char plugin_name[] = "Coxswain job submit plug-in";
COX_EXPORT extern const char plugin_type[] = "job_submit/cox";
COX_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;

COX_EXPORT int init() noexcept try {
  if (copy_job_record_to_job_desc == nullptr || &default_part_name == nullptr) {
    slurm_error(
        "job_submit/cox: this slurmctld lacks copy_job_record_to_job_desc or "
        "default_part_name; build the plug-in for its version");
    return SLURM_ERROR;
  }
  cox::slurm::plugin = std::make_unique<cox::slurm::Plugin>();
  return cox::slurm::plugin->Start() ? SLURM_SUCCESS : SLURM_ERROR;
} catch (...) {
  return SLURM_ERROR;
}

COX_EXPORT int fini() noexcept {
  cox::slurm::plugin.reset();
  return SLURM_SUCCESS;
}

COX_EXPORT int job_submit(job_desc_msg_t* job, uint32_t uid, char** message) noexcept try {
  std::string text;
  const int code = cox::slurm::plugin->Submit(*job, uid, text);
  if (!text.empty() && message != nullptr) cox::slurm::SetText(*message, text);
  return code;
} catch (...) {
  slurm_error("job_submit/cox: out of memory or a bug; the submission is refused");
  return SLURM_ERROR;
}

COX_EXPORT int job_modify(job_desc_msg_t* update, job_record* record, uint32_t uid) noexcept try {
  return cox::slurm::plugin->Modify(*update, record, uid);
} catch (...) {
  slurm_error("job_submit/cox: out of memory or a bug; the update is refused");
  return SLURM_ERROR;
}
}
