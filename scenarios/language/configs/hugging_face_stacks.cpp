// Models with an encoder and a decoder that reads it: T5, BART, and models of the same form.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "scenarios/language/configs/hugging_face_config.hpp"

namespace windtunnel {
namespace {

using StacksConfig = HuggingFaceConfig;

// Sets the layers of an encoder and then those of a decoder that reads it. `source` is the longest
// input that the file states; the decoder's text is taken to be equally long.
void set_stacks(int encoder, int decoder, int source, TransformerSpec& model) {
  model.layers = encoder + decoder;
  model.pattern = std::string(static_cast<std::size_t>(std::clamp(encoder, 0, 10'000)), 'B') +
                  std::string(static_cast<std::size_t>(std::clamp(decoder, 0, 10'000)), 'C');
  model.source_tokens = source;
  model.sequence = 2 * source;
}

int same_in_both_stacks(const StacksConfig& config, const std::string& what) {
  const int encoder = config.whole("encoder_" + what);
  const int decoder = config.whole("decoder_" + what);
  if (encoder == decoder) return encoder;
  throw Error(config.where("decoder_" + what),
              fmt::format("decoder_{}: {} differs from {} of the encoder; only stacks of the same "
                          "width are modelled",
                          what, decoder, encoder));
}

}  // namespace

void read_t5(const StacksConfig& config, TransformerSpec& model) {
  model.hidden = config.whole_or("d_model", 512);
  model.heads = model.kv_heads = config.whole_or("num_heads", 8);
  model.head_width = config.whole_or("d_kv", 64);
  model.ffn_hidden = config.whole_or("d_ff", 2048);
  model.vocabulary = config.whole_or("vocab_size", 32128);
  const DocumentNode* form = config.find("feed_forward_proj");
  const bool gated = form != nullptr && form->text.starts_with("gated");
  model.activation = gated ? Activation::swiglu : Activation::gelu;
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::none;
  if (config.find("relative_attention_num_buckets") != nullptr) {
    model.left_out.emplace_back("a bias per head and distance that is added to the scores");
  }
  model.biases = false;
  model.tied_embeddings = config.flag_or("tie_word_embeddings", true);
  model.dropout = config.number_or("dropout_rate", 0.1) > 0;
  model.attention = AttentionKernel::unfused;  // the bias stands between scores and softmax
  model.separate_projections = true;
  const int layers = config.whole_or("num_layers", 6);
  set_stacks(layers, config.whole_or("num_decoder_layers", layers),
             config.whole_or("n_positions", 512), model);
}

void read_bart(const StacksConfig& config, TransformerSpec& model) {
  model.hidden = config.whole("d_model");
  model.heads = model.kv_heads = same_in_both_stacks(config, "attention_heads");
  model.ffn_hidden = same_in_both_stacks(config, "ffn_dim");
  model.vocabulary = config.whole("vocab_size");
  model.tied_embeddings = config.flag_or("tie_word_embeddings", true);
  model.dropout = config.number_or("dropout", 0.1) > 0;
  model.separate_projections = true;
  config.find("num_hidden_layers");  // marks the key as read: it repeats encoder_layers
  set_stacks(config.whole("encoder_layers"), config.whole("decoder_layers"),
             config.whole_or("max_position_embeddings", 1024), model);
}

// Pegasus is BART with sines as positions, which have no learned weights.
void read_pegasus(const StacksConfig& config, TransformerSpec& model) {
  read_bart(config, model);
  model.position = PositionEncoding::none;
}

}  // namespace windtunnel
