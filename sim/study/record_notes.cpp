#include "sim/study/record_notes.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "policies/shares/share_notes.hpp"
#include "sim/study/decisive_numbers.hpp"
#include "sim/study/notes/note_makers.hpp"
#include "sim/study/notes/tried_changes.hpp"
#include "sim/study/record_invariants.hpp"

namespace windtunnel {
namespace {

struct NoteKind {
  enum class About { step, campaign } about;  // campaign: skipped if none was simulated
  StudyDepth from;                            // the least depth at which the note is given
  std::vector<Note> (*notes)(const NotedRecord& on);
  // At StudyDepth::advice: returns which changes were tried and help. This text is appended to the
  // last note of this kind.
  std::string (*advice)(const Case& the_case) = nullptr;
};

using About = NoteKind::About;
using Depth = StudyDepth;
using On = NotedRecord;

constexpr NoteKind kNoteKinds[] = {
    {About::step, Depth::step,
     [](const On& on) {
       return dearer_choices(on.record.job, on.prepared, software_of(on.the_case));
     }},
    {About::step, Depth::step,
     [](const On& on) {
       std::vector<ReplicaKind> kinds;
       for (const ReplicaCosts& own : on.prepared.kinds) {
         if (!own.packed()) kinds.push_back(own.kind);
       }
       return share_notes(on.record.job, kinds);
     }},
    {About::step, Depth::step, [](const On& on) { return timeline_notes(on.record.timeline); }},
    {About::campaign, Depth::campaign,
     [](const On& on) { return few_failures_notes(*on.campaign); }},
    {About::campaign, Depth::campaign,
     [](const On& on) { return busy_writer_notes(*on.campaign); }},
    {About::campaign, Depth::campaign,
     [](const On& on) { return spoilt_copies(on.record.job, on.record.campaign->tiers); }},
    {About::campaign, Depth::campaign,
     [](const On& on) {
       return whole_job_notes(on.record.job, on.prepared, on.record.campaign->most_out);
     }},
    {About::campaign, Depth::advice,
     [](const On& on) {
       return decisive_numbers(on.the_case, *on.campaign, *on.record.campaign, is_plain_default,
                               on.threads);
     }},
    {About::campaign, Depth::advice,
     [](const On& on) {
       return reported_numbers(on.the_case, *on.campaign, *on.record.campaign, on.threads);
     }},
    {About::step, Depth::advice,
     [](const On& on) { return decisive_step_numbers(on.the_case, on.prepared, on.threads); }},
    {About::step, Depth::step,
     [](const On& on) { return host_bound_notes(on.record.job, on.record.iteration); },
     host_advice},
    {About::step, Depth::advice,
     [](const On& on) {
       return message_order_notes(on.record.job, on.prepared, on.record.iteration);
     }},
    {About::step, Depth::step,
     [](const On& on) { return uneven_stage_notes(on.record.job, on.prepared); }, stage_advice},
    {About::step, Depth::step,
     [](const On& on) { return unlikely_machine_notes(on.record.job.cluster); }},
    {About::step, Depth::step, [](const On& on) { return drawn_nics_notes(on.record.job.cluster); },
     other_draws},
    {About::step, Depth::step,
     [](const On& on) { return unfamiliar_notes(on.record.iteration.familiarity); }},
    {About::step, Depth::step,
     [](const On& on) { return late_exchange_notes(on.record.job, on.record.iteration); }},
    {About::step, Depth::step,
     [](const On& on) { return learning_notes(on.record.job, on.record.iteration); }},
    {About::step, Depth::step, [](const On& on) { return invariant_notes(on.record); }}};

}  // namespace

std::vector<Note> record_notes(const NotedRecord& noted) {
  std::vector<Note> all;
  for (const NoteKind& kind : kNoteKinds) {
    if (noted.depth < kind.from || (kind.about == About::campaign && noted.campaign == nullptr))
      continue;
    std::vector<Note> notes = kind.notes(noted);
    if (!notes.empty() && kind.advice != nullptr && noted.depth == StudyDepth::advice) {
      const std::string tried = kind.advice(noted.the_case);
      if (!tried.empty()) notes.back().figures += "; " + tried;
    }
    std::ranges::move(notes, std::back_inserter(all));
  }
  return all;
}

}  // namespace windtunnel
