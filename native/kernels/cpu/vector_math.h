#pragma once
#include <cstdint>
#include <cstring>

// Functions marked with this are compiled for each instruction set and chosen when the library is loaded.
#define GRPO_MULTIVERSION __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))

namespace grpo {

// e^x in float32, within 2 ulp, written so that loops over it become vector code. x <= 0 in every use here; below -87 the
// result is 0. Coefficients: Cephes expf.
__attribute__((always_inline)) inline float fast_exp(float x) {
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float clamped = x < -87.0F ? -87.0F : x;
  const float shifted = clamped * 1.44269504F + kMagic;
  const float n = shifted - kMagic;
  const float r = (clamped - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float mantissa = p * r * r + r + 1.0F;
  int32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  const int32_t exponent = (bits << 23) + 0x3f800000;
  float scale;
  std::memcpy(&scale, &exponent, sizeof scale);
  return x < -87.0F ? 0.0F : mantissa * scale;
}

}  // namespace grpo
