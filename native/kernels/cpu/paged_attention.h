#pragma once
#include <cstdint>
#include <vector>

namespace grpo {

// Shapes: H query heads, K key/value heads, D head size, P tokens a page.

// Queries of one sequence: tokens at positions first .. first + count - 1, each of which sees all positions up to itself.
struct PagedQuery {
  int64_t row = 0;    // first query's index in q and out
  int64_t count = 0;  // queries
  int64_t first = 0;  // position of the first query
  // (pages) start of this layer's keys (K, P, D) in each page; its values (K, P, D) follow at value_offset elements.
  std::vector<const void*> pages;
};

struct PagedShape {
  int64_t heads, key_value_heads, head_dim, page_tokens, value_offset;
  float scale;  // 1 / sqrt(D)
};

//   q, out (N, H, D), float32 or bfloat16 bits as `Element` says; keys and values in the pages have the same type.
//   Sums are float32. A sequence's result does not depend on what else is in the batch.
template <typename Element>
void paged_attention(const std::vector<PagedQuery>& queries, const PagedShape& shape, const Element* q, Element* out);

}  // namespace grpo
