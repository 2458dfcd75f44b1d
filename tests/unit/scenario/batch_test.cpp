// The made-up batch system: does it carry out exactly what it is told, and see what goes wrong?
#include "scenario/batch.hpp"

#include "unit/scenario/play.hpp"

namespace cox::scenario::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Inbox final : public DeltaSink {
 public:
  void Post(model::Delta delta) override { deltas.push_back(std::move(delta)); }
  model::Outcome Last() const { return std::get<model::Outcome>(deltas.back()); }
  std::vector<model::Delta> deltas;
};

struct Rig {
  Rig() {
    for (const Job& job : scenario.jobs) history.jobs.push_back({job.id, 0, {}, {}, "", "", 0, 0});
    batch.Connect(&inbox);
    batch.Submit(0);
    batch.Submit(1);
  }
  void Order(size_t job, int64_t attempt, decltype(model::Action::what) what) {
    model::Action action;
    action.native_id = Batch::NativeId(job);
    action.attempt = attempt;
    action.what = std::move(what);
    batch.Submit(std::vector{std::move(action)});
  }
  static model::Place On(const std::string& node) {
    model::Place place;
    place.placement.replicas = {{model::Role::kMaster, 0, node, {8'000, 8'192, 8'000}}};
    return place;
  }

  Scenario scenario = Parsed("nodes: [{name: 'n[1-2]'}]\njobs: [{id: A, run: 5}, {id: B}]\n");
  History history;
  Batch batch{scenario, history};
  Inbox inbox;
};

TEST(ScenarioBatch, SeesAStartWhereThereIsNoRoom) {
  Rig rig;
  rig.Order(0, 0, Rig::On("n1"));
  EXPECT_THAT(rig.history.broken, IsEmpty());
  EXPECT_EQ(rig.batch.Free("n1").gpu_milli, 0);
  rig.Order(1, 0, Rig::On("n1"));
  EXPECT_THAT(rig.history.broken,
              ElementsAre("t=0: B was started on n1, which has no room for it"));
}

TEST(ScenarioBatch, SeesAStartOnANodeThatIsNotReadyOrNotThere) {
  Rig rig;
  rig.batch.Change({NodeChange::What::kDrain, "n1", 0});
  rig.Order(0, 0, Rig::On("n1"));
  rig.Order(1, 0, Rig::On("n7"));
  EXPECT_THAT(rig.history.broken, ElementsAre("t=0: A was started on n1, which is not ready",
                                              "t=0: B was started on n7, which is not ready"));
}

TEST(ScenarioBatch, SeesASecondStartAndAStartAfterTheEnd) {
  Rig rig;
  rig.Order(0, 0, Rig::On("n1"));
  rig.Order(0, 0, Rig::On("n1"));  // the same order again: idempotent
  EXPECT_THAT(rig.history.broken, IsEmpty());
  rig.batch.End(0, std::nullopt);
  rig.Order(0, 0, Rig::On("n1"));
  EXPECT_THAT(rig.history.broken, ElementsAre("t=0: A was started after its end"));
  rig.Order(0, 0, model::Requeue{1});
  rig.Order(0, 1, model::Requeue{1});  // idempotent, too
  rig.Order(0, 1, Rig::On("n1"));
  rig.Order(0, 1, model::Kill{});
  rig.Order(0, 1, model::Requeue{0});
  rig.Order(0, 0, Rig::On("n1"));
  EXPECT_EQ(rig.history.broken.back(), "t=0: attempt 0 of A was started twice");
}

TEST(ScenarioBatch, RefusesOrdersForAnotherAttemptOrAnotherJob) {
  Rig rig;
  rig.Order(0, 3, Rig::On("n1"));
  ASSERT_TRUE(rig.inbox.Last().error);
  EXPECT_EQ(rig.inbox.Last().error->code, Code::kConflict);
  for (const size_t unknown : {size_t{2}, size_t{77}}) {
    rig.Order(unknown, 0, Rig::On("n1"));
    EXPECT_EQ(rig.inbox.Last().error->code, Code::kNotFound);
  }
  EXPECT_FALSE(rig.batch.Runs(0));
}

TEST(ScenarioBatch, AKillOfWhatHasNotStartedHoldsItAndSaysSo) {
  Rig rig;
  rig.Order(0, 0, model::Kill{});
  EXPECT_TRUE(rig.inbox.Last().not_started);
  rig.Order(0, 0, Rig::On("n1"));
  rig.Order(0, 0, model::Kill{});
  EXPECT_FALSE(rig.inbox.Last().not_started);
  EXPECT_FALSE(rig.batch.Runs(0));
}

TEST(ScenarioBatch, WhatIsDiscardedRunsNoMore) {
  Rig rig;
  rig.Order(0, 0, Rig::On("n1"));
  rig.Order(0, 0, model::Discard{});
  EXPECT_FALSE(rig.batch.Runs(0));
  rig.Order(0, 0, Rig::On("n1"));
  EXPECT_THAT(rig.history.broken, ElementsAre("t=0: A was started after its end"));
}

TEST(ScenarioBatch, WhileNobodyListensItsReportsAreLost) {
  Rig rig;
  rig.batch.Connect(nullptr);
  rig.inbox.deltas.clear();
  rig.batch.TakePosted();
  rig.Order(0, 0, Rig::On("n1"));
  EXPECT_THAT(rig.inbox.deltas, IsEmpty());
  EXPECT_FALSE(rig.batch.TakePosted());
  rig.batch.Connect(&rig.inbox);
  rig.batch.ShowAll();
  EXPECT_TRUE(rig.batch.TakePosted());
  const auto& all = std::get<model::Baseline>(rig.inbox.deltas.back());
  EXPECT_EQ(all.attempts[0].phase, model::Observation::Phase::kRunning);
  ASSERT_EQ(all.submissions.size(), 1U);
  EXPECT_EQ(all.submissions[0].name, "B");
}

}  // namespace
}  // namespace cox::scenario::test
