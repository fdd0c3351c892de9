#pragma once
#include <cstdint>
#include <vector>

#include "cancel.h"
#include "model/decoder.h"

namespace grpo {

// Rows laid end to end for one pass.
struct Packed {
  at::Tensor ids;                // (N) int64
  std::vector<int64_t> offsets;  // (B + 1)
};

// What Backbone::hidden() would be, bit for bit, keeping nothing: a reference with the policy's weights then has KL 0 exactly,
// which the fused steps of Decoder::forward do not promise. (N, C) compute type.
at::Tensor hidden_without_graph(const Decoder& decoder, const View& view, const Packed& packed, const Cancel& cancel);

// The blocks of a model with what backward needs: the whole graph, or only the input of each block (recompute), from
// which backward builds one block's graph at a time. Chen et al. 2016, "Training deep nets with sublinear memory cost".
class Backbone {
 public:
  Backbone(const Decoder& decoder, const View& view, const Packed& packed, bool recompute, const Cancel& cancel);
  // (N, C) compute type, without a graph.
  const at::Tensor& hidden() const { return hidden_; }
  // Adds to the gradients of the trained tensors. grad (N, C) float32 = d loss / d hidden.
  void backward(const at::Tensor& grad);

  // Bytes that a pass over n tokens keeps alive, for choosing between the two.
  static int64_t graph_bytes(const PolicyConfig& config, int64_t tokens, bool recompute);

 private:
  const Decoder& decoder_;
  View view_;
  const Cancel& cancel_;
  bool recompute_;
  Rotary rotary_;
  Attend attend_;
  at::Tensor embedded_;             // with a graph when the embedding is trained
  std::vector<at::Tensor> inputs_;  // recompute: input of each block, and of the final norm
  at::Tensor output_;               // whole graph
  at::Tensor hidden_;
};

}  // namespace grpo
