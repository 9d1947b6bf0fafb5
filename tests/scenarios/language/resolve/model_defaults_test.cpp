#include "scenarios/language/resolve/model_defaults.hpp"

#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

std::vector<Note> notes_of(const std::string& model) {
  std::vector<Note> notes;
  for (const Note& note : parse_case("name: a\nmodel: " + model +
                                         "\ncluster: {nodes: 1, node: dgx-h100}\n"
                                         "batch: {global: 8, sequence: 1024}\n",
                                     "a.yaml")
                              .notes) {
    if (note.key == "model") notes.push_back(note);
  }
  return notes;
}

TEST(ModelDefaults, OfAModelWithoutABaseAreTold) {
  const std::vector<Note> notes =
      notes_of("{layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, activation: swiglu}");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(
      notes[0].text,
      "has no base, and these are defaults, GPT-2's: kv_heads: 16, head_width: 64, ffn: 4096, "
      "normalisation: layer-norm, position: learned, attention: flash, biases: true, "
      "tied_embeddings: true, dropout: false; state those that differ, or a base");
}

TEST(ModelDefaults, NothingIsToldOfABaseOrOfWhatIsStated) {
  EXPECT_TRUE(notes_of("llama3-8b").empty());
  EXPECT_TRUE(notes_of("{base: llama3-8b, layers: 4}").empty());
  EXPECT_TRUE(notes_of("{layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, kv_heads: 8, "
                       "head_width: 64, ffn: 4096, activation: gelu, normalisation: layer-norm, "
                       "position: rotary, attention: flash, biases: false, tied_embeddings: false, "
                       "dropout: false}")
                  .empty());
}

}  // namespace
}  // namespace windtunnel
