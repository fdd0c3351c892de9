#include "kernels/cpu/linear.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace grpo {
namespace {

// Multiplications below which a second thread costs more than it brings.
constexpr int64_t kWorkPerThread = int64_t{1} << 17;

using Range = void (*)(const LinearArguments&, int64_t, int64_t);

Range best_range() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return linear_range_avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return linear_range_avx2;
  return linear_range_portable;
}

}  // namespace

void linear_range_portable(const LinearArguments& s, int64_t first, int64_t last) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const float* x = s.x + row * s.inputs;
    for (int64_t output = first; output < last; ++output) {
      const float* w = s.w + output * s.inputs;
      float lanes[8] = {};
      int64_t i = 0;
      for (; i + 8 <= s.inputs; i += 8) {
        for (int j = 0; j < 8; ++j) lanes[j] += x[i + j] * w[i + j];
      }
      float sum = 0;
      for (const float lane : lanes) sum += lane;
      for (; i < s.inputs; ++i) sum += x[i] * w[i];
      float& y = s.y[row * s.outputs + output];
      y = s.accumulate ? y + s.alpha * sum : sum + (s.bias != nullptr ? s.bias[output] : 0.0F);
    }
  }
}

void linear_float(const LinearArguments* products, int64_t count) {
  static const Range range = best_range();
  // Blocks of 16 outputs keep each thread on its own cache lines of y.
  constexpr int64_t kBlock = 16;
  const auto blocks_of = [](const LinearArguments& s) { return (s.outputs + kBlock - 1) / kBlock; };
  int64_t blocks = 0, work = 1;
  for (int64_t i = 0; i < count; ++i) {
    blocks += blocks_of(products[i]);
    work = std::max(work, products[i].rows * products[i].inputs * kBlock);
  }
  at::parallel_for(0, blocks, std::max<int64_t>(1, kWorkPerThread / work), [&](int64_t begin, int64_t end) {
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
      const LinearArguments& s = products[i];
      const int64_t first = std::max(begin - offset, int64_t{0}), last = std::min(end - offset, blocks_of(s));
      if (first < last) range(s, first * kBlock, std::min(last * kBlock, s.outputs));
      offset += blocks_of(s);
    }
  });
}

}  // namespace grpo
