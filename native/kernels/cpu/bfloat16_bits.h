#pragma once
#include <cstdint>
#include <cstring>

namespace grpo {

// bfloat16 values as their 16 bits, beside float for code that is written once for both.

__attribute__((always_inline)) inline float widen(float x) { return x; }
__attribute__((always_inline)) inline float widen(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

__attribute__((always_inline)) inline void narrow(float x, float* out) { *out = x; }
__attribute__((always_inline)) inline void narrow(float x, uint16_t* out) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  *out = static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);  // round to nearest even
}

}  // namespace grpo
