#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cancel.h"
#include "training/model.h"
#include "training/policy_loss.h"

namespace grpo {

// One row. T = ids.size(); per-token arrays have T entries, entry t belongs to token t and entry 0 is unused.
struct UpdateRow {
  std::vector<int64_t> ids;
  std::vector<uint8_t> mask;
  std::vector<double> advantages;
  double temperature = 1;
  std::vector<double> old_logprobs;      // empty: ratio 1 with its gradient
  std::vector<double> sampler_logprobs;  // empty: none
};

struct UpdateStats {
  double loss = 0;
  bool has_kl = false;
  double kl = 0, entropy = 0, grad_norm = 0, clip_fraction = 0, ratio_max = 0;
  int64_t tokens = 0, rows = 0;
  std::string skipped;  // empty: the optimizer stepped
  bool has_gap = false;
  double gap = 0;
  double seconds = 0;
  int64_t peak_bytes = 0;
  int64_t micro_batches = 0;
  bool recomputed = false;
  std::string note;  // empty, or how memory changed the micro-batches
};

// One optimizer step over all rows: micro-batches of at most micro_batch_tokens tokens (a longer row goes alone), every
// one divided by the denominators of the whole. Where memory is short they are made smaller, or recomputed, and a note says
// so; an allocation that fails starts the update again with half the tokens. Nothing changes when it throws or when the
// step is skipped.
UpdateStats update(Model& model, const std::vector<UpdateRow>& rows, const LossOptions& loss, const OptimizerOptions& optimizer,
                   int64_t micro_batch_tokens, const Cancel& cancel);

// log p(ids[t] | ids[<t]) of every row, (T - 1) entries each, nats.
std::vector<std::vector<float>> logprobs(Model& model, const std::vector<std::vector<int64_t>>& rows, Which which,
                                         double temperature, bool full_support, const Cancel& cancel);

}  // namespace grpo
