#include "training/micro_batches.h"

#include <algorithm>

#include "error.h"
#include "model/memory.h"
#include "training/backbone.h"

namespace grpo {
namespace {

// Share of the machine's free memory that the graph may take before it is made smaller: others want some too.
constexpr double kMachineShare = 0.5;
// From this many tokens on a micro-batch is no less efficient than a larger one.
constexpr int64_t kFullSpeedTokens = 1024;

struct Prefix {
  size_t end = 0;
  int64_t tokens = 0;
};

// As many rows as stay within `limit` tokens, at least one.
Prefix rows_within(const std::vector<int64_t>& lengths, size_t begin, int64_t limit) {
  Prefix prefix{begin, 0};
  while (prefix.end < lengths.size() && (prefix.end == begin || prefix.tokens + lengths[prefix.end] <= limit)) {
    prefix.tokens += lengths[prefix.end++];
  }
  return prefix;
}

}  // namespace

int64_t update_bytes(const Model& model, int64_t tokens, bool recompute) {
  const PolicyConfig& config = model.config();
  const int64_t head = config.vocab_size * config.hidden_size * 4;
  // A full update holds the head's own gradient and one product of its size beside the gradients.
  const int64_t gradients = model.trained_bytes() + (config.train == Train::kFull ? 2 * head : 0);
  return Backbone::graph_bytes(config, tokens, recompute) + score_bytes(config.vocab_size, tokens) + gradients;
}

MicroBatch next_micro_batch(const Model& model, const std::vector<int64_t>& lengths, size_t begin, const MicroBatchLimits& limits) {
  const MemoryBudget& budget = *model.config().budget;
  const int64_t machine = available_memory();
  const int64_t free = std::min(budget.left(), static_cast<int64_t>(kMachineShare * static_cast<double>(machine)));
  const auto fits = [&](int64_t tokens, bool recompute) { return update_bytes(model, tokens, recompute) <= free; };
  const auto batch = [&](const Prefix& rows, bool recompute, bool reduced) {
    return MicroBatch{begin, rows.end, rows.tokens, recompute, reduced};
  };
  // The most rows within the limit that fit, at least one.
  const auto most = [&](bool recompute) {
    Prefix rows = rows_within(lengths, begin, limits.tokens);
    while (rows.end - begin > 1 && !fits(rows.tokens, recompute)) rows.tokens -= lengths[--rows.end];
    return rows;
  };

  const Prefix asked = rows_within(lengths, begin, limits.tokens);
  if (!limits.recompute) {
    if (fits(asked.tokens, false)) return batch(asked, false, false);
    const Prefix rows = most(false);
    if (!model.config().strict && rows.tokens >= kFullSpeedTokens && fits(rows.tokens, false)) return batch(rows, false, true);
  }
  const Prefix rows = most(true);
  if (fits(rows.tokens, true)) return batch(rows, true, true);
  // One row, more than its share: it may still have all that there is.
  const int64_t needed = update_bytes(model, rows.tokens, true);
  const std::string what = "a row of " + std::to_string(rows.tokens) + " tokens, alone and with recomputation,";
  budget.require("update", needed, what.c_str());
  return batch(rows, true, true);
}

}  // namespace grpo
