#include "model/memory.h"

#include <c10/util/Exception.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <new>
#include <string>

#include "error.h"

namespace grpo {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
// Left for the rest of the process and for page tables.
constexpr int64_t kReserve = int64_t{256} << 20;

// A field such as "MemAvailable:  123 kB" in bytes, or -1.
int64_t proc_field(const char* path, const std::string& field) {
  std::ifstream in(path);
  std::string name;
  while (in >> name) {
    int64_t kilobytes = 0;
    if (name == field && in >> kilobytes) return kilobytes * 1024;
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return -1;
}

int64_t number_in(const char* path) {
  std::ifstream in(path);
  int64_t value = 0;
  return in >> value ? value : kUnlimited;  // "max" is no number: no limit
}

int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const int64_t used = proc_field("/proc/self/status", "VmSize:");
  return std::max<int64_t>(0, static_cast<int64_t>(limit.rlim_cur) - std::max<int64_t>(used, 0));
}

}  // namespace

int64_t available_memory() {
  int64_t available = proc_field("/proc/meminfo", "MemAvailable:");
  if (available < 0) available = kUnlimited;
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit != kUnlimited) {
    available = std::min(available, std::max<int64_t>(0, limit - number_in("/sys/fs/cgroup/memory.current")));
  }
  return std::min(available, address_space_left());
}

void require_memory(const char* operation, int64_t bytes, const char* what) {
  const int64_t available = available_memory();
  if (bytes <= 0 || available == kUnlimited || bytes + kReserve <= available) return;
  throw Error("OUT_OF_MEMORY", operation,
              std::string(what) + " would take " + megabytes(bytes) + ", but only " + megabytes(available) +
                  " of memory are free; use a smaller model, shorter rows or fewer at once");
}

int64_t MemoryBudget::left() const { return limited() ? std::max<int64_t>(0, limit_ - held_) : kUnlimited; }

void MemoryBudget::require_limit(const char* operation, int64_t bytes, const char* what) const {
  if (bytes <= left()) return;
  throw Error("OUT_OF_MEMORY", operation,
              std::string(what) + " would take " + megabytes(bytes) + ", but only " + megabytes(left()) + " of the " +
                  megabytes(limit_) + " that memoryBytes allows are left; raise it, or use a smaller model, shorter rows or " +
                  "fewer at once");
}

void MemoryBudget::require(const char* operation, int64_t bytes, const char* what) const {
  require_limit(operation, bytes, what);
  require_memory(operation, bytes, what);
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  // The CPU allocator throws a plain error; its own name is all that tells it apart.
  const auto* plain = dynamic_cast<const c10::Error*>(&error);
  return plain != nullptr && std::string(plain->what_without_backtrace()).find("DefaultCPUAllocator") != std::string::npos;
}

std::string megabytes(int64_t bytes) {
  char text[32];
  const double value = static_cast<double>(bytes) / (1 << 20);
  std::snprintf(text, sizeof text, value < 100 ? "%.1f MB" : "%.0f MB", value);
  return text;
}

int64_t peak_resident_bytes() {
  const int64_t peak = proc_field("/proc/self/status", "VmHWM:");
  return std::max<int64_t>(peak, 0);
}

void reset_peak_resident_bytes() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace grpo
