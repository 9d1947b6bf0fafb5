// A convolutional network as a list of layers, for data-parallel studies. Each has its parameters,
// its forward product as an implicit GEMM (Chetlur et al. 2014, arXiv 1410.0759: m output pixels, n
// output channels, k inputs per output), and the elements that it reads, writes and keeps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/op_kernel.hpp"

namespace windtunnel {

enum class LayerKind { convolution, linear, norm, relu, max_pool, average_pool, add, concat };

struct NetworkLayer {
  std::string name;  // "layer3.0.conv2"
  LayerKind kind = LayerKind::convolution;
  double parameters = 0;
  // The forward pass of one sample is a product of m x k and k x n; 0: it has no product.
  double m = 0, n = 0, k = 0;
  // Elements per sample.
  double input = 0;   // read; for an addition, both operands
  double output = 0;  // written
  // Output elements kept for the backward pass. 0: a ReLU or an addition overwrites the output.
  double kept = 0;
  double groups = 1;      // of a convolution: number of products, each with n / groups channels
  bool winograd = false;  // a convolution for which Winograd's algorithm works: 3 x 3, stride 1

  double weights() const { return n * k; }           // of the matrix; other parameters are vectors
  double forward_macs() const { return m * n * k; }  // multiply-accumulate operations per sample
};

struct LayerTable {
  std::string name;
  std::vector<NetworkLayer> layers;  // in the order of the forward pass
  std::string source;

  double parameters() const;
  double forward_macs() const;  // per sample
  double kept_elements() const;
};

// Building blocks of networks; each layer's input shape is the output shape of the one before.
struct ImageShape {
  int channels = 0, height = 0, width = 0;

  double elements() const { return static_cast<double>(channels) * height * width; }
};

struct Window {  // of a convolution or a pool
  int kernel = 1, stride = 1, padding = 0;
};

struct Convolution {
  int channels = 0;  // of the output
  Window window;
  bool bias = true;
  bool norm = false;  // followed by batch normalisation
  bool relu = true;   // followed by an in-place ReLU
  int groups = 1;     // groups into which input and output channels are divided
};

// A residual block with `outputs` = 0 has the usual number of output channels.
struct Residual {
  int channels = 0;
  int stride = 1;
  int outputs = 0;
  int groups = 1;  // of the 3 x 3 convolution between two 1 x 1 convolutions
};

class NetworkBuilder {
 public:
  explicit NetworkBuilder(ImageShape input) : shape_(input) {}

  // These throw Error if the window is larger than the image.
  void convolution(const std::string& name, const Convolution& convolution);
  void pool(const std::string& name, LayerKind kind, const Window& window);
  void linear(const std::string& name, int outputs, bool relu, bool bias = true);
  void norm(const std::string& name);  // batch normalisation and ReLU
  // Convolutions with batch normalisation, plus the input: through a 1 x 1 convolution if shapes
  // differ (He et al. 2015, arXiv 1512.03385, figure 5). bottleneck: 1 x 1 to `channels`, 3 x 3
  // with the stride (as in torchvision, "ResNet v1.5"), 1 x 1 to four times that; with groups:
  // ResNeXt (Xie et al. 2016, arXiv 1611.05431). basic: two of 3 x 3.
  void bottleneck(const std::string& name, const Residual& block);
  void basic(const std::string& name, const Residual& block);
  // Starts a branch from an earlier shape().
  void resume(const ImageShape& shape) { shape_ = shape; }
  // Concatenates the outputs of branches as channels. Throws Error if their image sizes differ.
  void concat(const std::string& name, const std::vector<ImageShape>& outputs);

  const ImageShape& shape() const { return shape_; }
  std::vector<NetworkLayer> take() { return std::move(layers_); }

 private:
  void elementwise(const std::string& name, LayerKind kind, double parameters);
  void add_input(const std::string& name, const ImageShape& input, int stride);

  ImageShape shape_;
  std::vector<NetworkLayer> layers_;
};

// Kernels of one GPU for `samples` through the whole network; in backward passes the last layer
// comes first. Batch normalisation, ReLU, pools and additions are memory-bound; their backward pass
// belongs to backward_input.
std::vector<Op> network_ops(const LayerTable& network, double samples, Precision precision,
                            Pass pass);
// The kernel of one layer, if it has one in this pass.
std::optional<Op> layer_op(const LayerTable& network, std::size_t layer, double samples,
                           Precision precision, Pass pass);

}  // namespace windtunnel
