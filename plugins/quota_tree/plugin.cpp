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
    const auto blocks =
        cox::policies::AllBlocks(Rows(view, asks, ask), asks.units[ask], Denies(asks, ask));
    if (blocks.empty()) return;
    const std::string need = std::string(kCapacity[asks.capacity[ask]]) + " " +
                             Pool(view, asks.pool[ask]) +
                             std::string(cox::Name(view.flavors, asks.flavor[ask])) + ": needs " +
                             std::to_string(asks.units[ask]) + " units, ";
    const QuotaBlock::Kind kind = blocks.front().kind;
    cox::Put(out.code, kind == QuotaBlock::Kind::kTooLarge ? "DemandExceedsQuota"
                       : kind == QuotaBlock::Kind::kWait   ? "InsufficientQuota"
                                                           : "NoQuota");
    if (kind == QuotaBlock::Kind::kNoQuota) {
      cox::Put(out.text, need +
                             "but no quota was granted to the user, project or tenant; "
                             "ask an administrator for one");
      return;
    }
    std::string text;
    for (const QuotaBlock& block : blocks) {
      const uint32_t row = asks.row[asks.row_begin[ask] + block.row];
      text += (text.empty() ? "" : "; and ") + std::string(kLevel[view.ledger->level[row]]) + " " +
              Subject(view, row) + ": " + (text.empty() ? need : "") + Left(view, row, block);
      out.row = row;  // who uses the one named last is told next
    }
    cox::Put(out.text, text);
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
    return FirstBlock(Rows(view, asks, ask), asks.units[ask], Denies(asks, ask));
  }
  bool Denies(const cox_asks& asks, uint32_t ask) const {
    return missing_denies_[asks.capacity[ask]];
  }
  static std::vector<cox::policies::QuotaRow> Rows(const cox_view& view, const cox_asks& asks,
                                                   uint32_t ask) {
    std::vector<cox::policies::QuotaRow> rows;
    for (uint32_t i = asks.row_begin[ask]; i < asks.row_begin[ask + 1]; ++i)
      rows.push_back({view.ledger->limit[asks.row[i]], view.ledger->used[asks.row[i]]});
    return rows;
  }

  static std::string Left(const cox_view& view, uint32_t row, const QuotaBlock& block) {
    const std::string limit = std::to_string(view.ledger->limit[row]);
    if (block.kind == QuotaBlock::Kind::kTooLarge)
      return "the whole quota is " + limit + "; ask for less, or for more quota";
    return std::to_string(block.left) + " of " + limit + " left (" +
           std::to_string(view.ledger->used[row]) + " used); waits until " +
           std::to_string(block.shortfall) + " more are released";
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
