#include "engine/sampling.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/softmax.h"

namespace grpo {
namespace {

struct Candidate {
  int64_t id;
  double mass;  // exp((z - top) / T)
};

// First id at which the running mass passes the target, in the order given.
int64_t draw(const std::vector<Candidate>& candidates, double target) {
  double running = 0;
  for (const Candidate& candidate : candidates) {
    running += candidate.mass;
    if (running > target) return candidate.id;
  }
  return candidates.back().id;
}

int64_t draw_untruncated(const std::vector<float>& masses, double target) {
  double running = 0;
  int64_t last = 0;
  for (size_t i = 0; i < masses.size(); ++i) {
    if (masses[i] <= 0) continue;
    running += masses[i];
    last = static_cast<int64_t>(i);
    if (running > target) return last;
  }
  return last;  // rounding left the total a hair above the sum
}

// What top_k, top_p and min_p keep, largest first; ties go to the smaller id.
std::vector<Candidate> truncate(const std::vector<float>& masses, double total, const SamplingOptions& options) {
  const int64_t vocabulary = static_cast<int64_t>(masses.size());
  const bool has_k = options.top_k > 0 && options.top_k < vocabulary;
  // Ids below this threshold sum to less than 1 - top_p, so the nucleus cannot need them.
  const double floor = options.top_p < 1 && !has_k ? (1 - options.top_p) * total / static_cast<double>(vocabulary) : 0;
  // Without top_p no share depends on what min_p removes, so it may come first. Masses are relative to the largest.
  const double least = options.top_p < 1 ? 0 : options.min_p;
  std::vector<Candidate> candidates;
  for (int64_t id = 0; id < vocabulary; ++id) {
    const double mass = masses[static_cast<size_t>(id)];
    if (mass > floor && mass >= least) candidates.push_back({id, mass});
  }
  const auto larger = [](const Candidate& a, const Candidate& b) { return a.mass != b.mass ? a.mass > b.mass : a.id < b.id; };
  double kept = total;
  if (has_k && static_cast<int64_t>(candidates.size()) > options.top_k) {
    std::nth_element(candidates.begin(), candidates.begin() + options.top_k, candidates.end(), larger);
    candidates.resize(static_cast<size_t>(options.top_k));
  }
  std::sort(candidates.begin(), candidates.end(), larger);
  if (has_k) {
    kept = 0;  // top_p is a share of what top_k left
    for (const Candidate& candidate : candidates) kept += candidate.mass;
  }
  if (options.top_p < 1) {
    double running = 0;
    size_t count = 0;
    while (count < candidates.size() && running < options.top_p * kept) running += candidates[count++].mass;
    candidates.resize(std::max<size_t>(count, 1));
  }
  while (candidates.size() > 1 && candidates.back().mass < options.min_p) candidates.pop_back();
  return candidates;
}

}  // namespace

Sample sample(const float* logits, int64_t vocabulary, const SamplingOptions& options, double uniform,
              std::vector<float>& scratch) {
  const bool greedy = options.temperature == 0;
  const float inverse = greedy ? 1.0F : static_cast<float>(1 / options.temperature);
  const SoftmaxRow row = softmax_row(logits, vocabulary, inverse);
  Sample result;
  if (greedy) {
    result.id = std::max_element(logits, logits + vocabulary) - logits;
    result.logprob = log_probability(row, logits[result.id], inverse);
    return result;
  }
  scratch.resize(static_cast<size_t>(vocabulary));
  exponentials(logits, vocabulary, row.top, inverse, scratch.data());
  const bool cut = options.top_p < 1 || options.min_p > 0 || (options.top_k > 0 && options.top_k < vocabulary);
  if (!cut) {
    result.id = draw_untruncated(scratch, uniform * row.total);
  } else {
    const std::vector<Candidate> candidates = truncate(scratch, row.total, options);
    double kept = 0;
    for (const Candidate& candidate : candidates) kept += candidate.mass;
    result.id = draw(candidates, uniform * kept);
    result.truncated_mass = std::max(0.0, 1 - kept / row.total);
  }
  result.logprob = log_probability(row, logits[result.id], inverse);
  return result;
}

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) longest_ = std::max(longest_, stop.size());
}

bool StopMatcher::push(const char* bytes, size_t count) {
  if (stops_.empty()) return false;
  tail_.append(bytes, count);
  // A match must end in the new bytes: it can begin at most longest - 1 bytes before them.
  const size_t fresh = tail_.size() - count;
  const size_t begin = fresh > longest_ - 1 ? fresh - (longest_ - 1) : 0;
  bool found = false;
  for (const std::string& stop : stops_) {
    for (size_t at = tail_.find(stop, begin); at != std::string::npos; at = tail_.find(stop, at + 1)) {
      if (at + stop.size() > fresh) {
        found = true;
        break;
      }
    }
  }
  if (tail_.size() > longest_) tail_.erase(0, tail_.size() - longest_);
  return found;
}

}  // namespace grpo
