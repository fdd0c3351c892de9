#pragma once
#include <cstdint>

namespace grpo {

// Fused element-wise steps of a block, without a graph. Element is float or uint16_t (bfloat16 bits); arithmetic is
// float32, rounded where the composed operators of the training pass round.

//   x (rows, size) float32 or Element; weight (size) float32; out (rows, size) Element
template <typename Input, typename Element>
void rms_norm_rows(const Input* x, const float* weight, float eps, int64_t rows, int64_t size, Element* out);

// In place on x (rows, heads, dim): pairs (i, i + dim / 2) turned by the angles of their row.
//   cosine, sine (rows, dim / 2) float32
template <typename Element>
void rotate_rows(Element* x, const float* cosine, const float* sine, int64_t rows, int64_t heads, int64_t dim);

// gate <- silu(gate) * up, both (n).
template <typename Element>
void silu_multiply(Element* gate, const Element* up, int64_t n);

}  // namespace grpo
