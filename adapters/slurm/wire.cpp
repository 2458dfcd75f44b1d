#include "slurm/wire.hpp"

#include <nlohmann/json.hpp>

namespace cox::slurm {
namespace {

using nlohmann::json;

std::string Line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

void ReadSlurmFields(const json& slurm, JobRecord& record) {
  record.gres_per_node = slurm.value("tres_per_node", "");
  for (const char* key : {"tres_per_job", "tres_per_socket", "tres_per_task"}) {
    const std::string value = slurm.value(key, "");
    if (!value.empty()) record.gres_elsewhere += (record.gres_elsewhere.empty() ? "" : ",") + value;
  }
  record.required_nodes = ExpandNodes(slurm.value("nodelist", ""));
  record.excluded_nodes = ExpandNodes(slurm.value("exclude", ""));
  record.max_nodes = slurm.value("max_nodes", int64_t{0});
  record.tasks = slurm.value("tasks", int64_t{0});
  record.tasks_per_node = slurm.value("tasks_per_node", int64_t{0});
  record.cpus_per_task = slurm.value("cpus_per_task", int64_t{1});
  record.mem_per_node_mib = slurm.value("mem_mib_per_node", int64_t{0});
  record.mem_per_cpu_mib = slurm.value("mem_mib_per_cpu", int64_t{0});
  const std::pair<const char*, const char*> kNotOurs[] = {{"dependency", "--dependency="},
                                                          {"features", "--constraint="},
                                                          {"reservation", "--reservation="},
                                                          {"licenses", "--licenses="}};
  for (const auto& [key, option] : kNotOurs)
    if (slurm.contains(key)) record.not_ours.push_back(option + slurm.value(key, ""));
  if (slurm.contains("begin_unix_s")) record.not_ours.emplace_back("--begin");
  if (slurm.contains("exclusive")) record.not_ours.emplace_back("--exclusive");
}

Question Read(const json& line) {
  Question question;
  question.op = line.at("op").get<std::string>();
  if (question.op == "hold" || question.op == "release") {
    question.uuid = line.at("uuid").get<std::string>();
    question.record.uid = line.at("uid").get<uint32_t>();
  }
  if (question.op != "submit") return question;
  question.timeout = std::chrono::milliseconds(line.value("timeout_ms", int64_t{100}));
  const json& job = line.at("job");
  question.uuid = job.at("uuid").get<std::string>();
  question.options = job.value("options", Options());
  JobRecord& record = question.record;
  record.uid = line.at("uid").get<uint32_t>();
  record.batch = job.value("kind", "batch") == "batch";
  record.name = job.value("name", "");
  record.account = job.value("account", "");
  const std::string partitions = job.value("partition", "");
  record.partition = partitions.substr(0, partitions.find(','));
  record.min_nodes = job.value("nodes", int64_t{1});
  if (job.contains("time_limit_s")) record.time_limit_min = job["time_limit_s"].get<int64_t>() / 60;
  ReadSlurmFields(job.value("slurm", json::object()), record);
  return question;
}

}  // namespace

Result<Question> ParseQuestion(std::string_view line) {
  try {
    return Read(json::parse(line));
  } catch (const json::exception& wrong) {
    return InvalidArgument(std::string("not a question of job_submit: ") + wrong.what());
  }
}

std::string AcceptLine(const Acceptance& acceptance) {
  json line = {{"v", 1},
               {"verdict", "accept"},
               {"admin_comment", acceptance.admin_comment},
               {"environment", acceptance.environment},
               {"environment_defaults", acceptance.environment_defaults},
               {"nodes", acceptance.nodes},
               {"cpus_per_node", acceptance.cpus_per_node}};
  if (acceptance.mem_mib_per_node > 0) line["mem_mib_per_node"] = acceptance.mem_mib_per_node;
  if (!acceptance.tres_per_node.empty()) line["tres_per_node"] = acceptance.tres_per_node;
  return Line(line);
}

std::string RejectLine(const std::string& text) {
  return Line({{"v", 1}, {"verdict", "reject"}, {"text", text}});
}

std::string DoneLine() {
  return Line({{"v", 1}, {"verdict", "done"}});
}

std::string RefusedLine(const std::string& code) {
  return Line({{"v", 1}, {"verdict", "refused"}, {"code", code}});
}

Result<Options> ParseOptions(std::string_view text) {
  if (text.empty()) return Options();
  try {
    return json::parse(text).get<Options>();
  } catch (const json::exception& wrong) {
    return InvalidArgument(std::string("options in the admin comment: ") + wrong.what());
  }
}

std::string OptionsJson(const Options& options) {
  return json(options).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Settings> SettingsOf(const spec::Site& site) {
  if (site.adapter != "slurm")
    return InvalidArgument("slurm: is missing in the site file; `slurm: {}` takes every default");
  const json value = json::parse(site.adapter_json, nullptr, false);
  if (value.is_discarded()) return Internal("settings: the validated text is not JSON");
  Settings settings;
  settings.slurm_conf = value["slurmConf"];
  settings.poll = std::chrono::milliseconds(value["pollMs"].get<int64_t>());
  settings.verify = std::chrono::milliseconds(value["verifyMs"].get<int64_t>());
  settings.submit_socket = value["submitSocket"];
  settings.control_socket = value["controlSocket"];
  settings.state_dir = value["stateDir"];
  settings.plugin_dir = value["pluginDir"];
  return settings;
}

}  // namespace cox::slurm
