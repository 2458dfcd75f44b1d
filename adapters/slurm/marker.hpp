// The admin comment of a managed job: the mark by which it is known, and what its user reads in
// `scontrol show job` and `squeue -O admin_comment` (submit_protocol.md).
//
//   cox:<uuid> wait {options}        accepted while the daemon was away, not judged yet
//   cox:<uuid> accepted {options}    judged, not taken up yet; behind either: held, for --hold
//   cox:<uuid> created {options}     of `cox submit`, not taken up yet
//   cox:<uuid> v<version> <State> <Reason>: <message> {options}
//
// The options stay to the end, without a blank in them: a daemon that has lost its store finds in
// the queue what it needs to take the job up again.
//
// Between uuid and the rest may stand words, NAME=VALUE with VALUE percent-encoded, from which the
// SPANK plug-in fills environments that nobody could fill at submission. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/action.hpp"

namespace cox::slurm {

struct Marker {
  enum class Kind { kWait, kAccepted, kCreated, kTaken } kind = Kind::kTaken;
  std::string uuid;
  std::vector<std::string> words;  // as they stand there; "wait" stays until words replace it
  bool held = false;               // kWait, kAccepted: its user said --hold
  std::string options;             // JSON text
};

// none: not a managed job's comment.
std::optional<Marker> ParseMarker(std::string_view admin_comment);

std::string AcceptedComment(const std::string& uuid, const std::vector<std::string>& words,
                            const std::string& options_json);
std::string CreatedComment(const std::string& uuid, const std::string& options_json);
std::string StateComment(const Marker& marker, uint64_t version, const model::Annotate& shown);

// "cox: Pending InsufficientQuota: 8 of 8 used", for the comment that `squeue -o %k` shows; what
// its user has written there himself stays.
std::string PeoplesComment(const model::Annotate& shown);
bool IsPeoplesComment(std::string_view comment);

// The X_... variables of `env` as words.
std::vector<std::string> ContextWords(const std::vector<std::pair<std::string, std::string>>& env);

}  // namespace cox::slurm
