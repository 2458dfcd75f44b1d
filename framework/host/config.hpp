// The configuration of one instance: the site's JSON, checked against the plugin's schema, defaults
// filled, and served through the typed getters of cox_host. Immutable after Create(); the strings
// it hands out live as long as it does.
#pragma once

#include <cox/plugin.h>

#include <memory>
#include <string>

#include "base/result.hpp"

namespace cox::host {

class Config {
 public:
  // `where` starts each line of an error: "site.yaml:12" or the instance's name. Unknown keys are
  // errors.
  static Result<Config> Create(const char* schema, const std::string& json,
                               const std::string& where);
  Config(Config&&) noexcept;
  Config& operator=(Config&&) noexcept;
  ~Config();

  // Dotted paths with array indices: "rules.0.exit_codes.1". A boolean is an integer of 0 or 1.
  // COX_INVALID_ARGUMENT: no such key, or another type.
  int32_t Int(cox_str key, int64_t* out) const;
  int32_t Double(cox_str key, double* out) const;
  int32_t Str(cox_str key, cox_str* out) const;
  int32_t Len(cox_str key, uint32_t* out) const;

  std::string ToJson() const;  // with the defaults: what `cox plugin check` prints

 private:
  struct Tree;
  explicit Config(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

}  // namespace cox::host
