#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "cancel.h"
#include "model/config.h"
#include "model/lora.h"
#include "model/weights.h"
#include "tensor.h"

namespace grpo {

// Which weights a forward pass uses: base alone, or base with an adapter beside it.
struct View {
  const Weights* weights = nullptr;
  const LoraSet* lora = nullptr;        // null: base
  const LoraSet* infer_lora = nullptr;  // the same in the compute type, for passes without a graph
  // Dropout on the adapter's input, in updates only; the same key gives the same masks, so recomputed layers agree.
  double dropout = 0;
  uint64_t dropout_key = 0;
};

// Rotary tables of N packed tokens.
struct Rotary {
  at::Tensor cos, sin;  // (N, 1, D/2) float32
};

// Attention of one layer: q (N, H, D), k and v (N, K, D) in the compute type -> (N, H*D).
using Attend = std::function<at::Tensor(int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;

// Decoder blocks over N packed tokens of any number of rows: only attention knows where rows begin.
// The residual stream is float32 whatever the compute type. Llama, Qwen2 and Qwen3 (dense) differ only in biases, in
// q/k norms and in the rotary frequencies.
class Decoder {
 public:
  explicit Decoder(const PolicyConfig& config);

  // positions (N) -> tables.
  Rotary rotary(const std::vector<int64_t>& positions) const;
  // ids (N) int64 -> residual stream (N, C) float32.
  at::Tensor embed(const View& view, const at::Tensor& ids) const;
  // One block: h (N, C) float32 -> (N, C) float32.
  at::Tensor block(const View& view, int64_t layer, const at::Tensor& h, const Rotary& rotary, const Attend& attend) const;
  // Final norm: h (N, C) float32 -> (N, C) compute type, what the head multiplies.
  at::Tensor finish(const View& view, const at::Tensor& h) const;
  // All of it without a graph.
  at::Tensor forward(const View& view, const at::Tensor& ids, const std::vector<int64_t>& positions, const Attend& attend,
                     const Cancel& cancel, const char* operation) const;

  const PolicyConfig& config() const { return config_; }

 private:
  // One block without a graph, in fused steps: adds to h in place.
  void infer(const View& view, int64_t layer, at::Tensor& h, const Rotary& rotary, const Attend& attend) const;
  // Several projections of the same x.
  std::vector<at::Tensor> infer_linear(const View& view, int64_t layer, const std::vector<Projection>& projections,
                                       const at::Tensor& x) const;
  at::Tensor infer_norm(const at::Tensor& x, const at::Tensor& weight) const;
  void infer_rotate(at::Tensor& x, const Rotary& rotary) const;
  at::Tensor linear(const View& view, int64_t layer, Projection projection, const at::Tensor& x) const;
  at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight) const;
  at::Tensor rotate(const at::Tensor& x, const Rotary& rotary) const;

  const PolicyConfig& config_;
  at::ScalarType compute_;
  at::Tensor inverse_frequencies_;  // (D/2) float32
};

// Causal attention within rows that lie end to end (offsets: B + 1 entries), for training and scoring.
Attend attend_rows(std::vector<int64_t> offsets);

// Every query head sees its group's key/value head: (K, T, D) -> (H, T, D).
at::Tensor repeat_heads(const at::Tensor& x, int64_t heads);

// 0, 1, ... of each row.
std::vector<int64_t> row_positions(const std::vector<int64_t>& offsets);

// x (M, K) times weight (N, K) transposed, plus bias: without a graph, by this package's own product where that is faster
// or, when strict, always. Results of few rows do not depend on how many there are.
at::Tensor infer_product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool strict);

// Copies numbers into a tensor of their own.
at::Tensor to_tensor(const std::vector<int64_t>& values);

}  // namespace grpo
