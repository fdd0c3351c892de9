#pragma once
#include <atomic>
#include <memory>

#include "error.h"

namespace grpo {

// A flag that JavaScript (an AbortSignal) or the end of the process sets, looked at per layer and per micro-batch.
class Cancel {
 public:
  void cancel() { flag_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return flag_.load(std::memory_order_relaxed); }
  void check(const char* operation) const {
    if (cancelled()) throw Error("ABORTED", operation, "was aborted");
  }

 private:
  std::atomic<bool> flag_{false};
};

using CancelPtr = std::shared_ptr<Cancel>;

}  // namespace grpo
