#include "training/update.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/philox.h"
#include "model/memory.h"
#include "training/backbone.h"
#include "training/micro_batches.h"

namespace grpo {
namespace {

using Clock = std::chrono::steady_clock;

// Squares of larger gradients leave float32, and the second moment would be infinite for good.
constexpr double kLargestNorm = 1e18;

Packed pack(const std::vector<const UpdateRow*>& rows) {
  Packed packed;
  std::vector<int64_t> ids;
  packed.offsets.push_back(0);
  for (const UpdateRow* row : rows) {
    ids.insert(ids.end(), row->ids.begin(), row->ids.end());
    packed.offsets.push_back(static_cast<int64_t>(ids.size()));
  }
  packed.ids = to_tensor(ids);
  return packed;
}

// The trained positions of a micro-batch. Position p of the packed rows predicts token p + 1 of the same row.
struct Positions {
  std::vector<int64_t> at;            // (M) packed index of the hidden state
  std::vector<int64_t> targets;       // (M)
  std::vector<float> temperatures;    // (M)
  std::vector<size_t> row_begin;      // (B + 1) into the above
};

Positions trained_positions(const std::vector<const UpdateRow*>& rows, const std::vector<int64_t>& offsets) {
  Positions positions;
  positions.row_begin.push_back(0);
  for (size_t b = 0; b < rows.size(); ++b) {
    const UpdateRow& row = *rows[b];
    for (size_t t = 1; t < row.ids.size(); ++t) {
      if (row.mask[t] == 0) continue;
      positions.at.push_back(offsets[b] + static_cast<int64_t>(t) - 1);
      positions.targets.push_back(row.ids[t]);
      positions.temperatures.push_back(static_cast<float>(row.temperature));
    }
    positions.row_begin.push_back(positions.at.size());
  }
  return positions;
}

std::vector<double> masked_in(const UpdateRow& row, const std::vector<double>& values) {
  std::vector<double> out;
  if (values.empty()) return out;
  for (size_t t = 1; t < row.ids.size(); ++t) {
    if (row.mask[t] != 0) out.push_back(values[t]);
  }
  return out;
}

bool finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

class Update {
 public:
  Update(Model& model, const LossOptions& loss, const Denominators& denominators, const Cancel& cancel)
      : model_(model), loss_(loss), denominators_(denominators), cancel_(cancel) {}

  void micro_batch(const std::vector<const UpdateRow*>& rows, bool recompute, uint64_t dropout_key) {
    const Packed packed = pack(rows);
    const Positions positions = trained_positions(rows, packed.offsets);
    const at::Tensor index = to_tensor(positions.at);
    const std::vector<float> reference = reference_logprobs(packed, positions, index);

    View view = model_.view(Which::kPolicy);
    if (view.lora != nullptr) view.dropout = view.lora->dropout;
    view.dropout_key = dropout_key;
    Backbone backbone(model_.decoder(), view, packed, recompute, cancel_);
    const at::Tensor hidden = backbone.hidden().index_select(0, index);
    const Head head = model_.head(Which::kPolicy, false);
    const Scores scores = score(head, hidden, positions.targets, positions.temperatures, true, cancel_, "update");
    if (!finite(scores.logprobs)) finite_ = false;

    std::vector<float> grad_logprobs(positions.at.size()), grad_entropies;
    if (loss_.entropy_coefficient != 0) grad_entropies.resize(positions.at.size());
    for (size_t b = 0; b < rows.size(); ++b) {
      row_loss(*rows[b], positions.row_begin[b], positions.row_begin[b + 1], scores, reference, grad_logprobs, grad_entropies);
    }
    at::Tensor* weight_grad = model_.config().train == Train::kFull ? &head_grad_ : nullptr;
    if (weight_grad != nullptr && !weight_grad->defined()) *weight_grad = at::zeros(head.weight.sizes(), at::kFloat);
    const at::Tensor grad = score_backward(head, hidden, positions.targets, positions.temperatures, grad_logprobs,
                                           grad_entropies, weight_grad, cancel_, "update");
    at::Tensor grad_hidden = at::zeros(backbone.hidden().sizes(), at::kFloat);
    grad_hidden.index_copy_(0, index, grad);
    backbone.backward(grad_hidden);
  }

  // A trained head's own gradient joins what autograd found for the (possibly tied) tensor.
  void finish() {
    if (!head_grad_.defined()) return;
    for (Parameter& parameter : model_.parameters()) {
      const bool is_head = parameter.name == "lm_head" || (model_.config().tied_head && parameter.name == "embed_tokens");
      if (!is_head) continue;
      const c10::NoGradGuard no_grad;
      at::Tensor grad = parameter.value.grad();
      if (grad.defined()) {
        grad.add_(head_grad_);
      } else {
        parameter.value.mutable_grad() = head_grad_;
      }
    }
  }

  const LossSums& sums() const { return sums_; }
  bool is_finite() const { return finite_ && std::isfinite(sums_.loss); }
  double gap_sum = 0;
  int64_t gap_count = 0;

 private:
  std::vector<float> reference_logprobs(const Packed& packed, const Positions& positions, const at::Tensor& index) {
    if (loss_.kl_coefficient == 0) return {};
    const at::Tensor hidden =
        hidden_without_graph(model_.decoder(), model_.view(Which::kReference), packed, cancel_).index_select(0, index);
    return score(model_.head(Which::kReference, false), hidden, positions.targets, positions.temperatures, false, cancel_,
                 "update")
        .logprobs;
  }

  void row_loss(const UpdateRow& row, size_t begin, size_t end, const Scores& scores, const std::vector<float>& reference,
                std::vector<float>& grad_logprobs, std::vector<float>& grad_entropies) {
    const size_t n = end - begin;
    const auto wide = [&](const std::vector<float>& values) {
      return values.empty() ? std::vector<double>() : std::vector<double>(values.begin() + begin, values.begin() + end);
    };
    const std::vector<double> logp = wide(scores.logprobs), entropies = wide(scores.entropies), ref = wide(reference);
    const std::vector<double> old = masked_in(row, row.old_logprobs), sampler = masked_in(row, row.sampler_logprobs);
    const std::vector<double> advantages = masked_in(row, row.advantages);
    const std::vector<uint8_t> mask(n, 1);
    LossRow loss_row;
    loss_row.n = n;
    loss_row.logprobs = logp.data();
    loss_row.old_logprobs = old.empty() ? nullptr : old.data();
    loss_row.reference_logprobs = ref.empty() ? nullptr : ref.data();
    loss_row.sampler_logprobs = sampler.empty() ? nullptr : sampler.data();
    loss_row.entropies = entropies.data();
    loss_row.mask = mask.data();
    loss_row.advantages = advantages.data();
    std::vector<double> grad(n), grad_entropy(n);
    policy_loss_row(loss_row, loss_, denominators_, grad.data(), grad_entropies.empty() ? nullptr : grad_entropy.data(), sums_);
    std::copy(grad.begin(), grad.end(), grad_logprobs.begin() + static_cast<int64_t>(begin));
    if (!grad_entropies.empty()) {
      std::copy(grad_entropy.begin(), grad_entropy.end(), grad_entropies.begin() + static_cast<int64_t>(begin));
    }
    for (size_t i = 0; i < sampler.size(); ++i) {
      if (std::isnan(sampler[i])) continue;
      gap_sum += std::abs(sampler[i] - logp[i]);
      ++gap_count;
    }
  }

  Model& model_;
  const LossOptions& loss_;
  const Denominators& denominators_;
  const Cancel& cancel_;
  LossSums sums_;
  at::Tensor head_grad_;
  bool finite_ = true;
};

// Gradients never outlive an update, however it ends.
class GradientScope {
 public:
  explicit GradientScope(std::vector<Parameter>& parameters) : parameters_(parameters) { clear(); }
  ~GradientScope() { clear(); }
  void clear() {
    for (Parameter& parameter : parameters_) parameter.value.mutable_grad() = at::Tensor();
  }

 private:
  std::vector<Parameter>& parameters_;
};

void check_rows(const Model& model, const std::vector<UpdateRow>& rows) {
  const Head head = model.head(Which::kPolicy, false);
  for (size_t b = 0; b < rows.size(); ++b) {
    const UpdateRow& row = rows[b];
    for (size_t t = 1; t < row.ids.size(); ++t) {
      if (row.mask[t] == 0 || head.allowed(row.ids[t])) continue;
      throw Error("INVALID_ARGUMENT", "update",
                  "rows[" + std::to_string(b) + "].ids[" + std::to_string(t) + "] is " + std::to_string(row.ids[t]) +
                      ", which has no entry in the tokenizer, but its mask is 1; only sampled tokens may have mask 1");
    }
  }
}

// All rows once. False when an allocation failed and limits have been made smaller: start again.
bool run_micro_batches(Model& model, Update& run, const std::vector<const UpdateRow*>& rows, MicroBatchLimits& limits,
                       UpdateStats& stats) {
  std::vector<int64_t> lengths;
  for (const UpdateRow* row : rows) lengths.push_back(static_cast<int64_t>(row->ids.size()));
  const Philox keys(model.config().seed, 0xD0);
  const uint64_t step = static_cast<uint64_t>(model.optimizer().steps()) << 24;
  stats.micro_batches = 0;
  int64_t largest = 0;
  bool reduced = false;
  for (size_t begin = 0; begin < rows.size();) {
    const MicroBatch batch = next_micro_batch(model, lengths, begin, limits);
    try {
      run.micro_batch({rows.begin() + static_cast<int64_t>(batch.begin), rows.begin() + static_cast<int64_t>(batch.end)},
                      batch.recompute, keys.bits(step + begin));
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      if (batch.end - batch.begin == 1 && batch.recompute) {
        throw Error("OUT_OF_MEMORY", "update",
                    "a row of " + std::to_string(batch.tokens) + " tokens, alone and with recomputation, does not fit: an " +
                        "allocation failed with " + megabytes(available_memory()) + " free; use shorter rows or a smaller model");
      }
      limits.tokens = batch.end - batch.begin == 1 ? batch.tokens : batch.tokens / 2;
      limits.recompute = limits.recompute || batch.end - batch.begin == 1;
      stats.note = "an allocation failed, so micro-batches were halved to " + std::to_string(limits.tokens) + " tokens" +
                   (limits.recompute ? " and blocks recomputed" : "");
      return false;
    }
    ++stats.micro_batches;
    stats.recomputed = stats.recomputed || batch.recompute;
    reduced = reduced || batch.reduced;
    largest = std::max(largest, batch.tokens);
    begin = batch.end;
  }
  if (reduced && stats.note.empty()) {
    stats.note = "memory allows micro-batches of " + std::to_string(largest) + " tokens (" + std::to_string(limits.tokens) +
                 " were asked for)" + (stats.recomputed ? ", blocks recomputed in backward" : "");
  }
  return true;
}

}  // namespace

UpdateStats update(Model& model, const std::vector<UpdateRow>& rows, const LossOptions& loss, const OptimizerOptions& optimizer,
                   int64_t micro_batch_tokens, const Cancel& cancel) {
  if (!model.trains()) {
    throw Error("INVALID_ARGUMENT", "update", "this policy was loaded with train: 'none'; load it with train: 'lora' or 'full'");
  }
  check_rows(model, rows);
  const auto start = Clock::now();
  reset_peak_resident_bytes();
  Denominators denominators;
  std::vector<const UpdateRow*> trained;
  for (const UpdateRow& row : rows) {
    const double before = denominators.tokens;
    denominators.add(row.mask.data() + 1, row.mask.size() - 1);
    if (denominators.tokens > before) trained.push_back(&row);
  }

  UpdateStats stats;
  GradientScope gradients(model.parameters());
  MicroBatchLimits limits{micro_batch_tokens, false};
  std::optional<Update> run;
  for (bool done = false; !done;) {
    gradients.clear();
    run.emplace(model, loss, denominators, cancel);
    done = run_micro_batches(model, *run, trained, limits, stats);
  }
  run->finish();
  cancel.check("update");

  const LossSums& sums = run->sums();
  const double tokens = std::max(denominators.tokens, 1.0);
  stats.loss = sums.loss;
  stats.has_kl = loss.kl_coefficient != 0;
  stats.kl = sums.kl / tokens;
  stats.entropy = sums.entropy / tokens;
  stats.clip_fraction = sums.clipped / (loss.ratio == Ratio::kSequence ? std::max(denominators.rows, 1.0) : tokens);
  stats.ratio_max = sums.ratio_max;
  stats.tokens = static_cast<int64_t>(denominators.tokens);
  stats.rows = static_cast<int64_t>(denominators.rows);
  stats.has_gap = run->gap_count > 0;
  stats.gap = stats.has_gap ? run->gap_sum / static_cast<double>(run->gap_count) : 0;
  stats.grad_norm = gradient_norm(model.parameters());
  if (trained.empty()) {
    stats.skipped = "no row has a token with mask 1";
  } else if (!run->is_finite()) {
    stats.skipped = "the loss is not finite";
  } else if (!std::isfinite(stats.grad_norm)) {
    stats.skipped = "the gradient is not finite";
  } else if (std::min(stats.grad_norm, optimizer.max_grad_norm) > kLargestNorm) {
    stats.skipped = "the gradient is too large for float32 moments; set maxGradNorm";
  } else {
    model.optimizer().step(model.parameters(), stats.grad_norm, optimizer);
    model.next_version();
  }
  stats.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  stats.peak_bytes = peak_resident_bytes();
  return stats;
}

std::vector<std::vector<float>> logprobs(Model& model, const std::vector<std::vector<int64_t>>& rows, Which which,
                                         double temperature, bool full_support, const Cancel& cancel) {
  constexpr int64_t kBatchTokens = 4096;
  const Head head = model.head(which, full_support);
  std::vector<std::vector<float>> results(rows.size());
  for (size_t begin = 0; begin < rows.size();) {
    std::vector<int64_t> ids, offsets{0}, targets, positions;
    size_t end = begin;
    while (end < rows.size() && (end == begin || offsets.back() + static_cast<int64_t>(rows[end].size()) <= kBatchTokens)) {
      const std::vector<int64_t>& row = rows[end++];
      for (size_t t = 1; t < row.size(); ++t) {
        positions.push_back(offsets.back() + static_cast<int64_t>(t) - 1);
        targets.push_back(row[t]);
      }
      ids.insert(ids.end(), row.begin(), row.end());
      offsets.push_back(static_cast<int64_t>(ids.size()));
    }
    if (!targets.empty()) {
      const at::Tensor hidden = model.decoder().forward(model.view(which), to_tensor(ids), row_positions(offsets),
                                                        attend_rows(offsets), cancel, "logprobs");
      const Scores scores = score(head, hidden.index_select(0, to_tensor(positions)), targets,
                                  std::vector<float>(targets.size(), static_cast<float>(temperature)), false, cancel, "logprobs");
      auto next = scores.logprobs.begin();
      for (size_t b = begin; b < end; ++b) {
        const int64_t count = std::max<int64_t>(0, static_cast<int64_t>(rows[b].size()) - 1);
        results[b].assign(next, next + count);
        next += count;
      }
    }
    begin = end;
  }
  return results;
}

}  // namespace grpo
