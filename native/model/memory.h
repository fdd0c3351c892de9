#pragma once
#include <cstdint>

namespace grpo {

// Bytes that this process may still take: the smaller of the machine's available memory and its control group's rest.
int64_t available_memory();

// Throws OUT_OF_MEMORY naming what does not fit, before the operating system would kill the process.
void require_memory(const char* operation, int64_t bytes, const char* what);

// Largest resident size since the last reset, in bytes; a reset that the kernel refuses leaves the process's own peak.
int64_t peak_resident_bytes();
void reset_peak_resident_bytes();

}  // namespace grpo
