#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/config.h"
#include "tensor.h"

namespace grpo {

// The seven linear layers of a block, in the order of Block::projections.
enum Projection { kQ, kK, kV, kO, kGate, kUp, kDown, kProjections };
inline constexpr std::array<const char*, kProjections> kProjectionNames = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                                           "gate_proj", "up_proj", "down_proj"};

struct Linear {
  at::Tensor weight;  // (out, in) compute type
  at::Tensor bias;    // (out) compute type, or undefined
};

struct Block {
  at::Tensor input_norm;       // (C) float32
  at::Tensor post_norm;        // (C) float32
  at::Tensor q_norm, k_norm;   // (D) float32, Qwen3 only
  std::array<Linear, kProjections> projections;
};

// One copy of a model's weights. C hidden size, V vocabulary, D head dimension.
struct Weights {
  at::Tensor embedding;  // (V, C) compute type
  at::Tensor norm;       // (C) float32
  at::Tensor head;       // (V, C) compute type; the embedding itself when tied
  std::vector<Block> blocks;
  int64_t bytes() const;
  // Every tensor with its canonical name; a tied head is not repeated.
  void for_each(const std::function<void(const std::string&, at::Tensor&)>& visit);
};

// Maps the files and builds the weights: tensors whose stored type is the compute type stay in the mapping, others are
// converted one at a time. Throws INVALID_MODEL (file changed or cut, non-finite values), OUT_OF_MEMORY.
Weights load_weights(const PolicyConfig& config, const std::function<void(int64_t done, int64_t total)>& progress);

// Reads one float32 tensor (an adapter's) into its own memory.
at::Tensor load_float32(const std::vector<WeightFile>& files, const TensorEntry& entry, const std::string& name);

}  // namespace grpo
