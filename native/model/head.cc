#include "model/head.h"

#include <ATen/ops/log_softmax.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/softmax.h"
#include "model/decoder.h"

namespace grpo {
namespace {

// Finite, so that p log p of an excluded id is 0 and not NaN; exp of it is exactly 0 in float32.
constexpr float kExcluded = -1e30F;
// Float32 elements of one chunk of logits: 64 MB.
constexpr int64_t kChunkElements = int64_t{16} << 20;

int64_t chunk_rows(const Head& head) { return std::max<int64_t>(1, kChunkElements / head.weight.size(0)); }

at::Tensor column(const std::vector<float>& values, int64_t begin, int64_t count) {
  at::Tensor tensor = at::empty({count, 1}, at::kFloat);
  std::copy_n(values.begin() + begin, count, tensor.data_ptr<float>());
  return tensor;
}

bool plain(const std::vector<float>& temperatures, int64_t begin, int64_t count) {
  return std::all_of(temperatures.begin() + begin, temperatures.begin() + begin + count, [](float t) { return t == 1; });
}

}  // namespace

at::Tensor Head::logits(const at::Tensor& hidden) const {
  at::Tensor out = infer_product(hidden, weight, {}, strict).to(at::kFloat);
  if (excluded.defined()) out.index_fill_(1, excluded, kExcluded);
  return out;
}

int64_t score_bytes(int64_t vocabulary, int64_t n) {
  // Logits, log-probs, probabilities, their gradient and one product or narrow copy of it.
  constexpr int64_t kCopies = 5;
  return kCopies * 4 * std::min(n * vocabulary, std::max(kChunkElements, vocabulary));
}

Scores score(const Head& head, const at::Tensor& hidden, const std::vector<int64_t>& targets,
             const std::vector<float>& temperatures, bool with_entropies, const Cancel& cancel, const char* operation) {
  const c10::NoGradGuard no_grad;
  const int64_t n = hidden.size(0), vocabulary = head.weight.size(0), step = chunk_rows(head);
  Scores scores;
  scores.logprobs.resize(static_cast<size_t>(n));
  if (with_entropies) scores.entropies.resize(static_cast<size_t>(n));
  for (int64_t begin = 0; begin < n; begin += step) {
    cancel.check(operation);
    const int64_t count = std::min(step, n - begin);
    const at::Tensor logits = head.logits(hidden.narrow(0, begin, count)).contiguous();
    const float* data = logits.data_ptr<float>();
    at::parallel_for(0, count, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const float* z = data + i * vocabulary;
        const size_t at = static_cast<size_t>(begin + i);
        const float inverse = 1 / temperatures[at];
        const SoftmaxRow row = softmax_row(z, vocabulary, inverse);
        scores.logprobs[at] = head.allowed(targets[at]) ? log_probability(row, z[targets[at]], inverse)
                                                        : -std::numeric_limits<float>::infinity();
        if (with_entropies) scores.entropies[at] = static_cast<float>(row.log_total - row.weighted / row.total);
      }
    });
  }
  return scores;
}

at::Tensor score_backward(const Head& head, const at::Tensor& hidden, const std::vector<int64_t>& targets,
                          const std::vector<float>& temperatures, const std::vector<float>& grad_logprobs,
                          const std::vector<float>& grad_entropies, at::Tensor* weight_grad, const Cancel& cancel,
                          const char* operation) {
  const c10::NoGradGuard no_grad;
  const int64_t n = hidden.size(0), step = chunk_rows(head);
  at::Tensor grad_hidden = at::empty(hidden.sizes(), at::kFloat);
  for (int64_t begin = 0; begin < n; begin += step) {
    cancel.check(operation);
    const int64_t count = std::min(step, n - begin);
    const at::Tensor rows = hidden.narrow(0, begin, count);
    at::Tensor scaled = head.logits(rows);
    const at::Tensor temperature = column(temperatures, begin, count);
    if (!plain(temperatures, begin, count)) scaled.div_(temperature);
    const at::Tensor logp = at::log_softmax(scaled, -1);
    const at::Tensor p = logp.exp();
    // d logp(target) / dz = (onehot - p) / T;  dH / dz = -p (log p + H) / T.
    const at::Tensor g = column(grad_logprobs, begin, count) / temperature;
    at::Tensor grad = p * g.neg();
    if (!grad_entropies.empty()) {
      const at::Tensor weighted = p * logp;
      const at::Tensor entropy = weighted.sum(-1, /*keepdim=*/true).neg();
      grad.sub_((weighted + p * entropy) * (column(grad_entropies, begin, count) / temperature));
    }
    float* data = grad.data_ptr<float>();
    const float* per_row = g.data_ptr<float>();
    for (int64_t i = 0; i < count; ++i) data[i * grad.size(1) + targets[static_cast<size_t>(begin + i)]] += per_row[i];
    if (head.excluded.defined()) grad.index_fill_(1, head.excluded, 0);
    const at::Tensor narrow = grad.to(head.weight.scalar_type());
    grad_hidden.narrow(0, begin, count).copy_(at::mm(narrow, head.weight));
    if (weight_grad != nullptr) weight_grad->add_(at::mm(narrow.t(), rows));
  }
  return grad_hidden;
}

}  // namespace grpo
