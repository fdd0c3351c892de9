#include <immintrin.h>

#include "kernels/cpu/linear.h"

namespace grpo {
namespace {

// 12 of the 16 registers accumulate.
constexpr int kRows = 3;
constexpr int kOutputs = 4;
constexpr int64_t kLanes = 8;
constexpr int64_t kRowBlock = 96;

inline float sum_of(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline void store(const LinearArguments& s, int64_t row, int64_t output, float value) {
  float* y = s.y + row * s.outputs + output;
  *y = s.accumulate ? *y + s.alpha * value : value + (s.bias != nullptr ? s.bias[output] : 0.0F);
}

// R rows of x times C rows of w. The order of additions is the same for every R and C.
template <int R, int C>
inline void tile(const LinearArguments& s, int64_t row, int64_t output) {
  const int64_t k = s.inputs;
  const float* x = s.x + row * k;
  const float* w = s.w + output * k;
  __m256 sum[R][C];
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) sum[r][c] = _mm256_setzero_ps();
  }
  int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    __m256 weights[C];
    for (int c = 0; c < C; ++c) weights[c] = _mm256_loadu_ps(w + c * k + i);
    for (int r = 0; r < R; ++r) {
      const __m256 values = _mm256_loadu_ps(x + r * k + i);
      for (int c = 0; c < C; ++c) sum[r][c] = _mm256_fmadd_ps(values, weights[c], sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) {
      float total = sum_of(sum[r][c]);
      for (int64_t j = i; j < k; ++j) total += x[r * k + j] * w[c * k + j];
      store(s, row + r, output + c, total);
    }
  }
}

template <int C>
inline void outputs_of_rows(const LinearArguments& s, int64_t first_row, int64_t last_row, int64_t output) {
  int64_t row = first_row;
  for (; row + kRows <= last_row; row += kRows) tile<kRows, C>(s, row, output);
  if (last_row - row == 2) return tile<2, C>(s, row, output);
  if (last_row - row == 1) return tile<1, C>(s, row, output);
}

}  // namespace

void linear_range_avx2(const LinearArguments& s, int64_t first, int64_t last) {
  for (int64_t row = 0; row < s.rows; row += kRowBlock) {
    const int64_t last_row = row + kRowBlock < s.rows ? row + kRowBlock : s.rows;
    int64_t output = first;
    for (; output + kOutputs <= last; output += kOutputs) outputs_of_rows<kOutputs>(s, row, last_row, output);
    for (; output < last; ++output) outputs_of_rows<1>(s, row, last_row, output);
  }
}

}  // namespace grpo
