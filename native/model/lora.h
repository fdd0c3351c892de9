#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/weights.h"

namespace grpo {

// Low-rank side branch of one linear layer: y += scaling * B (A x). Hu et al. 2021.
struct LoraPair {
  at::Tensor a;  // (R, in) float32
  at::Tensor b;  // (out, R) float32
  bool defined() const { return a.defined(); }
};

// The adapter of a whole model. The base weights are never modified.
struct LoraSet {
  std::vector<std::array<LoraPair, kProjections>> blocks;
  double scaling = 1;
  double dropout = 0;

  // Visits A and B with their canonical names, e.g. "layers.0.q_proj.lora_A", in a fixed order.
  void for_each(const std::function<void(const std::string&, at::Tensor&)>& visit);
  LoraSet frozen_copy() const;
  // A copy in another type, and its values anew from `source`, which has the same shapes; allocates nothing.
  LoraSet converted(at::ScalarType type) const;
  void assign(const LoraSet& source);
};

// A new adapter (A Kaiming-uniform as in PEFT, B zero, from the seed), or the one whose tensors are named.
LoraSet make_lora(const PolicyConfig& config, const TensorTable& tensors, const Weights& weights);

}  // namespace grpo
