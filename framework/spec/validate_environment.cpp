// What the processes find around them: S9, S12, S23, D12.
#include <algorithm>
#include <array>
#include <set>

#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

// The kernel's limit of one argument (MAX_ARG_STRLEN, 32 pages), with the end mark: a longer
// command could never be given to bash -c.
constexpr size_t kLongestArgument = 131072 - 1;
constexpr size_t kLongestImage = 1024;

// D12: what the platform itself sets in each replica (S60-S64, and the retry index).
constexpr std::array kPlatformVariables = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE",  "RANK",
                                           "X_USER_NAME", "X_ORG_NAME",  "X_TENANT_ID", "X_REGION",
                                           "X_CLUSTER",   "TASK_UUID",   "RETRY_INDEX"};

bool IsVariable(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void CheckImage(const Image& image, Verdict& verdict) {
  const bool plain =
      std::all_of(image.ref.begin(), image.ref.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!plain || image.ref.size() > kLongestImage) {
    Reject(verdict, "spec.image.ref",
           Quote(image.ref) + " is not the address of an image; no blanks, at most " +
               std::to_string(kLongestImage) + " characters",
           "S9");
  }
}

}  // namespace

Objection EnvNameObjection(std::string_view name) {
  if (!IsVariable(name)) {
    return {Quote(name) +
                " is not the name of a variable; use letters, digits and '_', and no "
                "digit in front",
            "S12"};
  }
  if (name.starts_with("KUBERNETES_")) {
    return {Quote(name) + " begins with KUBERNETES_, which belongs to the platform", "S12"};
  }
  if (std::find(kPlatformVariables.begin(), kPlatformVariables.end(), name) !=
      kPlatformVariables.end()) {
    return {Quote(name) + " is set by the platform; choose another name", "D12"};
  }
  return {};
}

void CheckEnvironment(const Case& c, Verdict& verdict) {
  CheckImage(c.job.image, verdict);
  if (c.job.command.find_first_not_of(" \t\r\n") == std::string::npos) {
    Reject(verdict, "spec.command", "is empty; write what bash -c shall run", "S23");
  } else if (c.job.command.size() > kLongestArgument) {
    Reject(verdict, "spec.command",
           "has " + std::to_string(c.job.command.size()) + " bytes; the system takes at most " +
               std::to_string(kLongestArgument) + ", so put it into a script",
           "S23");
  }
  std::set<std::string> seen;
  for (size_t i = 0; i < c.job.env.size(); ++i) {
    const EnvVar& env = c.job.env[i];
    const std::string path = At("spec.env", i);
    if (const Objection o = EnvNameObjection(env.name); !o.text.empty()) {
      Reject(verdict, path + ".name", o.text, o.rule);
    } else if (!seen.insert(env.name).second) {
      Reject(verdict, path + ".name", Quote(env.name) + " is there already", "S14");
    }
    if (env.name.size() + 1 + env.value.size() > kLongestArgument) {
      Reject(verdict, path + ".value",
             "has " + std::to_string(env.value.size()) + " bytes; the system takes at most " +
                 std::to_string(kLongestArgument) + " with the name",
             "S14");
    }
  }
}

}  // namespace cox::spec
