#pragma once
#include <cstdint>
#include <vector>

#include "training/model.h"

namespace grpo {

// Rows that go through the model together.
struct MicroBatch {
  size_t begin = 0, end = 0;
  int64_t tokens = 0;
  bool recompute = false;  // blocks are computed again in backward instead of kept
  bool reduced = false;    // memory did not allow the whole graph of as many rows as asked for
};

struct MicroBatchLimits {
  int64_t tokens = 0;      // at most, unless one row is longer
  bool recompute = false;  // always, after an allocation that failed
};

// The next rows from `begin` on. What was asked for where memory allows; else fewer rows while that keeps the matrices
// large, which costs nothing; else recomputation, which costs a second forward pass; else single rows. In strict mode rows
// are split last, because another split adds the gradients in another order.
//   lengths (B) tokens of each row
// Throws OUT_OF_MEMORY, naming the row, when one row does not fit.
MicroBatch next_micro_batch(const Model& model, const std::vector<int64_t>& lengths, size_t begin, const MicroBatchLimits& limits);

// Bytes that an update over n tokens takes beside the weights and moments: graph, logits, gradients.
int64_t update_bytes(const Model& model, int64_t tokens, bool recompute);

}  // namespace grpo
