// Distinct integer types, so that a node's row in one snapshot can never be taken for the node.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace cox {

template <class Tag, class Rep>
struct Id {
  Rep value{};

  friend auto operator<=>(const Id&, const Id&) = default;
};

// Rows of one Snapshot: dense, start at 0, meaningless in the next snapshot.
using NodeIdx = Id<struct NodeIdxTag, uint32_t>;
using JobIdx = Id<struct JobIdxTag, uint32_t>;

// A task for its whole life, all attempts included. Given by the framework, grows in order of
// arrival, never reused.
using TaskId = Id<struct TaskIdTag, uint64_t>;

// One order to an adapter. Unique over restarts.
using ActionId = Id<struct ActionIdTag, uint64_t>;

}  // namespace cox

template <class Tag, class Rep>
struct std::hash<cox::Id<Tag, Rep>> {
  size_t operator()(const cox::Id<Tag, Rep>& id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
