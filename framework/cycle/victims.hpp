// Whom a preemptor may send away, and whom it does (2.6, D3, D24). Works on the board as it will be
// once all leaving jobs are gone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cycle/round.hpp"

namespace cox::cycle {

using Victims = std::vector<uint32_t>;  // rows of running jobs

// May `victim` go for `preemptor`? Pure law, whatever it would help.
bool IsLawful(const model::RunningJob& victim, const model::PendingJob& preemptor);

// From when on; kNever = not at all. The site may let everybody run for a while first.
TimePoint LawfulFrom(const Round& round, const model::RunningJob& victim,
                     const model::PendingJob& preemptor);

// 0..6: idle low, medium, high; spot; unguaranteed low, medium, high. Lower bands go first.
int Band(const model::RunningJob& victim);

// Lawful victims with a replica on a node that the bid could use; cheapest first. `lift`: as if
// nobody forbade the bid any node.
Victims LawfulVictims(const Round& round, const Bid& bid, int32_t lift = kLiftNone);

// Of two sets that help: would rather this one go? No band is touched without need; then as below.
bool IsCheaper(const Round& round, const Victims& one, const Victims& other);

// None if even all of them do not help. Otherwise no band is touched above the lowest that helps,
// and nobody goes in vain; of such sets the one with fewest jobs, then lowest bands, fewest GPUs
// lost, least GPU time lost, latest start, id. Exact while the search is small, which covers every
// case of a few victims; beyond that a greedy choice of nodes, still without a needless victim.
std::optional<Victims> ChooseVictims(Round& round, const Bid& bid, const Victims& lawful);

}  // namespace cox::cycle
