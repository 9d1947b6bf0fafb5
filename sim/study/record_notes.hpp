// Notes on a record, from one table: each kind is a row.
#pragma once

#include <vector>

#include "models/results/note.hpp"
#include "models/results/record.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/studies.hpp"

namespace windtunnel {

struct NotedRecord {
  const Case& the_case;
  const PreparedIteration& prepared;
  const Record& record;            // complete except for these notes
  const CampaignInputs* campaign;  // inputs of its campaign; null: it has none
  StudyDepth depth;
  int threads;  // 0: all cores
};

// Returns the notes in the order of the table.
std::vector<Note> record_notes(const NotedRecord& noted);

}  // namespace windtunnel
