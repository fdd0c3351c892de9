#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "model/config.h"
#include "model/memory.h"
#include "tensor.h"

namespace grpo {

inline constexpr int64_t kPageTokens = 16;

// Pages of keys and values, (L, 2, K, P, D) each in the compute type, shared between sequences and freed by the last.
class PagePool {
 public:
  explicit PagePool(const PolicyConfig& config);
  ~PagePool() { budget_->release(slab_bytes() * static_cast<int64_t>(slabs_.size())); }
  int64_t page_elements() const { return page_elements_; }
  int64_t item_bytes() const { return item_; }
  // Elements from a page's start to a layer's keys; its values follow after value_offset() elements.
  int64_t layer_offset(int64_t layer) const { return layer * 2 * value_offset(); }
  int64_t value_offset() const { return value_offset_; }
  // Throws OUT_OF_MEMORY when the machine has no room for more pages.
  char* take();
  void give_back(char* page) { free_.push_back(page); }
  int64_t pages() const { return static_cast<int64_t>(slabs_.size()) * kSlabPages; }
  int64_t free_pages() const { return static_cast<int64_t>(free_.size()); }
  // Returns all memory to the system once no page is in use.
  void trim();

 private:
  static constexpr int64_t kSlabPages = 32;
  int64_t slab_bytes() const { return kSlabPages * page_elements_ * item_; }
  std::shared_ptr<MemoryBudget> budget_;
  int64_t value_offset_;
  int64_t page_elements_;
  int64_t item_;
  std::vector<at::Tensor> slabs_;
  std::vector<char*> free_;
};

// One page, returned to its pool with the last reference.
using Page = std::shared_ptr<char>;

// Keys and values of the first `length` tokens of one sequence, computed with weights of one version.
class KvCache {
 public:
  explicit KvCache(std::shared_ptr<PagePool> pool) : pool_(std::move(pool)) {}
  int64_t length() const { return length_; }
  int64_t version() const { return version_; }
  // Drops everything that was computed with other weights.
  void require_version(int64_t version);
  void clear();
  // Makes room for tokens up to `length`, copying a last page that is shared. Call before writing.
  void reserve(int64_t length);
  void set_length(int64_t length) { length_ = length; }
  char* page(int64_t index) const { return pages_[static_cast<size_t>(index)].get(); }
  int64_t page_count() const { return static_cast<int64_t>(pages_.size()); }
  // Shares all pages with the copy.
  KvCache fork() const { return *this; }

 private:
  Page new_page();
  std::shared_ptr<PagePool> pool_;
  std::vector<Page> pages_;
  int64_t length_ = 0;
  int64_t version_ = -1;
};

}  // namespace grpo
