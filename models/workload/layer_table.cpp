#include "models/workload/layer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

double sum_of(const LayerTable& network, const auto& value) {
  return std::accumulate(network.layers.begin(), network.layers.end(), 0.0,
                         [&](double sum, const NetworkLayer& layer) { return sum + value(layer); });
}

int shrunk(int size, const Window& window, const std::string& name) {
  const int padded = size + 2 * window.padding;
  if (window.stride < 1 || window.kernel < 1 || window.kernel > padded) {
    throw Error(
        fmt::format("{}: a kernel of {} with stride {} does not fit {} pixels, padding "
                    "included",
                    name, window.kernel, window.stride, padded));
  }
  return (padded - window.kernel) / window.stride + 1;
}

ImageShape after(const ImageShape& shape, const Window& window, int channels,
                 const std::string& name) {
  return {channels, shrunk(shape.height, window, name), shrunk(shape.width, window, name)};
}

bool is_product(LayerKind kind) {
  return kind == LayerKind::convolution || kind == LayerKind::linear;
}

std::string_view op_name(LayerKind kind) {
  switch (kind) {
    case LayerKind::convolution:
      return "convolution";
    case LayerKind::linear:
      return "linear";
    case LayerKind::norm:
      return "batch norm";
    case LayerKind::relu:
      return "relu";
    case LayerKind::max_pool:
    case LayerKind::average_pool:
      return "pool";
    case LayerKind::concat:
      return "concat";
    case LayerKind::add:
      break;
  }
  return "add";
}

// Elements that a layer reads and writes. Batch normalisation reads its input for the statistics
// and again to apply them; backward it reads input and gradient for the sums and again for the
// result.
double moved_elements(const NetworkLayer& layer, Pass pass) {
  const bool forward = pass == Pass::forward;
  switch (layer.kind) {
    case LayerKind::norm:
      return forward ? 3 * layer.input : 5 * layer.input;
    case LayerKind::relu:
      return forward ? 2 * layer.input : 3 * layer.input;
    case LayerKind::max_pool:
      return forward ? layer.input + layer.output : 2 * layer.input + layer.output;
    case LayerKind::average_pool:
    case LayerKind::concat:
      return layer.input + layer.output;
    case LayerKind::add:  // backward: both sides take the same gradient, nothing moves
      return forward ? layer.input + layer.output : 0;
    case LayerKind::convolution:
    case LayerKind::linear:
      break;
  }
  return 0;
}

// A convolution reads its image once, however often windows overlap. The gradient of the weights is
// written in the precision of the weights.
Op product_op(const NetworkLayer& layer, double samples, double e, Pass pass) {
  Op op;
  op.name = op_name(layer.kind);
  op.kind = OpKind::gemm;
  op.batch = layer.groups;
  const double rows = samples * layer.m;
  const double outputs = layer.n / layer.groups;
  switch (pass) {
    case Pass::forward:
      op.m = rows, op.n = outputs, op.k = layer.k;
      break;
    case Pass::backward_input:
      op.m = rows, op.n = layer.k, op.k = outputs;
      break;
    case Pass::backward_weight:
      op.m = outputs, op.n = layer.k, op.k = rows;
      break;
  }
  op.flops = 2 * op.batch * op.m * op.n * op.k;
  op.bytes = e * (samples * (layer.input + layer.output) + layer.n * layer.k);
  return op;
}

Op memory_op(const NetworkLayer& layer, double samples, double e, Pass pass) {
  Op op;
  op.name = op_name(layer.kind);
  op.kind = OpKind::memory;
  op.bytes = e * samples * moved_elements(layer, pass);
  // The forward pass of a ReLU reads one element for each that it writes, like `scale`.
  if (layer.kind == LayerKind::relu && pass == Pass::forward) op.kernel = "scale";
  return op;
}

}  // namespace

double LayerTable::parameters() const {
  return sum_of(*this, [](const NetworkLayer& layer) { return layer.parameters; });
}

double LayerTable::forward_macs() const {
  return sum_of(*this, [](const NetworkLayer& layer) { return layer.forward_macs(); });
}

double LayerTable::kept_elements() const {
  return sum_of(*this, [](const NetworkLayer& layer) { return layer.kept; });
}

void NetworkBuilder::elementwise(const std::string& name, LayerKind kind, double parameters) {
  NetworkLayer layer{.name = name, .kind = kind, .parameters = parameters};
  layer.output = shape_.elements();
  layer.input = kind == LayerKind::add ? 2 * layer.output : layer.output;
  layer.kept = layer.output;
  // These layers work in place, so the memory is counted in the layer before.
  if (kind == LayerKind::relu || kind == LayerKind::add) layer.kept = 0;
  layers_.push_back(layer);
}

void NetworkBuilder::convolution(const std::string& name, const Convolution& convolution) {
  const int groups = convolution.groups;
  if (groups < 1 || shape_.channels % groups != 0 || convolution.channels % groups != 0) {
    throw Error(fmt::format("{}: {} groups do not divide {} input and {} output channels", name,
                            groups, shape_.channels, convolution.channels));
  }
  const double inputs = static_cast<double>(shape_.channels) / groups * convolution.window.kernel *
                        convolution.window.kernel;
  NetworkLayer layer{.name = name, .kind = LayerKind::convolution};
  layer.parameters = convolution.channels * (inputs + (convolution.bias ? 1 : 0));
  layer.input = shape_.elements();
  shape_ = after(shape_, convolution.window, convolution.channels, name);
  layer.m = static_cast<double>(shape_.height) * shape_.width;
  layer.n = convolution.channels;
  layer.k = inputs;
  layer.groups = groups;
  layer.winograd = groups == 1 && convolution.window.kernel == 3 && convolution.window.stride == 1;
  layer.output = layer.kept = shape_.elements();
  layers_.push_back(layer);
  if (convolution.norm) elementwise(name + ".norm", LayerKind::norm, 2.0 * convolution.channels);
  if (convolution.relu) elementwise(name + ".relu", LayerKind::relu, 0);
}

void NetworkBuilder::pool(const std::string& name, LayerKind kind, const Window& window) {
  NetworkLayer layer{.name = name, .kind = kind};
  layer.input = shape_.elements();
  shape_ = after(shape_, window, shape_.channels, name);
  layer.output = layer.kept = shape_.elements();
  layers_.push_back(layer);
}

void NetworkBuilder::linear(const std::string& name, int outputs, bool relu, bool bias) {
  NetworkLayer layer{.name = name, .kind = LayerKind::linear};
  layer.input = shape_.elements();
  layer.m = 1;
  layer.n = outputs;
  layer.k = layer.input;
  layer.parameters = layer.n * (layer.k + (bias ? 1 : 0));
  shape_ = {outputs, 1, 1};
  layer.output = layer.kept = outputs;
  layers_.push_back(layer);
  if (relu) elementwise(name + ".relu", LayerKind::relu, 0);
}

void NetworkBuilder::norm(const std::string& name) {
  elementwise(name, LayerKind::norm, 2.0 * shape_.channels);
  elementwise(name + ".relu", LayerKind::relu, 0);
}

void NetworkBuilder::add_input(const std::string& name, const ImageShape& input, int stride) {
  const int channels = shape_.channels;
  if (stride != 1 || input.channels != channels) {
    shape_ = input;
    convolution(name + ".downsample", {channels, {1, stride, 0}, false, true, false});
    layers_.back().kept = 0;  // only the sum is needed afterwards
  }
  elementwise(name + ".add", LayerKind::add, 0);
  elementwise(name + ".relu", LayerKind::relu, 0);
}

void NetworkBuilder::bottleneck(const std::string& name, const Residual& block) {
  const ImageShape input = shape_;
  const int outputs = block.outputs > 0 ? block.outputs : 4 * block.channels;
  convolution(name + ".conv1", {block.channels, {}, false, true, true});
  convolution(name + ".conv2",
              {block.channels, {3, block.stride, 1}, false, true, true, block.groups});
  convolution(name + ".conv3", {outputs, {}, false, true, false});
  add_input(name, input, block.stride);
}

void NetworkBuilder::basic(const std::string& name, const Residual& block) {
  const ImageShape input = shape_;
  convolution(name + ".conv1", {block.channels, {3, block.stride, 1}, false, true, true});
  convolution(name + ".conv2", {block.channels, {3, 1, 1}, false, true, false});
  add_input(name, input, block.stride);
}

void NetworkBuilder::concat(const std::string& name, const std::vector<ImageShape>& outputs) {
  shape_ = {0, outputs.front().height, outputs.front().width};
  for (const ImageShape& output : outputs) {
    if (output.height != shape_.height || output.width != shape_.width) {
      throw Error(fmt::format("{}: branches of {} x {} and {} x {} pixels do not fit together",
                              name, shape_.height, shape_.width, output.height, output.width));
    }
    shape_.channels += output.channels;
  }
  elementwise(name, LayerKind::concat, 0);
}

std::optional<Op> layer_op(const LayerTable& network, std::size_t layer, double samples,
                           Precision precision, Pass pass) {
  const NetworkLayer& at = network.layers[layer];
  const double e = bytes_of(precision);
  if (is_product(at.kind)) {
    // The first layer needs no gradient of its input, the images.
    if (pass == Pass::backward_input && layer == 0) return {};
    return product_op(at, samples, e, pass);
  }
  if (pass == Pass::backward_weight || moved_elements(at, pass) <= 0) return {};
  return memory_op(at, samples, e, pass);
}

std::vector<Op> network_ops(const LayerTable& network, double samples, Precision precision,
                            Pass pass) {
  std::vector<Op> ops;
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    if (const auto op = layer_op(network, layer, samples, precision, pass)) ops.push_back(*op);
  }
  if (pass != Pass::forward) std::reverse(ops.begin(), ops.end());
  return ops;
}

}  // namespace windtunnel
