#pragma once
#include <optional>
#include <vector>

#include "cancel.h"
#include "tensor.h"

namespace grpo {

// The vocabulary head, always in chunks of rows: logits of a whole batch never exist, forward or backward.
//   weight   (V, C) compute type
//   excluded (E) int64, ids outside the support: probability 0, log-prob -infinity; undefined when none
struct Head {
  at::Tensor weight;
  at::Tensor excluded;
  std::vector<uint8_t> support;  // (V) 1 = allowed, empty = all
  bool strict = false;           // batch-invariant products

  // Logits of hidden (n, C) in float32, excluded ids at a large negative number.
  at::Tensor logits(const at::Tensor& hidden) const;
  bool allowed(int64_t id) const { return support.empty() || support[static_cast<size_t>(id)] != 0; }
};

// Scores of n positions.
struct Scores {
  std::vector<float> logprobs;   // (n) nats: log-softmax(logits / temperature) at the target
  std::vector<float> entropies;  // (n) nats, empty unless asked for
};

// Bytes of logits and their derivatives that exist at once while n positions are scored with gradients.
int64_t score_bytes(int64_t vocabulary, int64_t n);

//   hidden       (n, C) compute type
//   targets      (n) ids
//   temperatures (n)
Scores score(const Head& head, const at::Tensor& hidden, const std::vector<int64_t>& targets,
             const std::vector<float>& temperatures, bool with_entropies, const Cancel& cancel, const char* operation);

// d loss / d hidden (n, C) float32 from d loss / d logprobs and d loss / d entropies (n each; entropies may be empty).
// Where weight_grad is given, d loss / d weight (V, C) float32 is added to it.
at::Tensor score_backward(const Head& head, const at::Tensor& hidden, const std::vector<int64_t>& targets,
                          const std::vector<float>& temperatures, const std::vector<float>& grad_logprobs,
                          const std::vector<float>& grad_entropies, at::Tensor* weight_grad, const Cancel& cancel,
                          const char* operation);

}  // namespace grpo
