#pragma once

namespace grpo {

// Whether this processor multiplies bfloat16 natively: AVX512-BF16 or AMX-BF16, as processor and kernel both report.
bool cpu_has_bfloat16();
bool cpu_has_avx512_bfloat16();
bool cpu_has_amx_bfloat16();

}  // namespace grpo
