#include "message.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace cox::slurm {
namespace {

using nlohmann::json;

// Job names need not be UTF-8; a bad byte must not cost the user the submission.
std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// What the daemon may not put into a job: it would change how root's or Slurm's programs behave.
bool MayEnterJob(const std::string& name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), is_word) && !name.starts_with("LD_") &&
         !name.starts_with("SLURM") && !name.starts_with("SPANK");
}

std::map<std::string, std::string> Environment(const json& reply, const char* key) {
  auto variables = reply.value(key, std::map<std::string, std::string>());
  for (const auto& [name, value] : variables)
    if (!MayEnterJob(name) || value.find('\0') != std::string::npos)
      throw std::invalid_argument(std::string(key) + "." + name + " may not be set in a job");
  return variables;
}

template <class T>
std::optional<T> Positive(const json& reply, const char* key) {
  if (!reply.contains(key)) return std::nullopt;
  const json& value = reply.at(key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() == 0 ||
      value.get<uint64_t>() >= 0xfffffff0U)  // Slurm's NO_VAL and INFINITE begin here
    throw std::invalid_argument(std::string(key) + " must be a whole number, 1 or more");
  return value.get<T>();
}

Reply Read(const json& line, const std::string& uuid) {
  Reply reply;
  const auto verdict = line.at("verdict").get<std::string>();
  reply.text = line.value("text", "");
  if (verdict == "reject") {
    if (reply.text.empty()) throw std::invalid_argument("reject without a text");
    return reply;
  }
  if (verdict != "accept") throw std::invalid_argument("verdict must be accept or reject");
  reply.accepted = true;
  reply.admin_comment = line.at("admin_comment").get<std::string>();
  if (!(reply.admin_comment + " ").starts_with("cox:" + uuid + " "))
    throw std::invalid_argument("admin_comment must begin with cox:" + uuid);
  reply.environment = Environment(line, "environment");
  reply.environment_defaults = Environment(line, "environment_defaults");
  reply.nodes = Positive<uint32_t>(line, "nodes");
  reply.cpus_per_node = Positive<uint32_t>(line, "cpus_per_node");
  reply.mem_mib_per_node = Positive<uint64_t>(line, "mem_mib_per_node");
  if (line.contains("tres_per_node"))
    reply.tres_per_node = line["tres_per_node"].get<std::string>();
  return reply;
}

}  // namespace

std::string OptionsJson(const Request& request) {
  return Dump(json(request.options));
}

std::string RequestLine(const Request& request) {
  json slurm(request.slurm);
  for (const auto& [key, value] : request.slurm_number) slurm[key] = value;
  json job(request.text);
  for (const auto& [key, value] : request.number) job[key] = value;
  job["uuid"] = request.uuid;
  job["kind"] = request.kind;
  job["options"] = request.options;
  job["slurm"] = slurm;
  return Dump({{"v", 1},
               {"op", "submit"},
               {"uid", request.uid},
               {"timeout_ms", request.timeout.count()},
               {"job", job}});
}

std::string ChangeLine(const std::string& op, const std::string& uuid, uint32_t uid) {
  return Dump({{"v", 1}, {"op", op}, {"uuid", uuid}, {"uid", uid}});
}

Result<std::string> ParseChangeReply(const std::string& line) {
  try {
    const json reply = json::parse(line);
    const auto verdict = reply.at("verdict").get<std::string>();
    if (verdict == "done") return verdict;
    if (verdict == "refused") return reply.at("code").get<std::string>();
    return InvalidArgument("verdict must be done or refused");
  } catch (const std::exception& wrong) {
    return InvalidArgument(wrong.what());
  }
}

Result<Reply> ParseReply(const std::string& line, const std::string& uuid) {
  try {
    return Read(json::parse(line), uuid);
  } catch (const std::exception& wrong) {
    return InvalidArgument(wrong.what());
  }
}

}  // namespace cox::slurm
