#include "training/optimizer.h"

#include <cmath>

namespace grpo {

double gradient_norm(const std::vector<Parameter>& parameters) {
  const c10::NoGradGuard no_grad;
  double sum = 0;
  for (const Parameter& parameter : parameters) {
    const at::Tensor grad = parameter.value.grad();
    if (grad.defined()) sum += grad.to(at::kDouble).pow(2).sum().item<double>();
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
    if (clip < 1) grad = grad * clip;
    if (!parameter.first_moment.defined()) {
      parameter.first_moment = at::zeros_like(parameter.value);
      parameter.second_moment = at::zeros_like(parameter.value);
    }
    parameter.first_moment.mul_(o.beta1).add_(grad, 1 - o.beta1);
    parameter.second_moment.mul_(o.beta2).addcmul_(grad, grad, 1 - o.beta2);
    at::Tensor value = parameter.value.detach();
    value.mul_(1 - o.learning_rate * o.weight_decay);
    const at::Tensor denominator = parameter.second_moment.sqrt().div_(std::sqrt(correction2)).add_(o.epsilon);
    value.addcdiv_(parameter.first_moment, denominator, -o.learning_rate / correction1);
  }
}

}  // namespace grpo
