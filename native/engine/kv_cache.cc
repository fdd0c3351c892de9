#include "engine/kv_cache.h"

#include <cstring>

namespace grpo {

PagePool::PagePool(const PolicyConfig& config)
    : budget_(config.budget),
      value_offset_(config.key_value_heads * kPageTokens * config.head_dim),
      page_elements_(config.layers * 2 * value_offset_),
      item_(config.bfloat16 ? 2 : 4) {}

char* PagePool::take() {
  if (free_.empty()) {
    const int64_t bytes = slab_bytes();
    budget_->require("generate", bytes, "more room for keys and values");
    budget_->hold(bytes);
    at::Tensor slab = at::empty({bytes}, at::kByte);
    char* data = static_cast<char*>(slab.data_ptr());
    for (int64_t i = kSlabPages - 1; i >= 0; --i) free_.push_back(data + i * page_elements_ * item_);
    slabs_.push_back(std::move(slab));
  }
  char* page = free_.back();
  free_.pop_back();
  return page;
}

void PagePool::trim() {
  if (free_pages() != pages()) return;
  budget_->release(slab_bytes() * static_cast<int64_t>(slabs_.size()));
  free_.clear();
  slabs_.clear();
}

Page KvCache::new_page() {
  return Page(pool_->take(), [pool = pool_](char* page) { pool->give_back(page); });
}

void KvCache::require_version(int64_t version) {
  if (version_ != version) clear();
  version_ = version;
}

void KvCache::clear() {
  pages_.clear();
  length_ = 0;
}

void KvCache::reserve(int64_t length) {
  const int64_t needed = (length + kPageTokens - 1) / kPageTokens;
  const int64_t first_written = length_ / kPageTokens;
  if (first_written < page_count() && length > length_ && pages_[static_cast<size_t>(first_written)].use_count() > 1) {
    Page copy = new_page();
    std::memcpy(copy.get(), page(first_written), static_cast<size_t>(pool_->page_elements() * pool_->item_bytes()));
    pages_[static_cast<size_t>(first_written)] = std::move(copy);
  }
  while (page_count() < needed) pages_.push_back(new_page());
}

}  // namespace grpo
