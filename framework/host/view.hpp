// The columns that plugins see (cox_view), made of one snapshot, and the way from names to rows.
//
// Owner and thread: one Decide(). Promises: rows are in the order of the snapshot for nodes and
// jobs and sorted by name for all else; node lanes are 64-byte aligned and padded with zero rows to
// a multiple of 64; table() and its pointers stay valid and in place while the View lives. Only the
// free lanes and the used column ever change. The snapshot must outlive the view.
#pragma once

#include <cox/plugin.h>

#include <array>
#include <cstdint>
#include <map>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/snapshot.hpp"

namespace cox::host {

template <class T>
struct LineAllocator {  // 64 bytes: a cache line, and the widest vector register
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT(*-explicit-*)
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, size_t) { ::operator delete (p, std::align_val_t{64}); }
  friend bool operator==(LineAllocator, LineAllocator) { return true; }
};
using Lane = std::vector<int32_t, LineAllocator<int32_t>>;  // one number a node

class View {
 public:
  explicit View(const model::Snapshot& snapshot);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const cox_view& table() const { return table_; }

  uint32_t NodeRow(std::string_view name) const;  // COX_NONE when there is none; likewise below
  uint32_t PoolRow(std::string_view name) const { return pools_.Find(name); }
  uint32_t FlavorRow(std::string_view name) const { return flavors_.Find(name); }
  uint32_t GpuTypeRow(std::string_view name) const { return gpu_types_.Find(name); }
  uint32_t LedgerRow(const model::LedgerKey& key) const;

  // Who pays for one flavor of a pending job's candidate: equal for jobs of one owner that ask for
  // the same source, pool and flavor. The ledger rows are in the order of model::Charges.
  struct Payer {
    uint32_t number = 0;
    std::vector<uint32_t> rows;
  };
  const Payer& PayerOf(uint32_t pending_job, const model::Candidate& candidate,
                       std::string_view flavor) const;
  const model::LedgerKey& ledger_key(uint32_t row) const { return *ledger_keys_[row]; }

  const Lane& lane(int column) const { return lanes_[static_cast<size_t>(column)]; }
  void SetFree(uint32_t node, const Resources& free);
  void SetUsed(uint32_t row, int64_t units) { used_[row] = units; }

 private:
  class Names {  // dense numbers in the order of the names
   public:
    // Where the row of the name will stand after Seal().
    const uint32_t* Add(std::string_view name) { return &rows_.emplace(name, 0).first->second; }
    void Seal();
    uint32_t Find(std::string_view name) const;
    const cox_names& table() const { return table_; }

   private:
    std::unordered_map<std::string_view, uint32_t> rows_;
    std::vector<cox_str> column_;
    cox_names table_{};
  };
  struct Jobs {
    std::vector<uint64_t> id;
    std::vector<cox_str> name;
    std::vector<uint32_t> user, project, tenant, priority, guaranteed, capacity, attempt, replicas;
    std::vector<int64_t> submit_ns, start_ns;
    cox_jobs table{};
    std::vector<std::array<const uint32_t*, 3>> owners;  // user, project, tenant
    template <class Job>
    void Fill(const std::vector<Job>& jobs);
  };
  using PayerKey = std::array<uint32_t, 6>;  // user, project, tenant, source, pool, flavor
  PayerKey KeyOf(uint32_t pending_job, const model::Candidate& candidate,
                 std::string_view flavor) const;

  void CollectNames(const model::Snapshot& snapshot);
  void FillNodes(const model::Snapshot& snapshot);
  void FillLedger(const model::Snapshot& snapshot);
  void FillPolicies(const model::Snapshot& snapshot);

  Names users_, projects_, tenants_, pools_, flavors_, gpu_types_;

  std::unordered_map<std::string_view, uint32_t> node_rows_;
  std::vector<cox_str> node_names_;
  std::array<Lane, COX_NODE_COLUMNS> lanes_;
  std::array<const int32_t*, COX_NODE_COLUMNS> columns_{};
  cox_nodes nodes_{};

  Jobs pending_, running_;

  std::map<PayerKey, Payer> payers_;
  std::map<model::LedgerKey, uint32_t> ledger_rows_;
  std::vector<const model::LedgerKey*> ledger_keys_;
  std::vector<uint32_t> level_, subject_, capacity_, pool_, flavor_;
  std::vector<int64_t> limit_, used_;
  cox_ledger ledger_{};

  std::vector<cox_str> policy_id_;
  std::vector<uint32_t> policy_kind_, policy_scope_, policy_begin_, policy_node_;
  std::vector<uint64_t> policy_subject_;
  std::vector<int64_t> policy_expires_;
  cox_policies policies_{};

  cox_view table_{};
};

}  // namespace cox::host
