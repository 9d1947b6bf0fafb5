#include "policies/evaluation/message_validator.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

struct FaultyMessages {
  const char* text;
  const char* message;
};

// Lowered schedules of two ranks, each with one fault.
const FaultyMessages kFaulty[] = {
    {"0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 1 (0F0): its result is never sent"},
    {"0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0\n",
     "rank 1, action 1 (1F0): has not received what it needs"},
    {"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0\n",
     "rank 1, action 3 (1B0): its result is never sent"},
    {"0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 1 (0SEND_F0): is before the result that it sends"},
    {"0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 3 (0SEND_F0): is done twice"},
    {"0F0,0SEND_F0,0RECV_B0,0B0,0SEND_B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 5 (0SEND_B0): there is no earlier stage"},
    {"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1SEND_F0,1B0,1SEND_B0\n",
     "rank 1, action 3 (1SEND_F0): there is no later stage"},
    {"0F0,0F1,0SEND_F0,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
     "1RECV_F1,1RECV_F0,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n",
     "rank 1, action 1 (1RECV_F1): rank 0 sends 0SEND_F0 at this place, but messages between two "
     "ranks are matched in order"},
    {"0F0,0SEND_F0,0RECV_B0,0B0,0F1,0SEND_F1,0RECV_B1,0B1\n"
     "1RECV_F0,1F0,1RECV_F1,1F1,1B1,1B0,1SEND_B0,1SEND_B1\n",
     "rank 0, action 4 (0B0): waits forever, because the ranks deadlock"},
    {"0UNSHARD,0F0,0SEND_F0,0RESHARD,0RECV_B0,0B0\n1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 6 (0B0): its weights are not gathered"},
    {"0UNSHARD,0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0\n1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 2 (0UNSHARD): the weights are already gathered"},
    {"0RESHARD,0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 1 (0RESHARD): the weights have not been gathered before"},
    {"0F0,0SEND_F0,0REDUCE_GRAD,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 3 (0REDUCE_GRAD): is before the last weight gradient of the stage"},
    {"0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0REDUCE_GRAD\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     "rank 0, action 6 (0REDUCE_GRAD): is done twice"},
    {"0F0,0SEND_F0,3F0,0B0,3B0\n1RECV_F0,1F0,2F0,2B0,1B0\n",
     "rank 0, action 3 (3F0): has not received what it needs"},
    {"0F0,0SEND_F0,3RECV_F0,3F0,3B0,3SEND_B0,0RECV_B0,0B0\n"
     "1RECV_F0,1F0,1SEND_F0,2F0,2SEND_F0,2RECV_B0,2B0,1B0,1SEND_B0\n",
     "rank 1, action 3 (1SEND_F0): both stages are on this rank"},
};

TEST(Messages, FaultsAreNamedWithRankAndAction) {
  for (const FaultyMessages& faulty : kFaulty) {
    const Schedule schedule = parse_torch_schedule(faulty.text, "test.csv").schedule;
    EXPECT_EQ(error_of([&] { validate_messages(schedule); }),
              std::string("schedule 'test', ") + faulty.message);
  }
}

}  // namespace
}  // namespace windtunnel
