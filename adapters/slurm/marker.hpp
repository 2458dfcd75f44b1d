// The admin comment of a managed job: the mark by which it is known, and what its user reads in
// `scontrol show job` and `squeue -O admin_comment` (submit_protocol.md).
//
//   cox:<uuid> wait {options}        accepted while the daemon was away, not judged yet
//   cox:<uuid> accepted {options}    judged, not taken up yet
//   cox:<uuid> v<version> <State> <Reason>: <message>
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
  enum class Kind { kWait, kAccepted, kTaken } kind = Kind::kTaken;
  std::string uuid;
  std::vector<std::string> words;  // as they stand there; "wait" stays until words replace it
  std::string options;             // JSON text
};

// none: not a managed job's comment.
std::optional<Marker> ParseMarker(std::string_view admin_comment);

std::string AcceptedComment(const std::string& uuid, const std::vector<std::string>& words,
                            const std::string& options_json);
std::string StateComment(const Marker& marker, uint64_t version, const model::Annotate& shown);

// The X_... variables of `env` as words.
std::vector<std::string> ContextWords(const std::vector<std::pair<std::string, std::string>>& env);

}  // namespace cox::slurm
