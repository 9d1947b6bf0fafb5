#include "scenarios/language/resolve/resolve.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

Case case_of(const std::string& model) {
  return parse_case("name: a\nmodel: " + model +
                        "\ncluster: {nodes: 1, node: dgx-h100}\n"
                        "batch: {global: 8, sequence: 1024}\n",
                    "a.yaml");
}

std::vector<Note> notes_of(const std::string& model) {
  std::vector<Note> notes;
  for (const Note& note : case_of(model).notes) {
    if (note.key == "model") notes.push_back(note);
  }
  return notes;
}

TEST(ModelDefaults, OfAModelWithoutABaseAreTold) {
  const std::vector<Note> notes =
      notes_of("{layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, activation: gelu}");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].text,
            "has no base, so defaults of GPT-2 apply: kv_heads: 16, head_width: 64, ffn: 4096, "
            "normalisation: layer-norm, position: learned, attention: flash, biases: true, "
            "tied_embeddings: true, dropout: false; state the values that differ, or a base");
}

// Qwen2.5-72B has these dimensions, three matrices in the MLP, and a separate loss head.
TEST(ModelDefaults, GroupedQueriesAreOfNoGpt) {
  const std::string dimensions =
      "{layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn: 28672, vocabulary: 152064}";
  const TransformerSpec model = case_of(dimensions).job.model;
  EXPECT_EQ(model.activation, Activation::swiglu);
  EXPECT_EQ(model.normalisation, Normalisation::rms_norm);
  EXPECT_EQ(model.position, PositionEncoding::rotary);
  EXPECT_FALSE(model.biases);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_NEAR(model.parameters(), 70.94e9, 0.01e9);
  EXPECT_EQ(notes_of(dimensions).at(0).text,
            "has no base, and kv_heads: 8 with 64 heads is unlike a GPT, so defaults of Llama "
            "apply: head_width: 128, activation: swiglu, normalisation: rms-norm, position: "
            "rotary, attention: flash, biases: false, tied_embeddings: false, dropout: false; "
            "state the values that differ, or a base");
}

// Each sign alone identifies the family; a stated key keeps its value.
TEST(ModelDefaults, SignsOfAFamily) {
  const auto of = [](const std::string& more) {
    return case_of("{layers: 4, hidden: 1024, heads: 16, vocabulary: 32000" + more + "}").job.model;
  };
  for (const char* more :
       {", kv_heads: 4", ", ffn: 2816", ", activation: swiglu", ", normalisation: rms-norm"}) {
    EXPECT_EQ(of(more).activation, Activation::swiglu) << more;
    EXPECT_EQ(of(more).position, PositionEncoding::rotary) << more;
  }
  EXPECT_EQ(of(", kv_heads: 4").ffn_hidden, 2688);  // 42 x 64, below 8/3 of 1,024
  for (const char* more : {"", ", kv_heads: 16", ", ffn: 4096", ", ffn: 2048, activation: gelu",
                           ", encoder: true, ffn: 2048"}) {
    EXPECT_EQ(of(more).activation, Activation::gelu) << more;
    EXPECT_EQ(of(more).position, PositionEncoding::learned) << more;
  }
  const TransformerSpec stated = of(", kv_heads: 4, activation: gelu, biases: true");
  EXPECT_EQ(stated.activation, Activation::gelu);
  EXPECT_TRUE(stated.biases);
  EXPECT_EQ(stated.ffn_hidden, 4096);
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
