// May these jobs start as far as quota goes? The shell around policies/quota_tree: it finds the
// ledger rows of each ask and puts the answer into words. Counts nothing; the core does.
#include <cox/plugin.hpp>
#include <string>
#include <vector>

#include "policies/quota_tree.hpp"
#include "schema.hpp"

namespace {

using cox::policies::QuotaBlock;

// COX_FIXED: a preemptor must itself hold quota (2.6), so evicting others does not help.
constexpr cox_verdict kWait = 1, kTooLarge = 2, kNoQuota = 3;
constexpr const char* kCapacity[] = {"reserved", "on-demand", "spot", "idle"};
constexpr const char* kLevel[] = {"tenant", "project", "user"};

class QuotaTree final : public cox::Quota {
 public:
  explicit QuotaTree(const cox::Config& config) {
    for (uint32_t c = COX_RESERVED; c < COX_IDLE; ++c)
      missing_denies_[c] = config.Str(std::string("missing_quota.") + kCapacity[c]) == "deny";
  }

  void Admit(const cox_view& view, const cox_asks& asks, cox::Span<cox_verdict> out) override {
    for (uint32_t a = 0; a < asks.count; ++a) {
      const auto block = Block(view, asks, a);
      out[a] = block ? Code(block->kind) | COX_FIXED : COX_ALLOW;
    }
  }

  void Explain(const cox_view& view, const cox_asks& asks, uint32_t ask, cox_verdict,
               cox_reason& out) override {
    const auto block = Block(view, asks, ask);
    if (!block) return;
    const std::string units = std::to_string(asks.units[ask]);
    const std::string what = std::string(kCapacity[asks.capacity[ask]]) + " " +
                             Pool(view, asks.pool[ask]) +
                             std::string(cox::Name(view.flavors, asks.flavor[ask]));
    if (block->kind == QuotaBlock::Kind::kNoQuota) {
      cox::Put(out.code, "NoQuota");
      cox::Put(out.text, what + ": needs " + units +
                             " units, but no quota was granted to the user, project or tenant; "
                             "ask an administrator for one");
      return;
    }
    const cox_ledger& ledger = *view.ledger;
    const uint32_t row = asks.row[asks.row_begin[ask] + block->row];
    const std::string limit = std::to_string(ledger.limit[row]);
    std::string text = std::string(kLevel[ledger.level[row]]) + " " + Subject(view, row) + ": " +
                       what + ": needs " + units + " units, ";
    if (block->kind == QuotaBlock::Kind::kTooLarge)
      text += "the whole quota is " + limit + "; ask for less, or for more quota";
    else
      text += std::to_string(block->left) + " of " + limit + " left (" +
              std::to_string(ledger.used[row]) + " used); waits until " +
              std::to_string(block->shortfall) + " more are released";
    cox::Put(out.code, block->kind == QuotaBlock::Kind::kTooLarge ? "DemandExceedsQuota"
                                                                  : "InsufficientQuota");
    cox::Put(out.text, text);
    out.row = row;
  }

  const char* Reason(cox_verdict verdict) const override {
    return verdict == kWait       ? "quota is in use"
           : verdict == kTooLarge ? "demand exceeds the whole quota"
                                  : "no quota was granted";
  }

 private:
  static cox_verdict Code(QuotaBlock::Kind kind) {
    return kind == QuotaBlock::Kind::kWait       ? kWait
           : kind == QuotaBlock::Kind::kTooLarge ? kTooLarge
                                                 : kNoQuota;
  }

  std::optional<QuotaBlock> Block(const cox_view& view, const cox_asks& asks, uint32_t ask) const {
    if (asks.capacity[ask] >= COX_IDLE) return std::nullopt;  // idle needs no quota (S30)
    std::vector<cox::policies::QuotaRow> rows;
    for (uint32_t i = asks.row_begin[ask]; i < asks.row_begin[ask + 1]; ++i)
      rows.push_back({view.ledger->limit[asks.row[i]], view.ledger->used[asks.row[i]]});
    return FirstBlock(rows, asks.units[ask], missing_denies_[asks.capacity[ask]]);
  }

  static std::string Pool(const cox_view& view, uint32_t pool) {
    return pool == COX_NONE ? "" : std::string(cox::Name(view.pools, pool)) + "/";
  }
  static std::string Subject(const cox_view& view, uint32_t row) {
    const cox_names* names[] = {view.tenants, view.projects, view.users};
    return std::string(cox::Name(names[view.ledger->level[row]], view.ledger->subject[row]));
  }

  bool missing_denies_[COX_IDLE] = {};
};

}  // namespace

COX_PLUGIN(QuotaTree, "io.coxswain.quota-tree", "1.0.0",
           "limits of tenant, project and user per capacity type, pool and flavor", kSchema)
