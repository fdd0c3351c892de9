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

void linear_float(const LinearArguments& s) {
  static const Range range = best_range();
  // Blocks of 16 outputs keep each thread on its own cache lines of y.
  constexpr int64_t kBlock = 16;
  const int64_t blocks = (s.outputs + kBlock - 1) / kBlock;
  const int64_t work = std::max<int64_t>(1, s.rows * s.inputs * kBlock);
  at::parallel_for(0, blocks, std::max<int64_t>(1, kWorkPerThread / work), [&](int64_t begin, int64_t end) {
    range(s, begin * kBlock, std::min(end * kBlock, s.outputs));
  });
}

}  // namespace grpo
