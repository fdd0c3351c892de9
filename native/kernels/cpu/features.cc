#include "kernels/cpu/features.h"

#include <cpuid.h>

namespace grpo {
namespace {

// Register state that the kernel saves: without it the instructions trap.
unsigned long long enabled_state() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0) return 0;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<unsigned long long>(high) << 32) | low;
}

}  // namespace

bool cpu_has_avx512_bfloat16() {
  constexpr unsigned long long kAvx512State = 0xE6;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return (enabled_state() & kAvx512State) == kAvx512State && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax & (1U << 5)) != 0;
}

bool cpu_has_amx_bfloat16() {
  constexpr unsigned long long kAmxState = 0x60000;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return (enabled_state() & kAmxState) == kAmxState && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
         (edx & (1U << 22)) != 0 && (edx & (1U << 24)) != 0;
}

bool cpu_has_bfloat16() { return cpu_has_avx512_bfloat16() || cpu_has_amx_bfloat16(); }

}  // namespace grpo
