#pragma once
#include <cstdint>

namespace grpo {

// What a softmax over one row of logits needs. Sampler and trainer both use this, so that they agree.
struct SoftmaxRow {
  float top;        // largest logit
  double total;     // sum of exp((z - top) / T)
  double weighted;  // sum of exp((z - top) / T) (z - top) / T; entropy = log(total) - weighted / total
  double log_total;
};

//   logits (n) float32; inverse_temperature 1 / T
SoftmaxRow softmax_row(const float* logits, int64_t n, float inverse_temperature);

// exp((z - top) / T) of every logit into out (n).
void exponentials(const float* logits, int64_t n, float top, float inverse_temperature, float* out);

// log p of one id, nats.
inline float log_probability(const SoftmaxRow& row, float logit, float inverse_temperature) {
  return static_cast<float>((static_cast<double>(logit) - row.top) * inverse_temperature - row.log_total);
}

}  // namespace grpo
