#include <gtest/gtest.h>

#include "models/base/units.hpp"
#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

// Host memory gets a copy every minute, storage every ten minutes; each is complete after one
// minute.
struct Saved {
  Job job;
  std::vector<TierReport> tiers;
};

Saved saved(double rollback_s, int kept) {
  Saved saved;
  saved.job.snapshots = {{.place = SnapshotPlace::host_memory, .every_s = 60},
                         {.place = SnapshotPlace::storage, .every_s = 600, .kept = kept}};
  saved.job.failures = {{.name = "crash", .kind = FailureKind::process},
                        {.name = "spike", .kind = FailureKind::loss_spike}};
  saved.job.failures[1].rollback_s = rollback_s;
  saved.tiers = {{.name = "host-memory", .every_s = 60, .saving_s = 1},
                 {.name = "storage", .every_s = 600, .saving_s = 60}};
  return saved;
}

std::string note_of(const Saved& saved) {
  const std::vector<Note> notes = spoilt_copies(saved.job, saved.tiers);
  return notes.empty() ? "" : notes.front().key + ": " + notes.front().text;
}

// The older of two copies was begun 660 to 1260 s ago. No copy predates a spike that goes back 1800
// s; one predates a spike that goes back 960 s half of the time.
TEST(SpoiltCopies, SaysHowOftenAndWhatToDo) {
  EXPECT_EQ(note_of(saved(1800, 2)),
            "failures.1.rollback: 'spike' goes back 30.0 min, but no copy is kept longer than 21.0 "
            "min (storage: 2 every 10.0 min): 100.0 % of these failures make all copies unusable, "
            "and training begins again from nothing; set snapshots.1.kept=4, or save every 29.0 "
            "min or less often");
  EXPECT_NE(note_of(saved(960, 2)).find("50.0 % of these failures"), std::string::npos);
  EXPECT_EQ(note_of(saved(660, 2)), "");
  // The change that the note advises suffices, and no smaller one does.
  EXPECT_EQ(note_of(saved(1800, 4)), "");
  EXPECT_NE(note_of(saved(1800, 3)), "");
}

// A tier that saves rarely holds the oldest copy some of the time; one that keeps many copies
// always holds it.
TEST(SpoiltCopies, OneTierWhoseCopiesOutliveThemIsEnough) {
  Saved two = saved(1800, 1);
  two.job.snapshots[1].every_s = two.tiers[1].every_s = 3600;
  EXPECT_NE(note_of(two), "");
  two.job.snapshots.push_back({.place = SnapshotPlace::local_disk, .every_s = 600, .kept = 4});
  two.tiers.push_back({.name = "local-disk", .every_s = 600, .saving_s = 60});
  EXPECT_EQ(note_of(two), "");
}

TEST(SpoiltCopies, MoreThanATierCanKeepNeedsALongerInterval) {
  const std::string note = note_of(saved(10 * 3600, 2));
  EXPECT_NE(note.find("save every 85.6 min or less often and set snapshots.1.kept=8"),
            std::string::npos)
      << note;
}

TEST(SpoiltCopies, MemoryKeepsTheNewestOnly) {
  Saved memory = saved(1800, 2);
  memory.job.snapshots.pop_back();
  memory.tiers.pop_back();
  EXPECT_NE(note_of(memory).find("add a tier in storage, which keeps several"), std::string::npos);
  // Without copies there is nothing to spoil, and without loss spikes nothing spoils them.
  EXPECT_TRUE(spoilt_copies(memory.job, {}).empty());
  memory.job.failures.pop_back();
  EXPECT_EQ(note_of(memory), "");
}

// The stated interval suffices as it is printed, with its rounded digits.
TEST(SpoiltCopies, TheIntervalThatItNamesIsEnough) {
  for (int rollback_s = 1300; rollback_s < 20'000; rollback_s += 37) {
    Saved before = saved(rollback_s, 2);
    const std::string note = note_of(before);
    const std::string_view word = "save every ";
    const std::size_t begin = note.find(word);
    if (begin == std::string::npos) continue;
    const std::size_t from = begin + word.size();
    const std::string every = note.substr(from, note.find(" or less", from) - from);
    const double every_s = parse_quantity(every, Dimension::seconds);
    before.job.snapshots[1].every_s = before.tiers[1].every_s = every_s;
    if (note.find("and set snapshots.1.kept=8") != std::string::npos) {
      before.job.snapshots[1].kept = 8;
    }
    EXPECT_EQ(note_of(before), "") << note;
  }
}

}  // namespace
}  // namespace windtunnel
