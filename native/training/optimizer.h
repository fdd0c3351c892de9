#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tensor.h"

namespace grpo {

struct OptimizerOptions {
  double learning_rate = 5e-6;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double max_grad_norm = 1;
};

// One trained tensor with its moments, all float32 and of the same shape.
struct Parameter {
  std::string name;
  at::Tensor value;
  at::Tensor first_moment, second_moment;
};

// Norm over all gradients together, accumulated in float64. Parameters without a gradient count as zero.
double gradient_norm(const std::vector<Parameter>& parameters);

// AdamW with decoupled weight decay (Loshchilov & Hutter 2019), as torch.optim.AdamW; gradients are first scaled by
// min(1, max_grad_norm / (norm + 1e-6)).
class AdamW {
 public:
  void step(std::vector<Parameter>& parameters, double norm, const OptimizerOptions& options);
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  int64_t steps_ = 0;
};

}  // namespace grpo
