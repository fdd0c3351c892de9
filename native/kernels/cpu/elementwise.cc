#include "kernels/cpu/elementwise.h"

#include <ATen/Parallel.h>

#include <cmath>

#include "kernels/cpu/bfloat16_bits.h"
#include "kernels/cpu/vector_math.h"

namespace grpo {
namespace {

// Elements below which a second thread costs more than it brings.
constexpr int64_t kElementsPerThread = int64_t{1} << 15;
constexpr int kLanes = 16;

int64_t grain(int64_t elements_per_item) { return kElementsPerThread / elements_per_item + 1; }

template <typename Input, typename Element>
__attribute__((always_inline)) inline void norm_row(const Input* x, const float* weight, float eps, int64_t size, Element* out) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += widen(x[i + j]) * widen(x[i + j]);
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < size; ++i) sum += widen(x[i]) * widen(x[i]);
  const float scale = 1 / std::sqrt(sum / static_cast<float>(size) + eps);
  for (i = 0; i < size; ++i) narrow(widen(x[i]) * scale * weight[i], out + i);
}

template <typename Element>
__attribute__((always_inline)) inline void rotate_head(Element* x, const float* cosine, const float* sine, int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    const float a = widen(x[i]), b = widen(x[i + half]);
    narrow(a * cosine[i] - b * sine[i], x + i);
    narrow(b * cosine[i] + a * sine[i], x + i + half);
  }
}

template <typename Element>
__attribute__((always_inline)) inline void silu_range(Element* gate, const Element* up, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float g = widen(gate[i]);
    // fast_exp takes arguments <= 0: sigmoid from the side that does not overflow.
    const float e = fast_exp(g < 0 ? g : -g);
    const float sigmoid = (g < 0 ? e : 1.0F) / (1.0F + e);
    Element activated;
    narrow(g * sigmoid, &activated);
    narrow(widen(activated) * widen(up[i]), gate + i);
  }
}

GRPO_MULTIVERSION void norm_ff(const float* x, const float* w, float e, int64_t n, float* out) { norm_row(x, w, e, n, out); }
GRPO_MULTIVERSION void norm_fb(const float* x, const float* w, float e, int64_t n, uint16_t* out) { norm_row(x, w, e, n, out); }
GRPO_MULTIVERSION void norm_bb(const uint16_t* x, const float* w, float e, int64_t n, uint16_t* out) {
  norm_row(x, w, e, n, out);
}
GRPO_MULTIVERSION void rotate_f(float* x, const float* c, const float* s, int64_t half) { rotate_head(x, c, s, half); }
GRPO_MULTIVERSION void rotate_b(uint16_t* x, const float* c, const float* s, int64_t half) { rotate_head(x, c, s, half); }
GRPO_MULTIVERSION void silu_f(float* g, const float* u, int64_t n) { silu_range(g, u, n); }
GRPO_MULTIVERSION void silu_b(uint16_t* g, const uint16_t* u, int64_t n) { silu_range(g, u, n); }

inline void norm(const float* x, const float* w, float e, int64_t n, float* out) { norm_ff(x, w, e, n, out); }
inline void norm(const float* x, const float* w, float e, int64_t n, uint16_t* out) { norm_fb(x, w, e, n, out); }
inline void norm(const uint16_t* x, const float* w, float e, int64_t n, uint16_t* out) { norm_bb(x, w, e, n, out); }
inline void rotate(float* x, const float* c, const float* s, int64_t half) { rotate_f(x, c, s, half); }
inline void rotate(uint16_t* x, const float* c, const float* s, int64_t half) { rotate_b(x, c, s, half); }
inline void silu(float* g, const float* u, int64_t n) { silu_f(g, u, n); }
inline void silu(uint16_t* g, const uint16_t* u, int64_t n) { silu_b(g, u, n); }

}  // namespace

template <typename Input, typename Element>
void rms_norm_rows(const Input* x, const float* weight, float eps, int64_t rows, int64_t size, Element* out) {
  at::parallel_for(0, rows, grain(size), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) norm(x + row * size, weight, eps, size, out + row * size);
  });
}

template <typename Element>
void rotate_rows(Element* x, const float* cosine, const float* sine, int64_t rows, int64_t heads, int64_t dim) {
  const int64_t half = dim / 2;
  at::parallel_for(0, rows, grain(heads * dim), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t head = 0; head < heads; ++head) {
        rotate(x + (row * heads + head) * dim, cosine + row * half, sine + row * half, half);
      }
    }
  });
}

template <typename Element>
void silu_multiply(Element* gate, const Element* up, int64_t n) {
  at::parallel_for(0, n, kElementsPerThread, [&](int64_t begin, int64_t end) { silu(gate + begin, up + begin, end - begin); });
}

template void rms_norm_rows<float, float>(const float*, const float*, float, int64_t, int64_t, float*);
template void rms_norm_rows<float, uint16_t>(const float*, const float*, float, int64_t, int64_t, uint16_t*);
template void rms_norm_rows<uint16_t, uint16_t>(const uint16_t*, const float*, float, int64_t, int64_t, uint16_t*);
template void rotate_rows<float>(float*, const float*, const float*, int64_t, int64_t, int64_t);
template void rotate_rows<uint16_t>(uint16_t*, const float*, const float*, int64_t, int64_t, int64_t);
template void silu_multiply<float>(float*, const float*, int64_t);
template void silu_multiply<uint16_t>(uint16_t*, const uint16_t*, int64_t);

}  // namespace grpo
