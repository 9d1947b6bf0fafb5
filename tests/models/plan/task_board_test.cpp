#include "models/plan/task_board.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace windtunnel {
namespace {

// Records the calls of the board.
struct Listener {
  std::vector<std::string> heard;

  void on_start(TaskRef receive) { hear("start", receive); }
  void on_posted(TaskRef receive) { hear("posted", receive); }
  void on_end(TaskRef task) { hear("end", task); }
  void wake(TaskRef task) { hear("wake", task); }

  std::vector<std::string> since() { return std::exchange(heard, {}); }

 private:
  void hear(const char* what, TaskRef task) {
    heard.push_back(fmt::format("{} {}.{}", what, task.rank, task.task));
  }
};

using Heard = std::vector<std::string>;

Task task_of(TaskKind kind, std::int16_t stream, std::vector<TaskIndex> after = {}) {
  Task task;
  task.kind = kind;
  task.stream = stream;
  task.after = std::move(after);
  return task;
}

// Rank 0 computes and sends two messages to rank 1, which receives them on a stream of its own.
Plan two_messages(StreamOrder receives) {
  Plan plan;
  plan.ranks = 2;
  plan.classes = {{"a", {0}, {{"compute"}, {"send"}}, {}, {}, {{1}}},
                  {"b", {1}, {{"compute"}, {"recv", receives}}, {}, {}, {{0}}}};
  plan.classes[0].tasks = {task_of(TaskKind::compute, 0), task_of(TaskKind::send, 1, {0}),
                           task_of(TaskKind::send, 1, {0})};
  plan.classes[1].tasks = {task_of(TaskKind::compute, 0), task_of(TaskKind::recv, 1, {0}),
                           task_of(TaskKind::recv, 1), task_of(TaskKind::compute, 0, {1, 2})};
  for (auto [c, t] : {std::pair{0, 1}, {0, 2}, {1, 1}, {1, 2}}) {
    Task& task = plan.classes[c].tasks[t];
    task.peer_slot = 0;
    task.tag = t;
  }
  validate_plan(plan);
  return plan;
}

struct Board {
  explicit Board(const Plan& plan) : templates(class_templates(plan)), board(listener) {
    for (std::size_t c = 0; c < templates.size(); ++c) {
      board.add_rank(templates[c], plan.classes[c].tasks);
    }
    board.begin();
  }
  std::vector<ClassTemplate> templates;
  Listener listener;
  TaskBoard<Listener> board;
};

TEST(TaskBoard, WakesWhatIsReadyAndWhatFollows) {
  const Plan plan = two_messages(StreamOrder::in_order);
  Board run(plan);
  // The second receive is ready too, but its stream has not reached it.
  EXPECT_EQ(run.listener.since(), (Heard{"wake 1.0", "wake 0.0"}));
  run.board.end({0, 0});
  run.board.settle();
  EXPECT_EQ(run.listener.since(), (Heard{"end 0.0", "wake 0.2", "wake 0.1"}));
  EXPECT_TRUE(run.board.may_follow({0, 1}));
  EXPECT_FALSE(run.board.may_follow({1, 3}));
  EXPECT_EQ(run.board.first_open(), (TaskRef{0, 1}));
}

TEST(TaskBoard, APassiveStreamInOrderHoldsBackALaterReceive) {
  const Plan plan = two_messages(StreamOrder::in_order);
  Board run(plan);
  run.listener.since();
  run.board.arrive({1, 2});
  run.board.settle();
  EXPECT_EQ(run.listener.since(), Heard{});
  run.board.end({1, 0});
  run.board.settle();
  EXPECT_EQ(run.listener.since(), (Heard{"end 1.0", "start 1.1", "posted 1.1"}));
  run.board.arrive({1, 1});
  run.board.settle();
  EXPECT_EQ(run.listener.since(),
            (Heard{"end 1.1", "start 1.2", "posted 1.2", "end 1.2", "wake 1.3"}));
  EXPECT_TRUE(run.board.is_done({1, 2}));
}

TEST(TaskBoard, AnUnorderedStreamPostsEveryReceiveThatIsReady) {
  const Plan plan = two_messages(StreamOrder::unordered);
  Board run(plan);
  EXPECT_EQ(run.listener.since(), (Heard{"start 1.2", "posted 1.2", "wake 1.0", "wake 0.0"}));
  run.board.arrive({1, 2});
  EXPECT_EQ(run.listener.since(), Heard{"end 1.2"});
}

TEST(TaskBoard, AStreamByPriorityGivesTheMostUrgentThenTheFirst) {
  Plan plan;
  plan.ranks = 1;
  plan.classes = {{"a", {0}, {{"compute", StreamOrder::by_priority}}, {}, {}, {}}};
  for (int priority : {0, 0, 2}) {
    plan.classes[0].tasks.push_back(task_of(TaskKind::compute, 0));
    plan.classes[0].tasks.back().priority = priority;
  }
  plan.classes[0].tasks[2].not_before_s = 5;
  Board run(plan);
  EXPECT_TRUE(run.board.any_ready(0, 0));
  EXPECT_EQ(run.board.take_ready(0, 0), 0);
  run.board.time_has_come({0, 2});
  run.board.settle();
  EXPECT_EQ(run.board.take_ready(0, 0), 2);
  EXPECT_EQ(run.board.take_ready(0, 0), 1);
  EXPECT_EQ(run.board.take_ready(0, 0), std::nullopt);
}

TEST(TaskBoard, ATaskThatJoinsTheFirstGetsReadyOnce) {
  Plan plan;
  plan.ranks = 1;
  plan.classes = {{"a", {0}, {{"a"}, {"b"}, {"c"}}, {}, {}, {}}};
  plan.classes[0].tasks = {task_of(TaskKind::compute, 0), task_of(TaskKind::compute, 1),
                           task_of(TaskKind::compute, 2, {0, 1})};
  plan.classes[0].tasks[2].join_first = 1;
  Board run(plan);
  run.listener.since();
  run.board.end({0, 1});
  run.board.settle();
  EXPECT_EQ(run.listener.since(), (Heard{"end 0.1", "wake 0.2"}));
  run.board.end({0, 0});
  run.board.settle();
  EXPECT_EQ(run.listener.since(), Heard{"end 0.0"});
}

}  // namespace
}  // namespace windtunnel
