#include "host/config.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "spec/schema.hpp"

namespace cox::host {

using nlohmann::json;

struct Config::Tree {
  json root;

  // nullptr: no such key.
  const json* Find(cox_str path) const {
    const json* at = &root;
    std::string_view rest(path.ptr, path.len);
    while (true) {
      const size_t dot = rest.find('.');
      const std::string key(rest.substr(0, dot));
      if (at->is_object()) {
        const auto it = at->find(key);
        if (it == at->end()) return nullptr;
        at = &*it;
      } else if (at->is_array() && !key.empty() && key.size() < 10 &&
                 key.find_first_not_of("0123456789") == std::string::npos) {
        const size_t index = std::stoul(key);
        if (index >= at->size()) return nullptr;
        at = &(*at)[index];
      } else {
        return nullptr;
      }
      if (dot == std::string_view::npos) return at;
      rest.remove_prefix(dot + 1);
    }
  }
};

Config::Config(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

Result<Config> Config::Create(const char* schema, const std::string& config,
                              const std::string& where) {
  json rules = json::parse(schema, nullptr, /*allow_exceptions=*/false);
  if (!rules.is_object())
    return InvalidArgument(where + ": the plugin's config_schema is no JSON object");
  // An author who forgets it must not make typing errors invisible.
  if (!rules.contains("additionalProperties")) rules["additionalProperties"] = false;
  if (!rules.contains("type")) rules["type"] = "object";
  auto complete = spec::ValidateAndDefault(config, where, rules.dump());
  if (!complete) return complete.error();
  auto tree = std::make_unique<Tree>();
  tree->root = json::parse(*complete, nullptr, /*allow_exceptions=*/false);
  if (!tree->root.is_object()) return Internal(where + ": the configuration is no object");
  return Config(std::move(tree));
}

int32_t Config::Int(cox_str key, int64_t* out) const {
  const json* value = tree_->Find(key);
  if (value != nullptr && value->is_boolean()) {
    *out = value->get<bool>() ? 1 : 0;
  } else if (value != nullptr && value->is_number_unsigned() &&
             value->get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return COX_INVALID_ARGUMENT;
  } else if (value != nullptr && value->is_number_integer()) {
    *out = value->get<int64_t>();
  } else {
    return COX_INVALID_ARGUMENT;
  }
  return COX_OK;
}

int32_t Config::Double(cox_str key, double* out) const {
  const json* value = tree_->Find(key);
  if (value == nullptr || !value->is_number()) return COX_INVALID_ARGUMENT;
  *out = value->get<double>();
  return COX_OK;
}

int32_t Config::Str(cox_str key, cox_str* out) const {
  const json* value = tree_->Find(key);
  if (value == nullptr || !value->is_string()) return COX_INVALID_ARGUMENT;
  const auto& text = value->get_ref<const std::string&>();
  *out = {text.data(), text.size()};
  return COX_OK;
}

int32_t Config::Len(cox_str key, uint32_t* out) const {
  const json* value = tree_->Find(key);
  if (value == nullptr || !value->is_structured()) return COX_INVALID_ARGUMENT;
  *out = static_cast<uint32_t>(value->size());
  return COX_OK;
}

std::string Config::ToJson() const {
  return tree_->root.dump(2);
}

}  // namespace cox::host
