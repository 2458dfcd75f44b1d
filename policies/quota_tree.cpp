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

std::optional<QuotaBlock> BlockOf(const QuotaRow& row, size_t index, int64_t units) {
  if (row.limit < 0) return std::nullopt;
  const int64_t left = Minus(row.limit, row.used);
  if (units <= left) return std::nullopt;
  return QuotaBlock{units > row.limit ? QuotaBlock::Kind::kTooLarge : QuotaBlock::Kind::kWait,
                    index, std::max<int64_t>(left, 0), Minus(units, left)};
}

bool IsWorse(const QuotaBlock& a, const QuotaBlock& b) {
  if (a.kind != b.kind) return a.kind == QuotaBlock::Kind::kTooLarge;
  return a.shortfall > b.shortfall;
}

bool NobodyGranted(std::span<const QuotaRow> rows, int64_t units) {
  return units > 0 && std::ranges::none_of(rows, [](const QuotaRow& r) { return r.limit >= 0; });
}

}  // namespace

std::optional<QuotaBlock> FirstBlock(std::span<const QuotaRow> rows, int64_t units,
                                     bool missing_denies) {
  if (missing_denies && NobodyGranted(rows, units)) {
    return QuotaBlock{QuotaBlock::Kind::kNoQuota, 0, 0, units};
  }
  std::optional<QuotaBlock> worst;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto block = BlockOf(rows[i], i, units);
    if (block && (!worst || IsWorse(*block, *worst))) worst = block;
  }
  return worst;
}

std::vector<QuotaBlock> AllBlocks(std::span<const QuotaRow> rows, int64_t units,
                                  bool missing_denies) {
  if (missing_denies && NobodyGranted(rows, units)) {
    return {{QuotaBlock::Kind::kNoQuota, 0, 0, units}};
  }
  std::vector<QuotaBlock> blocks;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (const auto block = BlockOf(rows[i], i, units)) blocks.push_back(*block);
  }
  std::ranges::stable_sort(blocks, IsWorse);
  return blocks;
}

}  // namespace cox::policies
