#include "kernels/cpu/softmax.h"

#include <cmath>

#include "kernels/cpu/vector_math.h"

namespace grpo {
namespace {

constexpr int kLanes = 16;
// Float32 sums stay this short; their totals are added in float64.
constexpr int64_t kBlock = 2048;

GRPO_MULTIVERSION float largest(const float* z, int64_t n) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = z[0];
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = z[i + j] > lanes[j] ? z[i + j] : lanes[j];
  }
  float top = lanes[0];
  for (int j = 1; j < kLanes; ++j) top = lanes[j] > top ? lanes[j] : top;
  for (; i < n; ++i) top = z[i] > top ? z[i] : top;
  return top;
}

GRPO_MULTIVERSION void block_sums(const float* z, int64_t n, float top, float inverse, float* sum, float* moment) {
  float x[kBlock], e[kBlock];
  for (int64_t i = 0; i < n; ++i) x[i] = (z[i] - top) * inverse;
  for (int64_t i = 0; i < n; ++i) e[i] = fast_exp(x[i]);
  // Lanes keep the order of additions fixed, and let the loop become vector code.
  float sums[kLanes] = {}, moments[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) sums[j] += e[i + j];
    for (int j = 0; j < kLanes; ++j) moments[j] += e[i + j] * x[i + j];
  }
  float s = 0, m = 0;
  for (int j = 0; j < kLanes; ++j) {
    s += sums[j];
    m += moments[j];
  }
  for (; i < n; ++i) {
    s += e[i];
    m += e[i] * x[i];
  }
  *sum = s;
  *moment = m;
}

}  // namespace

SoftmaxRow softmax_row(const float* logits, int64_t n, float inverse_temperature) {
  SoftmaxRow row{largest(logits, n), 0, 0, 0};
  for (int64_t i = 0; i < n; i += kBlock) {
    float sum = 0, moment = 0;
    block_sums(logits + i, i + kBlock < n ? kBlock : n - i, row.top, inverse_temperature, &sum, &moment);
    row.total += sum;
    row.weighted += moment;
  }
  row.log_total = std::log(row.total);
  return row;
}

GRPO_MULTIVERSION void exponentials(const float* logits, int64_t n, float top, float inverse_temperature, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = fast_exp((logits[i] - top) * inverse_temperature);
}

}  // namespace grpo
