#include "policy_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace grpo {
namespace {

// exp(20) = 4.9e8: far beyond every clip, far below overflow. The derivative is 0 outside, as with a clamp.
constexpr double kMaxLog = 20.0;

struct Clamped {
  double value;
  bool inside;
};

Clamped clamp_log(double x) { return {std::clamp(x, -kMaxLog, kMaxLog), std::abs(x) <= kMaxLog}; }

// Value of a token's policy term as a function of its ratio, its derivative with respect to the ratio, whether clipped.
struct Term {
  double value;
  double slope;
  bool clipped;
};

// max(-A c, -A clip(c)); c capped at clip_ratio_max in the unclipped arm. Schulman 2017; cap: TRL `delta`.
Term clip_term(double ratio, double advantage, const LossOptions& o) {
  const double low = 1 - o.clip_low, high = 1 + o.clip_high;
  const double unclipped = std::min(ratio, o.clip_ratio_max);
  const double clipped = std::clamp(ratio, low, high);
  const double a = unclipped * advantage, b = clipped * advantage;
  const double slope_a = ratio <= o.clip_ratio_max ? advantage : 0.0;
  const double slope_b = ratio >= low && ratio <= high ? advantage : 0.0;
  Term term;
  term.value = -std::min(a, b);
  // At a tie both arms count half, as torch.min does.
  term.slope = -(a < b ? slope_a : b < a ? slope_b : 0.5 * (slope_a + slope_b));
  term.clipped = (unclipped < low && advantage < 0) || (unclipped > high && advantage > 0);
  return term;
}

// Gate sigmoid(tau (c - 1)) 4 / tau. Source: SAPO, as in TRL 1.13.
Term sapo_term(double ratio, double advantage, const LossOptions& o) {
  const double tau = advantage > 0 ? o.sapo_temperature_positive : o.sapo_temperature_negative;
  const double gate = 1 / (1 + std::exp(-tau * (ratio - 1)));
  return {-advantage * gate * 4 / tau, -advantage * 4 * gate * (1 - gate), false};
}

// Detached weight of CISPO (MiniMax-M1): absolute cap (TRL), or both relative bounds (verl).
double cispo_weight(double ratio, double advantage, const LossOptions& o, bool& clipped) {
  if (!o.cispo_relative) {
    clipped = ratio > o.cispo_max && advantage > 0;
    return std::min(ratio, o.cispo_max);
  }
  const double low = 1 - o.clip_low, high = 1 + o.clip_high;
  clipped = (ratio > high && advantage > 0) || (ratio < low && advantage < 0);
  return std::clamp(ratio, low, high);
}

// Detached weights w = exp(old - sampler) of the masked-in tokens.
void correction_weights(const LossRow& row, const LossOptions& o, double count, std::vector<double>& weights) {
  weights.assign(row.n, 1.0);
  if (o.correction == Correction::kNone || row.sampler_logprobs == nullptr) return;
  const double* old = row.old_logprobs != nullptr ? row.old_logprobs : row.logprobs;
  double sum = 0;
  for (size_t t = 0; t < row.n; ++t) {
    if (!row.mask[t] || std::isnan(row.sampler_logprobs[t])) continue;
    const double d = old[t] - row.sampler_logprobs[t];
    sum += d;
    weights[t] = d;
  }
  for (size_t t = 0; t < row.n; ++t) {
    if (!row.mask[t]) continue;
    if (o.correction_level == CorrectionLevel::kToken && std::isnan(row.sampler_logprobs[t])) continue;
    const double log_w = o.correction_level == CorrectionLevel::kToken      ? weights[t]
                         : o.correction_level == CorrectionLevel::kSequence ? sum
                                                                            : sum / count;
    const double w = std::exp(clamp_log(log_w).value);
    weights[t] = o.correction == Correction::kTruncate ? std::min(w, o.correction_high)
                 : w >= o.correction_low && w <= o.correction_high ? w
                                                                   : 0.0;
  }
}

double row_scale(const LossOptions& o, const Denominators& d, double count) {
  switch (o.aggregation) {
    case Aggregation::kTokenMean:
      return 1 / std::max(d.tokens, 1.0);
    case Aggregation::kSequenceMean:
      return 1 / (std::max(d.rows, 1.0) * count);
    case Aggregation::kSequenceSumMean:
      return 1 / std::max(d.rows, 1.0);
    case Aggregation::kConstant:
      return 1 / (std::max(d.rows, 1.0) * o.horizon);
  }
  return 0;
}

}  // namespace

void Denominators::add(const uint8_t* mask, size_t n) {
  size_t count = 0;
  for (size_t t = 0; t < n; ++t) count += mask[t] != 0;
  tokens += static_cast<double>(count);
  rows += count > 0 ? 1 : 0;
}

void policy_loss_row(const LossRow& row, const LossOptions& o, const Denominators& denominators,
                     double* grad_logprobs, double* grad_entropies, LossSums& sums) {
  std::fill(grad_logprobs, grad_logprobs + row.n, 0.0);
  if (grad_entropies != nullptr) std::fill(grad_entropies, grad_entropies + row.n, 0.0);
  double count = 0, log_ratio_sum = 0;
  for (size_t t = 0; t < row.n; ++t) {
    if (!row.mask[t]) continue;
    ++count;
    if (row.old_logprobs != nullptr) log_ratio_sum += row.logprobs[t] - row.old_logprobs[t];
  }
  if (count == 0) return;

  const double scale = row_scale(o, denominators, count);
  const bool sequence = o.ratio == Ratio::kSequence;
  const Clamped row_log_ratio = clamp_log(log_ratio_sum / count);
  std::vector<double> weights;
  correction_weights(row, o, count, weights);
  double slope_of_row = 0;  // d loss / d log(sequence ratio), summed over the tokens that use it
  bool row_clipped = false;

  for (size_t t = 0; t < row.n; ++t) {
    if (!row.mask[t]) continue;
    const double logp = row.logprobs[t], advantage = row.advantages[t];
    const Clamped log_ratio =
        sequence ? row_log_ratio : clamp_log(row.old_logprobs != nullptr ? logp - row.old_logprobs[t] : 0.0);
    const double ratio = std::exp(log_ratio.value);
    sums.ratio_max = std::max(sums.ratio_max, ratio);
    double loss = 0, slope_log_ratio = 0;
    bool clipped = false;

    if (o.policy == PolicyTerm::kCispo) {
      const double weight = cispo_weight(ratio, advantage, o, clipped) * weights[t];
      loss = -weight * advantage * logp;
      grad_logprobs[t] += -weight * advantage * scale;
    } else {
      const Term term = o.policy == PolicyTerm::kClip ? clip_term(ratio, advantage, o) : sapo_term(ratio, advantage, o);
      loss = term.value * weights[t];
      slope_log_ratio = term.slope * weights[t] * ratio;
      clipped = term.clipped;
    }

    if (row.reference_logprobs != nullptr) {
      const Clamped d = clamp_log(logp - row.reference_logprobs[t]);
      const bool k3 = o.kl == KlEstimator::kK3;
      const double kl = k3 ? std::exp(-d.value) + d.value - 1 : 0.5 * d.value * d.value;
      const double slope = d.inside ? (k3 ? 1 - std::exp(-d.value) : d.value) : 0.0;
      const double weight = o.kl_importance_corrected ? ratio : 1.0;
      loss += o.kl_coefficient * kl * weight;
      grad_logprobs[t] += o.kl_coefficient * slope * weight * scale;
      if (o.kl_importance_corrected) slope_log_ratio += o.kl_coefficient * kl * ratio;
      sums.kl += kl;
    }

    if (log_ratio.inside) {
      if (sequence) {
        slope_of_row += slope_log_ratio;
      } else {
        grad_logprobs[t] += slope_log_ratio * scale;
      }
    }
    if (row.entropies != nullptr) {
      sums.entropy += row.entropies[t];
      loss -= o.entropy_coefficient * row.entropies[t];
      if (grad_entropies != nullptr) grad_entropies[t] = -o.entropy_coefficient * scale;
    }
    sums.loss += loss * scale;
    row_clipped |= clipped;
    if (!sequence) sums.clipped += clipped ? 1 : 0;
  }
  if (sequence) {
    sums.clipped += row_clipped ? 1 : 0;
    for (size_t t = 0; t < row.n; ++t) {
      if (row.mask[t]) grad_logprobs[t] += slope_of_row * scale / count;
    }
  }
}

}  // namespace grpo
