// What the host does to a whole lane after a node plugin has written it: check, sign, merge.
//
// Why loops of 64: lanes are padded to a multiple of it, and a loop of known length without a
// branch becomes vector code at any optimisation level. The check costs less than the plugin's own
// loop.
#pragma once

#include <cox/plugin.h>

#include <cstdint>
#include <span>

namespace cox::host {

constexpr int32_t kVerdictCode = 0x7fff;  // without COX_FIXED; itself the host's: "failed"
constexpr int32_t kMaxScore = 10'000;

// 0, or a code of 1..0x7ffe with or without COX_FIXED.
inline bool IsVerdict(int32_t v) {
  const int32_t code = v & kVerdictCode;
  return v == 0 || ((v >> 16) == 0 && code != 0 && code != kVerdictCode);
}
inline bool IsScore(int32_t v) {
  return v >= 0 && v <= kMaxScore;
}

template <class F>
void EachLane(size_t size, F&& f) {
  for (size_t block = 0; block < size; block += 64) {
    for (size_t i = 0; i < 64; ++i) f(block + i);
  }
}

inline bool AreVerdicts(std::span<const int32_t> lanes) {
  const int32_t* v = lanes.data();
  int32_t bad = 0;
  EachLane(lanes.size(), [&](size_t i) {
    const int32_t code = v[i] & kVerdictCode;
    bad |=
        (v[i] & ~0xffff) | (-int32_t{v[i] != 0} & -(int32_t{code == 0} | (code == kVerdictCode)));
  });
  return bad == 0;
}

inline bool AreScores(std::span<const int32_t> lanes) {
  const int32_t* v = lanes.data();
  int32_t bad = 0;
  EachLane(lanes.size(), [&](size_t i) { bad |= int32_t{v[i] < 0} | int32_t{v[i] > kMaxScore}; });
  return bad == 0;
}

// Writes who said no into each lane that does: Refusal::lane().
inline void Sign(std::span<int32_t> lanes, uint16_t instance) {
  int32_t* v = lanes.data();
  const int32_t who = int32_t{instance} << 16;
  if (who == 0) return;
  EachLane(lanes.size(), [&](size_t i) { v[i] |= -int32_t{v[i] != 0} & who; });
}

// The refusals of `lanes` stay; where there is none, that of `other` counts.
inline void KeepFirst(std::span<int32_t> lanes, std::span<const int32_t> other) {
  int32_t* __restrict to = lanes.data();
  const int32_t* __restrict from = other.data();
  EachLane(lanes.size(), [&](size_t i) { to[i] |= -int32_t{to[i] == 0} & from[i]; });
}

inline void AddTimes(std::span<int32_t> sum, std::span<const int32_t> other, int32_t weight) {
  int32_t* __restrict to = sum.data();
  const int32_t* __restrict from = other.data();
  EachLane(sum.size(), [&](size_t i) { to[i] += from[i] * weight; });
}

}  // namespace cox::host
