#include <immintrin.h>

#include "kernels/cpu/linear.h"

namespace grpo {
namespace {

// Rows of x and of w that one pass of the inner loop covers: 24 of the 32 registers accumulate.
constexpr int kRows = 6;
constexpr int kOutputs = 4;
constexpr int64_t kLanes = 32;
// Rows of x that stay in the second-level cache while all of w's block passes.
constexpr int64_t kRowBlock = 96;

// Four registers -> their four sums.
inline __m128 sums(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m256 a8 = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
  const __m256 b8 = _mm256_add_ps(_mm512_castps512_ps256(b), _mm512_extractf32x8_ps(b, 1));
  const __m256 c8 = _mm256_add_ps(_mm512_castps512_ps256(c), _mm512_extractf32x8_ps(c, 1));
  const __m256 d8 = _mm256_add_ps(_mm512_castps512_ps256(d), _mm512_extractf32x8_ps(d, 1));
  const __m256 all = _mm256_hadd_ps(_mm256_hadd_ps(a8, b8), _mm256_hadd_ps(c8, d8));
  return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
}

inline __m128 widen(__m128i bits) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(bits), 16)); }

inline void store(const LinearArgumentsBfloat16& s, int64_t row, int64_t output, int count, __m128 value) {
  uint16_t* y = s.y + row * s.outputs + output;
  const __mmask8 mask = static_cast<__mmask8>((1U << count) - 1);
  if (s.accumulate) {
    value = _mm_fmadd_ps(value, _mm_set1_ps(s.alpha), widen(_mm_maskz_loadu_epi16(mask, y)));
  } else if (s.bias != nullptr) {
    value = _mm_add_ps(value, widen(_mm_maskz_loadu_epi16(mask, s.bias + output)));
  }
  _mm_mask_storeu_epi16(y, mask, (__m128i)_mm_cvtneps_pbh(value));
}

// 32 values, or the first ones and zeros.
inline __m512bh load(const uint16_t* values) { return (__m512bh)_mm512_loadu_si512(values); }
inline __m512bh load(__mmask32 mask, const uint16_t* values) { return (__m512bh)_mm512_maskz_loadu_epi16(mask, values); }

// R rows of x times C <= 4 rows of w. The order of additions is the same for every R and C. While the first rows of x pass
// (Ahead), the next rows of w are fetched: each is short, so that the processor would start to wait anew at every one.
template <int R, int C, bool Ahead>
inline void tile(const LinearArgumentsBfloat16& s, int64_t row, int64_t output) {
  const int64_t k = s.inputs;
  const uint16_t* x = s.x + row * k;
  const uint16_t* w = s.w + output * k;
  __m512 sum[R][kOutputs];
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < kOutputs; ++c) sum[r][c] = _mm512_setzero_ps();
  }
  int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    __m512bh weights[C];
    for (int c = 0; c < C; ++c) {
      weights[c] = load(w + c * k + i);
      if (Ahead) _mm_prefetch(reinterpret_cast<const char*>(w + (c + C) * k + i), _MM_HINT_T0);
    }
    for (int r = 0; r < R; ++r) {
      const __m512bh values = load(x + r * k + i);
      for (int c = 0; c < C; ++c) sum[r][c] = _mm512_dpbf16_ps(sum[r][c], values, weights[c]);
    }
  }
  if (i < k) {
    const __mmask32 mask = static_cast<__mmask32>((1ULL << (k - i)) - 1);
    for (int r = 0; r < R; ++r) {
      const __m512bh values = load(mask, x + r * k + i);
      for (int c = 0; c < C; ++c) {
        sum[r][c] = _mm512_dpbf16_ps(sum[r][c], values, load(mask, w + c * k + i));
      }
    }
  }
  for (int r = 0; r < R; ++r) store(s, row + r, output, C, sums(sum[r][0], sum[r][1], sum[r][2], sum[r][3]));
}

template <int C, bool Ahead>
inline void rows_left(const LinearArgumentsBfloat16& s, int64_t row, int64_t count, int64_t output) {
  switch (count) {
    case 6:
      return tile<6, C, Ahead>(s, row, output);
    case 5:
      return tile<5, C, Ahead>(s, row, output);
    case 4:
      return tile<4, C, Ahead>(s, row, output);
    case 3:
      return tile<3, C, Ahead>(s, row, output);
    case 2:
      return tile<2, C, Ahead>(s, row, output);
    case 1:
      return tile<1, C, Ahead>(s, row, output);
    default:
      return;
  }
}

template <int C>
inline void outputs_of_rows(const LinearArgumentsBfloat16& s, int64_t first_row, int64_t last_row, int64_t output) {
  const int64_t count = last_row - first_row;
  const int64_t first_count = count < kRows ? count : kRows;
  rows_left<C, true>(s, first_row, first_count, output);
  int64_t row = first_row + first_count;
  for (; row + kRows <= last_row; row += kRows) tile<kRows, C, false>(s, row, output);
  rows_left<C, false>(s, row, last_row - row, output);
}

}  // namespace

void linear_range_avx512bf16(const LinearArgumentsBfloat16& s, int64_t first, int64_t last) {
  for (int64_t row = 0; row < s.rows; row += kRowBlock) {
    const int64_t last_row = row + kRowBlock < s.rows ? row + kRowBlock : s.rows;
    int64_t output = first;
    for (; output + kOutputs <= last; output += kOutputs) outputs_of_rows<kOutputs>(s, row, last_row, output);
    for (; output < last; ++output) outputs_of_rows<1>(s, row, last_row, output);
  }
}

}  // namespace grpo
