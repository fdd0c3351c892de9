#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

namespace grpo {

// The policy loss as a pure function of log-probs, in float64: value and derivative together.
// Used by updates and by evaluateLoss alike. Sources: docs/losses.md names one for each formula.

enum class PolicyTerm { kClip, kCispo, kSapo };
enum class Ratio { kToken, kSequence };
enum class Aggregation { kTokenMean, kSequenceMean, kSequenceSumMean, kConstant };
enum class KlEstimator { kK2, kK3 };
enum class Correction { kNone, kTruncate, kMask };
enum class CorrectionLevel { kToken, kSequence, kGeometric };

struct LossOptions {
  PolicyTerm policy = PolicyTerm::kClip;
  Ratio ratio = Ratio::kToken;
  Aggregation aggregation = Aggregation::kTokenMean;
  double clip_low = 0.2;
  double clip_high = 0.28;
  double clip_ratio_max = std::numeric_limits<double>::infinity();
  double cispo_max = std::numeric_limits<double>::infinity();
  bool cispo_relative = false;
  double sapo_temperature_positive = 1.0;
  double sapo_temperature_negative = 1.05;
  KlEstimator kl = KlEstimator::kK3;
  double kl_coefficient = 0;
  bool kl_importance_corrected = false;
  double entropy_coefficient = 0;
  Correction correction = Correction::kNone;
  CorrectionLevel correction_level = CorrectionLevel::kToken;
  double correction_low = 0;
  double correction_high = 2;
  double horizon = 1;
};

// One row. n = T - 1 scored tokens; every array has n entries, nats where a log-prob.
struct LossRow {
  size_t n = 0;
  const double* logprobs = nullptr;
  const double* old_logprobs = nullptr;        // null: the log-probs themselves, detached (ratio 1 with its gradient)
  const double* reference_logprobs = nullptr;  // null: no KL term
  const double* sampler_logprobs = nullptr;    // null: no correction; NaN entries have weight 1
  const double* entropies = nullptr;           // null: no entropy bonus
  const uint8_t* mask = nullptr;               // 1 = counts
  const double* advantages = nullptr;
};

// Counts over the whole update, made before the first micro-batch. Rows without a masked-in token count nowhere.
struct Denominators {
  double tokens = 0;
  double rows = 0;
  void add(const uint8_t* mask, size_t n);
};

// Sums over rows; means are these over Denominators.
struct LossSums {
  double loss = 0;     // already divided: the number that is differentiated
  double kl = 0;       // sum over tokens of the estimator, without coefficient or importance correction
  double entropy = 0;  // sum over tokens
  double clipped = 0;  // tokens, or rows when the ratio is per sequence
  double ratio_max = 0;
};

// Adds one row to sums and writes d loss / d logprobs (n) and, where grad_entropies is not null, d loss / d entropies (n).
// Entries with mask 0 are never read and get gradient 0.
void policy_loss_row(const LossRow& row, const LossOptions& options, const Denominators& denominators,
                     double* grad_logprobs, double* grad_entropies, LossSums& sums);

}  // namespace grpo
