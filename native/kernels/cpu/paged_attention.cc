#include "kernels/cpu/paged_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/bfloat16_bits.h"
#include "kernels/cpu/vector_math.h"

namespace grpo {
namespace {

constexpr int kLanes = 16;

// scores[t] = q . keys[t] for t < n; D is a multiple of 16 or ends in a scalar tail.
template <typename Element>
__attribute__((always_inline)) inline void dots(const float* q, const Element* keys, int64_t n, int64_t dim, float* scores) {
  for (int64_t t = 0; t < n; ++t) {
    const Element* key = keys + t * dim;
    float lanes[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= dim; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) lanes[j] += q[i + j] * widen(key[i + j]);
    }
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    for (; i < dim; ++i) sum += q[i] * widen(key[i]);
    scores[t] = sum;
  }
}

template <typename Element>
__attribute__((always_inline)) inline void accumulate(const float* weights, const Element* values, int64_t n, int64_t dim,
                                                      float* out) {
  for (int64_t t = 0; t < n; ++t) {
    const float w = weights[t];
    const Element* value = values + t * dim;
    for (int64_t i = 0; i < dim; ++i) out[i] += w * widen(value[i]);
  }
}

GRPO_MULTIVERSION void dots_float(const float* q, const float* k, int64_t n, int64_t d, float* s) { dots(q, k, n, d, s); }
GRPO_MULTIVERSION void dots_bf16(const float* q, const uint16_t* k, int64_t n, int64_t d, float* s) { dots(q, k, n, d, s); }
GRPO_MULTIVERSION void sum_float(const float* w, const float* v, int64_t n, int64_t d, float* o) { accumulate(w, v, n, d, o); }
GRPO_MULTIVERSION void sum_bf16(const float* w, const uint16_t* v, int64_t n, int64_t d, float* o) {
  accumulate(w, v, n, d, o);
}

inline void page_dots(const float* q, const float* k, int64_t n, int64_t d, float* s) { dots_float(q, k, n, d, s); }
inline void page_dots(const float* q, const uint16_t* k, int64_t n, int64_t d, float* s) { dots_bf16(q, k, n, d, s); }
inline void page_sum(const float* w, const float* v, int64_t n, int64_t d, float* o) { sum_float(w, v, n, d, o); }
inline void page_sum(const float* w, const uint16_t* v, int64_t n, int64_t d, float* o) { sum_bf16(w, v, n, d, o); }

// Turns scores into exp(score - top) and returns their sum.
GRPO_MULTIVERSION float exponentiate(float* scores, int64_t n, float top) {
  for (int64_t t = 0; t < n; ++t) scores[t] = fast_exp(scores[t] - top);
  float lanes[kLanes] = {};
  int64_t t = 0;
  for (; t + kLanes <= n; t += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += scores[t + j];
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; t < n; ++t) sum += scores[t];
  return sum;
}

// One query head of one token over its pages: scores of all positions, softmax, weighted sum.
template <typename Element>
void attend(const PagedQuery& query, const PagedShape& shape, int64_t kv_head, int64_t length, const Element* q, Element* out,
            std::vector<float>& scratch) {
  const int64_t dim = shape.head_dim, page = shape.page_tokens;
  scratch.resize(static_cast<size_t>(length + 2 * dim));
  float* scores = scratch.data();
  float* wide = scores + length;
  float* sum = wide + dim;
  for (int64_t i = 0; i < dim; ++i) wide[i] = widen(q[i]) * shape.scale;
  for (int64_t t = 0; t < length; t += page) {
    const Element* keys = static_cast<const Element*>(query.pages[static_cast<size_t>(t / page)]) + kv_head * page * dim;
    page_dots(wide, keys, std::min(page, length - t), dim, scores + t);
  }
  const float top = *std::max_element(scores, scores + length);
  const float total = exponentiate(scores, length, top);
  std::fill(sum, sum + dim, 0.0F);
  for (int64_t t = 0; t < length; t += page) {
    const Element* keys = static_cast<const Element*>(query.pages[static_cast<size_t>(t / page)]) + kv_head * page * dim;
    page_sum(scores + t, keys + shape.value_offset, std::min(page, length - t), dim, sum);
  }
  for (int64_t i = 0; i < dim; ++i) narrow(sum[i] / total, out + i);
}

}  // namespace

template <typename Element>
void paged_attention(const std::vector<PagedQuery>& queries, const PagedShape& shape, const Element* q, Element* out) {
  const int64_t group = shape.heads / shape.key_value_heads;
  std::vector<std::pair<const PagedQuery*, int64_t>> tokens;  // query and index within it
  for (const PagedQuery& query : queries) {
    for (int64_t i = 0; i < query.count; ++i) tokens.emplace_back(&query, i);
  }
  const int64_t tasks = static_cast<int64_t>(tokens.size()) * shape.heads;
  at::parallel_for(0, tasks, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch;
    for (int64_t task = begin; task < end; ++task) {
      const auto& [query, i] = tokens[static_cast<size_t>(task / shape.heads)];
      const int64_t head = task % shape.heads;
      const int64_t at = ((query->row + i) * shape.heads + head) * shape.head_dim;
      attend<Element>(*query, shape, head / group, query->first + i + 1, q + at, out + at, scratch);
    }
  });
}

template void paged_attention<float>(const std::vector<PagedQuery>&, const PagedShape&, const float*, float*);
template void paged_attention<uint16_t>(const std::vector<PagedQuery>&, const PagedShape&, const uint16_t*, uint16_t*);

}  // namespace grpo
