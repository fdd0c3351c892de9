#pragma once
#include <cstdint>

namespace grpo {

// Products with weights as Hugging Face stores them, (out, in) row by row: nothing is packed, no second copy is made.
// Every output is one dot product with a fixed order of additions, so a row's result does not depend on the rows beside
// it (batch invariance), and sampler and trainer can agree bit for bit.

// y[m, n] = sum_k x[m, k] w[n, k] + bias[n], or y[m, n] += alpha * the sum (accumulate; then there is no bias).
struct LinearArguments {
  const float* x;     // (M, K) contiguous
  const float* w;     // (N, K) contiguous
  const float* bias;  // (N) or null
  float* y;           // (M, N) contiguous
  int64_t rows, inputs, outputs;
  float alpha;
  bool accumulate;
};

// Splits the outputs of all products over the threads, once: waking threads costs as much as a small product itself.
// Products of one call must not read what another one writes.
void linear_float(const LinearArguments* products, int64_t count);
inline void linear_float(const LinearArguments& product) { linear_float(&product, 1); }

// Outputs first .. last - 1 on the calling thread, one version for each instruction set.
void linear_range_avx512(const LinearArguments& arguments, int64_t first, int64_t last);
void linear_range_avx2(const LinearArguments& arguments, int64_t first, int64_t last);
void linear_range_portable(const LinearArguments& arguments, int64_t first, int64_t last);

}  // namespace grpo
