#include "kernels/cpu/linear.h"

#include <ATen/Parallel.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cpu/bfloat16_bits.h"
#include "kernels/cpu/features.h"

namespace grpo {
namespace {

// Multiplications below which a second thread costs more than it brings.
constexpr int64_t kWorkPerThread = int64_t{1} << 17;

// Blocks of 16 outputs keep each thread on its own cache lines of y, and are a tile of AMX.
constexpr int64_t kBlock = 16;
// Rows from which on the library's product in bfloat16 is faster, by processor.
constexpr int64_t kLibraryRowsAmx = 512;
constexpr int64_t kLibraryRowsAvx512 = 64;
// Rows that one thread packs before the others are called.
constexpr int64_t kPackedAlone = 64;

template <typename T>
int64_t blocks_of(const LinearOf<T>& s) {
  return (s.outputs + kBlock - 1) / kBlock;
}

// range(i, first, last) computes outputs first .. last - 1 of product i.
template <typename T, typename Range>
void split(const LinearOf<T>* products, int64_t count, const Range& range) {
  int64_t blocks = 0, work = 1;
  for (int64_t i = 0; i < count; ++i) {
    blocks += blocks_of(products[i]);
    work = std::max(work, products[i].rows * products[i].inputs * kBlock);
  }
  at::parallel_for(0, blocks, std::max<int64_t>(1, kWorkPerThread / work), [&](int64_t begin, int64_t end) {
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
      const LinearOf<T>& s = products[i];
      const int64_t first = std::max(begin - offset, int64_t{0}), last = std::min(end - offset, blocks_of(s));
      if (first < last) range(i, first * kBlock, std::min(last * kBlock, s.outputs));
      offset += blocks_of(s);
    }
  });
}

template <typename T>
void range_portable(const LinearOf<T>& s, int64_t first, int64_t last) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const T* x = s.x + row * s.inputs;
    for (int64_t output = first; output < last; ++output) {
      const T* w = s.w + output * s.inputs;
      float lanes[8] = {};
      int64_t i = 0;
      for (; i + 8 <= s.inputs; i += 8) {
        for (int j = 0; j < 8; ++j) lanes[j] += widen(x[i + j]) * widen(w[i + j]);
      }
      float sum = 0;
      for (const float lane : lanes) sum += lane;
      for (; i < s.inputs; ++i) sum += widen(x[i]) * widen(w[i]);
      T* y = s.y + row * s.outputs + output;
      narrow(s.accumulate ? widen(*y) + s.alpha * sum : sum + (s.bias != nullptr ? widen(s.bias[output]) : 0.0F), y);
    }
  }
}

using FloatRange = void (*)(const LinearArguments&, int64_t, int64_t);

FloatRange best_float_range() {
  if (has_linear(LinearForm::kAvx512)) return linear_range_avx512;
  if (has_linear(LinearForm::kAvx2)) return linear_range_avx2;
  return linear_range_portable;
}

// The operating system saves tiles only for a process that asked.
bool tiles_permitted() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// This thread's room for packed rows.
uint16_t* packed_room(int64_t size) {
  struct Free {
    void operator()(uint16_t* values) const { ::operator delete[](values, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<uint16_t[], Free> room;
  thread_local int64_t held = 0;
  if (held < size) {
    room.reset();
    held = 0;
    room.reset(static_cast<uint16_t*>(::operator new[](static_cast<size_t>(size) * 2, std::align_val_t{64})));
    held = size;
  }
  return room.get();
}

void linear_amx(const LinearArgumentsBfloat16* products, int64_t count) {
  // Products of the same x share its packed form.
  std::vector<int64_t> offsets;
  int64_t size = 0;
  const auto same = [&](int64_t i) {
    int64_t j = 0;
    const LinearArgumentsBfloat16& s = products[i];
    while (products[j].x != s.x || products[j].rows != s.rows || products[j].inputs != s.inputs) ++j;
    return j;
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t j = same(i);
    offsets.push_back(j < i ? offsets[static_cast<size_t>(j)] : size);
    if (j == i) size += packed_amx_size(products[i].rows, products[i].inputs);
  }
  uint16_t* packed = packed_room(size);
  for (int64_t i = 0; i < count; ++i) {
    if (same(i) < i) continue;
    const LinearArgumentsBfloat16& s = products[i];
    at::parallel_for(0, (s.rows + kBlock - 1) / kBlock, kPackedAlone / kBlock, [&](int64_t begin, int64_t end) {
      uint16_t* to = packed + offsets[static_cast<size_t>(i)];
      pack_rows_amx(s.x, s.rows, s.inputs, begin * kBlock, std::min(end * kBlock, s.rows), to);
    });
  }
  split(products, count, [&](int64_t i, int64_t first, int64_t last) {
    linear_range_amx(products[i], packed + offsets[static_cast<size_t>(i)], first, last);
  });
}

}  // namespace

bool has_linear(LinearForm form) {
  switch (form) {
    case LinearForm::kPortable:
      return true;
    case LinearForm::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case LinearForm::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case LinearForm::kAvx512Bfloat16:
      return has_linear(LinearForm::kAvx512) && __builtin_cpu_supports("avx512bw") && cpu_has_avx512_bfloat16();
    case LinearForm::kAmx: {
      static const bool usable = has_linear(LinearForm::kAvx512Bfloat16) && cpu_has_amx_bfloat16() && tiles_permitted();
      return usable;
    }
  }
  return false;
}

int64_t linear_bfloat16_rows() {
  static const int64_t rows = has_linear(LinearForm::kAmx)              ? kLibraryRowsAmx
                              : has_linear(LinearForm::kAvx512Bfloat16) ? kLibraryRowsAvx512
                                                                        : 0;
  return rows;
}

void linear_range_portable(const LinearArguments& s, int64_t first, int64_t last) { range_portable(s, first, last); }
void linear_range_portable(const LinearArgumentsBfloat16& s, int64_t first, int64_t last) { range_portable(s, first, last); }

void linear_float(const LinearArguments* products, int64_t count) {
  static const FloatRange range = best_float_range();
  split(products, count, [&](int64_t i, int64_t first, int64_t last) { range(products[i], first, last); });
}

void linear_by_form(LinearForm form, const LinearArgumentsBfloat16& product) {
  if (form == LinearForm::kPortable) {
    linear_range_portable(product, 0, product.outputs);
  } else if (form == LinearForm::kAvx512Bfloat16) {
    linear_range_avx512bf16(product, 0, product.outputs);
  } else {
    linear_amx(&product, 1);
  }
}

void linear_bfloat16(const LinearArgumentsBfloat16* products, int64_t count) {
  if (has_linear(LinearForm::kAmx)) return linear_amx(products, count);
  split(products, count, [&](int64_t i, int64_t first, int64_t last) { linear_range_avx512bf16(products[i], first, last); });
}

}  // namespace grpo
