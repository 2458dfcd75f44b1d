// Does a demand fit below every limit above it (S40, S41)? A demand is charged to several rows at
// once (tenant, project, user; for one pool or for all); a row without a limit does not hold it
// back. Pure integer arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cox::policies {

struct QuotaRow {
  int64_t limit = -1;  // units; -1 = no quota names this row
  int64_t used = 0;
};

struct QuotaBlock {
  enum class Kind {
    kWait,      // fits the limit, but others use it now
    kTooLarge,  // more than the whole limit: waiting cannot help (D2)
    kNoQuota,   // no row has a limit, and the site does not give what nobody granted
  } kind = Kind::kWait;
  size_t row = 0;         // which one blocks
  int64_t left = 0;       // units free in it, never negative
  int64_t shortfall = 0;  // units that must be released first
};

// The row that blocks most: one that can never be satisfied before one that can, then the larger
// shortfall, then the earlier row. None: `units` may be charged to all of `rows`.
std::optional<QuotaBlock> FirstBlock(std::span<const QuotaRow> rows, int64_t units,
                                     bool missing_denies);

// All rows that block, that one first: who is told of one only asks for more of it and waits on.
std::vector<QuotaBlock> AllBlocks(std::span<const QuotaRow> rows, int64_t units,
                                  bool missing_denies);

}  // namespace cox::policies
