#pragma once
#include <cstdint>
#include <exception>
#include <string>

namespace grpo {

// Bytes that this process may still take: the smaller of the machine's available memory and its control group's rest.
int64_t available_memory();

// Throws OUT_OF_MEMORY naming what does not fit, before the operating system would kill the process.
void require_memory(const char* operation, int64_t bytes, const char* what);

// What one policy may take: weights, optimizer, keys and values, and the graph of an update together. Belongs to the
// policy's thread.
class MemoryBudget {
 public:
  // limit in bytes; 0: only what the machine has.
  explicit MemoryBudget(int64_t limit) : limit_(limit) {}
  bool limited() const { return limit_ > 0; }
  void hold(int64_t bytes) { held_ += bytes; }
  void release(int64_t bytes) { held_ -= bytes; }
  // Bytes left of the limit; unlimited: the largest number.
  int64_t left() const;
  // Throws OUT_OF_MEMORY when the limit has no room for so many more.
  void require_limit(const char* operation, int64_t bytes, const char* what) const;
  // The same for the limit and the machine.
  void require(const char* operation, int64_t bytes, const char* what) const;

 private:
  int64_t limit_;
  int64_t held_ = 0;
};

// Whether an exception says that an allocation failed; libtorch reports that in more than one way.
bool is_out_of_memory(const std::exception& error);

// "2.3 MB", "120 MB".
std::string megabytes(int64_t bytes);

// Largest resident size since the last reset, in bytes; a reset that the kernel refuses leaves the process's own peak.
int64_t peak_resident_bytes();
void reset_peak_resident_bytes();

}  // namespace grpo
