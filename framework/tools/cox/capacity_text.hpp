// What there is and who may use it, as tables: `cox quota`, `pool`, `flavors`, `nodes`,
// `nodepolicy list`, `plugin ls`. Pure.
#pragma once

#include <string>

#include "base/time.hpp"
#include "tools/cox/value.hpp"

namespace cox::cli {

std::string QuotaText(const Value& rows);
std::string PoolText(const Value& result);     // S42: with its time and "not reserved"
std::string FlavorsText(const Value& result);  // S29: empty, with the reason
std::string NodesText(const Value& nodes, bool colour);
std::string PoliciesText(const Value& policies, TimePoint now);
std::string PluginsText(const Value& instances, bool colour);

}  // namespace cox::cli
