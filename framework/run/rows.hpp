// A task as one row of a snapshot: while it waits, and while it is charged. Pure.
#pragma once

#include "base/time.hpp"
#include "model/snapshot.hpp"
#include "model/task.hpp"

namespace cox::run {

model::PendingJob PendingRow(const model::Task& task);
model::RunningJob RunningRow(const model::Task& task, TimePoint now);  // it has a placement

}  // namespace cox::run
