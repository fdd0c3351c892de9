#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/head.h"

namespace grpo {

struct SamplingOptions {
  double temperature = 1;  // 0 = greedy
  double top_p = 1;
  int64_t top_k = 0;  // 0 = off
  double min_p = 0;
};

struct Sample {
  int64_t id = 0;
  float logprob = 0;  // log-softmax(logits / temperature) over the support, whatever the options cut; greedy: temperature 1
  double truncated_mass = 0;  // probability that top_k, top_p and min_p cut away
};

// Draws one id. Order: top_k, then top_p of what is left, then min_p against the largest probability.
//   logits  (V) float32, excluded ids at a large negative number
//   uniform in [0, 1): the only randomness
//   scratch: kept between calls to save allocations
Sample sample(const float* logits, int64_t vocabulary, const SamplingOptions& options, double uniform,
              std::vector<float>& scratch);

// Watches a turn's bytes for stop strings that may begin and end anywhere inside tokens.
class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);
  // True when a stop string ends within these bytes of the next token.
  bool push(const char* bytes, size_t count);
  bool active() const { return !stops_.empty(); }

 private:
  std::vector<std::string> stops_;
  size_t longest_ = 0;
  std::string tail_;
};

}  // namespace grpo
