#include "training/optimizer.h"

#include <algorithm>
#include <cmath>

namespace grpo {
namespace {

// In float64 over blocks of one size, so that the number of threads does not change the sum; no wide copy is made.
double sum_of_squares(const at::Tensor& tensor) {
  constexpr int64_t kBlock = 1 << 16;
  const at::Tensor values = tensor.contiguous();
  const float* data = values.const_data_ptr<float>();
  const int64_t n = values.numel(), blocks = (n + kBlock - 1) / kBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      double sum = 0;
      for (int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) sum += static_cast<double>(data[i]) * data[i];
      sums[static_cast<size_t>(block)] = sum;
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace

double gradient_norm(const std::vector<Parameter>& parameters) {
  double sum = 0;
  for (const Parameter& parameter : parameters) {
    if (parameter.value.grad().defined()) sum += sum_of_squares(parameter.value.grad());
  }
  return std::sqrt(sum);
}

void AdamW::step(std::vector<Parameter>& parameters, double norm, const OptimizerOptions& o) {
  const c10::NoGradGuard no_grad;
  ++steps_;
  const double t = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(o.beta1, t), correction2 = 1 - std::pow(o.beta2, t);
  const double clip = std::min(1.0, o.max_grad_norm / (norm + 1e-6));
  for (Parameter& parameter : parameters) {
    at::Tensor grad = parameter.value.grad();
    if (!grad.defined()) continue;
    if (clip < 1) grad.mul_(clip);
    if (!parameter.first_moment.defined()) {
      parameter.first_moment = at::zeros_like(parameter.value);
      parameter.second_moment = at::zeros_like(parameter.value);
    }
    parameter.first_moment.mul_(o.beta1).add_(grad, 1 - o.beta1);
    parameter.second_moment.mul_(o.beta2).addcmul_(grad, grad, 1 - o.beta2);
    // Not even the sign of a zero changes at rate 0.
    if (o.learning_rate == 0) continue;
    at::Tensor value = parameter.value.detach();
    value.mul_(1 - o.learning_rate * o.weight_decay);
    const at::Tensor denominator = parameter.second_moment.sqrt().div_(std::sqrt(correction2)).add_(o.epsilon);
    value.addcdiv_(parameter.first_moment, denominator, -o.learning_rate / correction1);
  }
}

}  // namespace grpo
