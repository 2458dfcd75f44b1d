#include "policies/quota_tree.hpp"

#include <algorithm>
#include <limits>

namespace cox::policies {
namespace {

// a - b at the ends of the range instead of beyond them.
int64_t Minus(int64_t a, int64_t b) {
  int64_t out = 0;
  if (!__builtin_sub_overflow(a, b, &out)) return out;
  return b > 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace

std::optional<QuotaBlock> FirstBlock(std::span<const QuotaRow> rows, int64_t units,
                                     bool missing_denies) {
  std::optional<QuotaBlock> worst;
  bool limited = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const QuotaRow& row = rows[i];
    if (row.limit < 0) continue;
    limited = true;
    const int64_t left = Minus(row.limit, row.used);
    if (units <= left) continue;
    QuotaBlock block{units > row.limit ? QuotaBlock::Kind::kTooLarge : QuotaBlock::Kind::kWait, i,
                     std::max<int64_t>(left, 0), Minus(units, left)};
    const bool worse =
        !worst || (block.kind != worst->kind ? block.kind == QuotaBlock::Kind::kTooLarge
                                             : block.shortfall > worst->shortfall);
    if (worse) worst = block;
  }
  if (!limited && missing_denies && units > 0)
    return QuotaBlock{QuotaBlock::Kind::kNoQuota, 0, 0, units};
  return worst;
}

}  // namespace cox::policies
