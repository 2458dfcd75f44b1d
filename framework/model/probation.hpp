// A node that was blocked until a moment ago is used last for a while (complaint N4): whoever
// blocked it had his reasons, and an important job should not be the one to find out whether they
// still hold.
#pragma once

#include "model/snapshot.hpp"

namespace cox::model {

constexpr Duration kProbation = std::chrono::hours(1);

// Of a block that has ended by itself; one that was taken back by hand is forgiven. Such rows stay
// in the snapshot for that long.
inline bool IsOnProbation(const PolicyRow& row, TimePoint now) {
  return row.type == spec::NodePolicyType::kNodeNotIn && row.expires_at <= now &&
         now - row.expires_at < kProbation &&
         (row.scope == PolicyRow::Scope::kUser || row.scope == PolicyRow::Scope::kTenant);
}

}  // namespace cox::model
