#include "host/instance.hpp"

#include <cstring>
#include <utility>

namespace cox::host {
namespace {

constexpr size_t kMaxNotices = 256;

const char* CodeText(int32_t code) {
  switch (code) {
    case COX_INVALID_ARGUMENT:
      return "invalid argument";
    case COX_FAILED_PRECONDITION:
      return "failed precondition";
    case COX_UNAVAILABLE:
      return "unavailable";
    case COX_INTERNAL:
      return "internal error";
    default:
      return nullptr;
  }
}

// The text need not be terminated, nor be there at all.
std::string Describe(int32_t code, const cox_error& error) {
  std::string text(error.text, strnlen(error.text, sizeof error.text));
  if (const char* name = CodeText(code)) return text.empty() ? name : name + (": " + text);
  return "returned " + std::to_string(code) + ", which is no COX_ code" +
         (text.empty() ? "" : ": " + text);
}

}  // namespace

const char* Name(Point p) {
  switch (p) {
    case Point::kQuota:
      return "quota";
    case Point::kPriority:
      return "priority";
    case Point::kFilter:
      return "filter";
    case Point::kScore:
      return "score";
    case Point::kFault:
      return "fault";
    case Point::kMonitor:
      return "monitor";
  }
  return "";
}

Error WrongMajor(const std::string& where, int major, int minor) {
  return InvalidArgument(where + ": built for plugin ABI " + std::to_string(major) + "." +
                         std::to_string(minor) + ", this host speaks " +
                         std::to_string(COX_ABI_MAJOR) + "." + std::to_string(COX_ABI_MINOR) +
                         "; rebuild it with this host's SDK");
}

Result<void> CheckTable(const cox_plugin* table, const std::string& where) {
  if (table == nullptr) return InvalidArgument(where + ": cox_plugin_entry() returned NULL");
  // The two version numbers stand at the same place in every major.
  if (table->abi_major != COX_ABI_MAJOR)
    return WrongMajor(where, table->abi_major, table->abi_minor);
  if (!COX_HAS(table, reason) || table->struct_size > 4096)
    return InvalidArgument(where + ": struct_size of cox_plugin is " +
                           std::to_string(table->struct_size) + ", expected at least " +
                           std::to_string(sizeof(cox_plugin)) + "; rebuild it with the SDK");
  const std::pair<const char*, const char*> strings[] = {{"id", table->id},
                                                         {"version", table->version},
                                                         {"summary", table->summary},
                                                         {"config_schema", table->config_schema}};
  for (const auto& [field, value] : strings)
    if (value == nullptr || *value == '\0')
      return InvalidArgument(where + ": its " + field + " is empty; fill it in cox_plugin");
  const std::pair<const char*, bool> functions[] = {{"create", table->create != nullptr},
                                                    {"destroy", table->destroy != nullptr},
                                                    {"extension", table->extension != nullptr},
                                                    {"reason", table->reason != nullptr}};
  for (const auto& [field, present] : functions)
    if (!present)
      return InvalidArgument(where + ": has no " + field + " function; fill it in cox_plugin");
  return {};
}

Instance::Instance(const cox_plugin* table, spec::PluginConfig config, Config values,
                   const Options& options)
    : table_(table),
      config_(std::move(config)),
      values_(std::move(values)),
      ticks_(options.ticks),
      max_overruns_(options.max_overruns) {
  host_.struct_size = sizeof host_;
  host_.ctx = this;
  host_.log = &Log;
  host_.count = &Count;
  host_.cfg_i64 = [](void* ctx, cox_str key, int64_t* out) {
    return static_cast<Instance*>(ctx)->values_.Int(key, out);
  };
  host_.cfg_f64 = [](void* ctx, cox_str key, double* out) {
    return static_cast<Instance*>(ctx)->values_.Double(key, out);
  };
  host_.cfg_str = [](void* ctx, cox_str key, cox_str* out) {
    return static_cast<Instance*>(ctx)->values_.Str(key, out);
  };
  host_.cfg_len = [](void* ctx, cox_str key, uint32_t* out) {
    return static_cast<Instance*>(ctx)->values_.Len(key, out);
  };
}

Result<std::unique_ptr<Instance>> Instance::Create(const cox_plugin* table,
                                                   spec::PluginConfig config,
                                                   const Options& options) {
  const std::string where = config.position.empty() ? "plugin " + config.name : config.position;
  if (auto checked = CheckTable(table, config.path.empty() ? where : config.path); !checked)
    return checked.error();
  auto values = Config::Create(table->config_schema, config.config_json, where);
  if (!values) return values.error();
  std::unique_ptr<Instance> instance(
      new Instance(table, std::move(config), std::move(*values), options));
  const std::string who =
      instance->config_.position.empty() ? where : where + ": plugin " + instance->name();
  if (auto started = instance->Start(); !started)
    return Error{started.error().code, who + ": " + started.error().text};
  return instance;
}

template <class Table>
const Table* Instance::Find(const char* extension) const {
  const auto* table = static_cast<const Table*>(table_->extension(self_, extension));
  return table != nullptr && table->struct_size >= sizeof(uint32_t) ? table : nullptr;
}

Result<void> Instance::Start() {
  cox_error error{sizeof error, {}};
  void* self = nullptr;
  const int32_t code = table_->create(&host_, &self, &error);
  if (code != COX_OK) return InvalidArgument("cannot be created: " + Describe(code, error));
  self_ = self;
  quota_ = Find<cox_quota>(COX_EXT_QUOTA);
  priority_ = Find<cox_priority>(COX_EXT_PRIORITY);
  node_policy_ = Find<cox_node_policy>(COX_EXT_NODE_POLICY);
  fault_ = Find<cox_fault>(COX_EXT_FAULT);
  monitor_ = Find<cox_monitor>(COX_EXT_MONITOR);
  for (int p = 0; p < kPoints; ++p)
    if (Offers(static_cast<Point>(p))) return {};
  return InvalidArgument("offers none of the extensions " COX_EXT_QUOTA ", " COX_EXT_PRIORITY
                         ", " COX_EXT_NODE_POLICY ", " COX_EXT_FAULT ", " COX_EXT_MONITOR);
}

Instance::~Instance() {
  if (self_ != nullptr) table_->destroy(self_);
}

bool Instance::Offers(Point point) const {
  switch (point) {
    case Point::kQuota:
      return quota_ && COX_HAS(quota_, admit) && quota_->admit;
    case Point::kPriority:
      return priority_ && COX_HAS(priority_, rank) && priority_->rank;
    case Point::kFilter:
      return node_policy_ && COX_HAS(node_policy_, filter) && node_policy_->filter;
    case Point::kScore:
      return node_policy_ && COX_HAS(node_policy_, score) && node_policy_->score;
    case Point::kFault:
      return fault_ && COX_HAS(fault_, judge) && fault_->judge;
    case Point::kMonitor:
      return monitor_ && COX_HAS(monitor_, observe) && monitor_->observe;
  }
  return false;
}

bool Instance::Record(Point point, const char* function, int32_t code, const cox_error& error,
                      int64_t nanos) {
  const std::scoped_lock lock(mutex_);
  Tally& tally = tallies_[static_cast<int>(point)];
  ++tally.calls;
  tally.nanos += nanos;
  if (nanos > config_.budget_ms * 1'000'000 && ++tally.overruns == max_overruns_ &&
      sentence_.empty())
    sentence_ = std::string(function) +
                " took longer than budget_ms=" + std::to_string(config_.budget_ms) + " " +
                std::to_string(max_overruns_) + " times";
  if (code == COX_OK) {
    tally.errors_in_a_row = 0;
    return true;
  }
  ++tally.errors;
  last_error_ = std::string(function) + ": " + Describe(code, error);
  if (tally.errors_in_a_row++ == 0) Note(Notice::Level::kError, last_error_);
  if (tally.errors_in_a_row == config_.max_errors && sentence_.empty())
    sentence_ = std::to_string(config_.max_errors) + " errors in a row, the last: " + last_error_;
  return false;
}

std::string Instance::ReasonText(cox_verdict verdict) const {
  const char* text = table_->reason(self_, verdict & 0x7fff);
  return text != nullptr ? text : "";
}

std::string Instance::Trouble() const {
  const std::scoped_lock lock(mutex_);
  return quarantined() ? "in quarantine until it is reloaded (" + sentence_ + ")" : last_error_;
}

void Instance::EndCycle() {
  const std::scoped_lock lock(mutex_);
  if (quarantined() || sentence_.empty()) return;
  quarantined_ = true;
  notices_.push_back({Notice::Level::kError, name(),
                      "quarantined: " + sentence_ + "; correct it and reload", true});
}

void Instance::TakeNotices(std::vector<Notice>& out) {
  const std::scoped_lock lock(mutex_);
  for (Notice& notice : notices_) out.push_back(std::move(notice));
  notices_.clear();
  if (dropped_notices_ > 0)
    out.push_back({Notice::Level::kWarn, name(),
                   std::to_string(dropped_notices_) + " more lines were dropped"});
  dropped_notices_ = 0;
}

InstanceStatus Instance::Status() const {
  InstanceStatus status;
  status.name = name();
  status.path = config_.path;
  status.id = table_->id;
  status.version = table_->version;
  status.summary = table_->summary;
  const std::scoped_lock lock(mutex_);
  if (quarantined()) status.quarantined = sentence_;
  for (int p = 0; p < kPoints; ++p)
    status.points[p] = {Offers(static_cast<Point>(p)), tallies_[p].calls, tallies_[p].errors,
                        static_cast<uint64_t>(tallies_[p].overruns), tallies_[p].nanos};
  status.counters.assign(counters_.begin(), counters_.end());
  return status;
}

void Instance::Note(Notice::Level level, std::string text) {
  if (notices_.size() < kMaxNotices)
    notices_.push_back({level, name(), std::move(text)});
  else
    ++dropped_notices_;
}

void Instance::Log(void* ctx, int32_t level, cox_str message) {
  auto* self = static_cast<Instance*>(ctx);
  const std::scoped_lock lock(self->mutex_);
  const int32_t known = level < 0 ? 0 : level > 3 ? 3 : level;
  self->Note(static_cast<Notice::Level>(known), std::string(message.ptr, message.len));
}

void Instance::Count(void* ctx, cox_str metric, double by) {
  auto* self = static_cast<Instance*>(ctx);
  const std::scoped_lock lock(self->mutex_);
  self->counters_[std::string(metric.ptr, metric.len)] += by;
}

}  // namespace cox::host
