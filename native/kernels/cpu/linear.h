#pragma once
#include <cstdint>

namespace grpo {

// Products with weights as Hugging Face stores them, (out, in) row by row: nothing is packed, no second copy is made.
// Every output is one dot product with a fixed order of additions, so a row's result does not depend on the rows beside
// it (batch invariance), and sampler and trainer can agree bit for bit.

// y[m, n] = sum_k x[m, k] w[n, k] + bias[n], or y[m, n] += alpha * the sum (accumulate; then there is no bias).
template <typename T>
struct LinearOf {
  const T* x;     // (M, K) contiguous
  const T* w;     // (N, K) contiguous
  const T* bias;  // (N) or null
  T* y;           // (M, N) contiguous
  int64_t rows, inputs, outputs;
  float alpha;
  bool accumulate;
};
using LinearArguments = LinearOf<float>;
using LinearArgumentsBfloat16 = LinearOf<uint16_t>;  // bits; sums in float32, y rounded once

// Splits the outputs of all products over the threads, once: waking threads costs as much as a small product itself.
// Products of one call must not read what another one writes.
void linear_float(const LinearArguments* products, int64_t count);
inline void linear_float(const LinearArguments& product) { linear_float(&product, 1); }

// The same in bfloat16, for fewer rows than linear_bfloat16_rows(): from there on the library is faster. 0 where the
// processor lacks instructions for it.
void linear_bfloat16(const LinearArgumentsBfloat16* products, int64_t count);
int64_t linear_bfloat16_rows();

// Versions for instruction sets. What this processor lacks must not be called: see has_linear().
enum class LinearForm { kPortable, kAvx2, kAvx512, kAvx512Bfloat16, kAmx };
bool has_linear(LinearForm form);
// One product by one form on the calling thread.
void linear_by_form(LinearForm form, const LinearArgumentsBfloat16& product);

// Outputs first .. last - 1 on the calling thread.
void linear_range_avx512(const LinearArguments& arguments, int64_t first, int64_t last);
void linear_range_avx2(const LinearArguments& arguments, int64_t first, int64_t last);
void linear_range_portable(const LinearArguments& arguments, int64_t first, int64_t last);
void linear_range_portable(const LinearArgumentsBfloat16& arguments, int64_t first, int64_t last);
void linear_range_avx512bf16(const LinearArgumentsBfloat16& arguments, int64_t first, int64_t last);

// Tile operand B out of rows first .. last - 1 of x (M, K), first a multiple of 16: for every 16 rows and every 32 inputs
// one tile (16 pairs of inputs, 16 rows, 2), zero beyond the ends of x. packed holds packed_amx_size(rows, inputs) values,
// on a multiple of 64 bytes.
inline int64_t packed_amx_size(int64_t rows, int64_t inputs) { return ((rows + 15) / 16) * ((inputs + 31) / 32) * 512; }
void pack_rows_amx(const uint16_t* x, int64_t rows, int64_t inputs, int64_t first, int64_t last, uint16_t* packed);
// first must be a multiple of 16.
void linear_range_amx(const LinearArgumentsBfloat16& arguments, const uint16_t* packed, int64_t first, int64_t last);

}  // namespace grpo
