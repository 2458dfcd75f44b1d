#include "cycle/board.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "support/world.hpp"

namespace cox::test {
namespace {

using cycle::Board;
using cycle::Trial;

World OneLeaving() {
  World w;
  w.Node("n1", 8);
  RunningJob& job = w.Running("r", {.gpus = 6}, {"n1"});
  job.leaving = true;
  job.leaves_by = At(1030);
  return w;
}

int64_t Gpu(const Board& board) {
  return board.Room(0).gpu_milli / 1000;
}

TEST(Board, LookingAheadShowsTheRoomThatComesBack) {
  const auto s = OneLeaving().Freeze();
  Board board(s);
  EXPECT_EQ(Gpu(board), 2);
  board.LookAhead(true);
  EXPECT_EQ(Gpu(board), 8);
}

TEST(Board, AJobThatOverstaysItsEndIsNotCountedOn) {
  World w = OneLeaving();
  w.snapshot.now = At(1090);
  const auto s = w.Freeze();
  Board board(s);
  board.LookAhead(true);
  EXPECT_EQ(Gpu(board), 2);
}

TEST(Board, WhatIsKeptIsTakenFromTheRoomThatComesBackFirst) {
  const auto s = OneLeaving().Freeze();
  Board board(s);
  board.Hold(0, Gpus(5));
  EXPECT_EQ(Gpu(board), 2) << "the 6 that come back are enough for it";
  board.Hold(0, Gpus(2));
  EXPECT_EQ(Gpu(board), 1);
  board.LookAhead(true);
  EXPECT_EQ(Gpu(board), 1);
}

TEST(Board, NodesAreWalkedFromTheFullestThatCouldServe) {
  World w;
  for (const char* name : {"n0", "n1", "n2", "n3"}) w.Node(name, 8);
  const auto s = w.Freeze();
  Board board(s);
  const auto walk = [&](int64_t gpus) {
    std::string nodes;
    board.FromFullest(gpus * 1000, [&](uint32_t node) {
      nodes += std::to_string(node);
      return true;
    });
    return nodes;
  };
  EXPECT_EQ(walk(1), "0123") << "equal nodes by name";
  Trial trial(board);
  board.Use(2, Gpus(5));
  board.Use(1, Gpus(8));
  EXPECT_EQ(walk(1), "203");
  EXPECT_EQ(walk(4), "03");
  EXPECT_EQ(walk(0), "1203");
  trial.Undo();
  EXPECT_EQ(walk(1), "0123");
}

// Random nested changes, some kept, some taken back: after the outermost ends, every column is as
// it was, to the last bit.
TEST(Board, RollbackRestoresEveryColumn) {
  World w;
  for (int n = 0; n < 5; ++n) w.Node("n" + std::to_string(n), 8);
  w.Quota(spec::QuotaLevel::kTenant, "acme", 64);
  w.Running("r", {.replicas = 2, .gpus = 3}, {"n1", "n2"});
  w.Pending("p", {.gpus = 2});
  const auto s = w.Freeze();
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    Board board(s);
    const auto columns = [&] {
      std::vector<int64_t> all;
      for (int c = 0; c < COX_NODE_COLUMNS; ++c) {
        all.insert(all.end(), board.rows().lane(c).begin(), board.rows().lane(c).end());
      }
      const cox_ledger& ledger = *board.view().ledger;
      all.insert(all.end(), ledger.used, ledger.used + ledger.count);
      return all;
    };
    const auto before = columns();
    const std::function<void(int)> wild = [&](int depth) {
      for (int i = 0; i < 6; ++i) {
        const auto node = static_cast<uint32_t>(pick(5));
        switch (pick(depth > 0 ? 6 : 4)) {
          case 0:
            board.Use(node, Gpus(pick(9)));
            break;
          case 1:
            board.Leave(node, Gpus(pick(9)));
            break;
          case 2:
            board.Hold(node, Gpus(pick(9) - 4));
            break;
          case 3:
            board.Charge(static_cast<uint32_t>(pick(static_cast<int>(board.view().ledger->count))),
                         pick(9) - 4);
            break;
          default: {
            Trial inner(board);
            wild(depth - 1);
            if (pick(2) == 0) inner.Keep();
          }
        }
      }
    };
    {
      Trial outer(board);
      wild(3);
    }
    ASSERT_EQ(columns(), before) << "round " << round;
    board.LookAhead(true);
    board.LookAhead(false);
    ASSERT_EQ(columns(), before);
  }
}

}  // namespace
}  // namespace cox::test
