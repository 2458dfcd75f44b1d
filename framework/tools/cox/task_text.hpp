// A task as text for people: `cox list`, `describe`, `explain`, `events`. Pure but for the zone
// database behind When().
#pragma once

#include <string>

#include "base/time.hpp"
#include "tools/cox/value.hpp"

namespace cox::cli {

// `jobs`: rows of the verb `list`.
std::string ListText(const Value& jobs, TimePoint now, bool colour);

// `job`: result of the verb `describe`. Times in the job's own zone (S6).
std::string DescribeText(const Value& job, TimePoint now, bool colour);

// `why`: result of the verb `explain`; `zone` of its times.
std::string ExplainText(const Value& why, const std::string& zone, TimePoint now);

// `events`: rows of the verb `events`. Without `header` they go on below earlier ones.
std::string EventsText(const Value& events, const std::string& zone, bool header = true);

// Hidden variables that came without a value are "****" (S13); so are those that came with one:
// a terminal is read over shoulders.
std::string EnvText(const Value& env);

}  // namespace cox::cli
