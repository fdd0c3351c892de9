#include <immintrin.h>

#include "kernels/cpu/linear.h"

// y^T = W x^T: rows of W are tile operand A as they are stored, x is packed once into operand B. One tile holds 16 outputs of
// 16 rows; sums over the inputs run in their order, 32 at a time, whatever the number of rows. Nothing is fetched ahead:
// the processor's own prefetching was measured to be faster.

namespace grpo {
namespace {

constexpr int64_t kTile = 16;         // outputs, or rows of x, of one tile
constexpr int64_t kDepth = 32;        // inputs of one tile
constexpr int64_t kTileValues = 512;  // of operand A or B
constexpr int64_t kTileBytes = 64;    // of one row of any tile here
constexpr int64_t kGroup = 4 * kTile;  // outputs that accumulate at once

struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Tiles 0 .. 3 are sums (outputs, 16 rows of x) float32, 4 and 5 are A (outputs, 32 inputs), 6 and 7 are B.
inline void configure(int64_t outputs) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = kTileBytes;
    config.rows[tile] = static_cast<uint8_t>(tile < 6 ? outputs : kTile);
  }
  _tile_loadconfig(&config);
}

// 16 rows of 16 elements of 32 bits -> columns.
inline void transpose(__m512i (&t)[16]) {
  __m512i u[16];
  for (int i = 0; i < 16; i += 2) {
    u[i] = _mm512_unpacklo_epi32(t[i], t[i + 1]);
    u[i + 1] = _mm512_unpackhi_epi32(t[i], t[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    t[i] = _mm512_unpacklo_epi64(u[i], u[i + 2]);
    t[i + 1] = _mm512_unpackhi_epi64(u[i], u[i + 2]);
    t[i + 2] = _mm512_unpacklo_epi64(u[i + 1], u[i + 3]);
    t[i + 3] = _mm512_unpackhi_epi64(u[i + 1], u[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    const __m512i even = _mm512_shuffle_i32x4(t[i], t[4 + i], 0x88), odd = _mm512_shuffle_i32x4(t[i], t[4 + i], 0xDD);
    const __m512i even2 = _mm512_shuffle_i32x4(t[8 + i], t[12 + i], 0x88);
    const __m512i odd2 = _mm512_shuffle_i32x4(t[8 + i], t[12 + i], 0xDD);
    u[i] = _mm512_shuffle_i32x4(even, even2, 0x88);
    u[4 + i] = _mm512_shuffle_i32x4(odd, odd2, 0x88);
    u[8 + i] = _mm512_shuffle_i32x4(even, even2, 0xDD);
    u[12 + i] = _mm512_shuffle_i32x4(odd, odd2, 0xDD);
  }
  for (int i = 0; i < 16; ++i) t[i] = u[i];
}

inline __m512 widen(__m256i bits) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)); }

// Sums (16 outputs, 16 rows) -> y of up to 16 rows from `row` on and of up to 16 outputs from `output` on.
inline void store(const LinearArgumentsBfloat16& s, const float* sums, int64_t row, int64_t output, int64_t outputs) {
  const int64_t count = s.rows - row < kTile ? s.rows - row : kTile;
  const __mmask16 mask = static_cast<__mmask16>((1U << outputs) - 1);
  __m512i t[16];
  for (int i = 0; i < 16; ++i) t[i] = _mm512_load_si512(sums + i * kTile);
  transpose(t);
  const bool biased = s.bias != nullptr && !s.accumulate;
  const __m512 bias = biased ? widen(_mm256_maskz_loadu_epi16(mask, s.bias + output)) : _mm512_setzero_ps();
  for (int64_t r = 0; r < count; ++r) {
    uint16_t* y = s.y + (row + r) * s.outputs + output;
    __m512 value = _mm512_castsi512_ps(t[r]);
    value = s.accumulate ? _mm512_fmadd_ps(value, _mm512_set1_ps(s.alpha), widen(_mm256_maskz_loadu_epi16(mask, y)))
                         : _mm512_add_ps(value, bias);
    _mm256_mask_storeu_epi16(y, mask, (__m256i)_mm512_cvtneps_pbh(value));
  }
}

// The last, incomplete inputs of `outputs` rows of W, zeros behind them.
inline void copy_tail(const uint16_t* w, int64_t inputs, int64_t at, int64_t outputs, uint16_t* tail) {
  const __mmask32 mask = static_cast<__mmask32>((1ULL << (inputs - at)) - 1);
  for (int64_t o = 0; o < outputs; ++o) {
    _mm512_store_si512(tail + o * kDepth, _mm512_maskz_loadu_epi16(mask, w + o * inputs + at));
  }
  __asm__ volatile("" ::: "memory");  // the compiler does not know that tile loads read memory
}

// Tiles (tiles of outputs, 1 tile of rows); `outputs` of the last tile.
template <int Tiles>
inline void narrow_block(const LinearArgumentsBfloat16& s, const uint16_t* packed, int64_t row, int64_t output, int64_t outputs) {
  const int64_t k = s.inputs, stride = k * 2, block = kTile * k;
  const uint16_t* w = s.w + output * k;
  const uint16_t* b = packed + row * ((k + kDepth - 1) / kDepth) * kDepth;
  _tile_zero(0);
  if (Tiles > 1) _tile_zero(1);
  if (Tiles > 2) _tile_zero(2);
  if (Tiles > 3) _tile_zero(3);
  int64_t i = 0;
  for (; i + kDepth <= k; i += kDepth, b += kTileValues) {
    _tile_loadd(6, b, kTileBytes);
    _tile_loadd(4, w + i, stride);
    _tile_dpbf16ps(0, 4, 6);
    if (Tiles > 1) {
      _tile_loadd(5, w + block + i, stride);
      _tile_dpbf16ps(1, 5, 6);
    }
    if (Tiles > 2) {
      _tile_loadd(4, w + 2 * block + i, stride);
      _tile_dpbf16ps(2, 4, 6);
    }
    if (Tiles > 3) {
      _tile_loadd(5, w + 3 * block + i, stride);
      _tile_dpbf16ps(3, 5, 6);
    }
  }
  alignas(64) uint16_t tail[kTileValues];
  if (i < k) {
    const auto load = [&](int64_t tile) { copy_tail(w + tile * block, k, i, tile == Tiles - 1 ? outputs : kTile, tail); };
    _tile_loadd(6, b, kTileBytes);
    load(0);
    _tile_loadd(4, tail, kTileBytes);
    _tile_dpbf16ps(0, 4, 6);
    if (Tiles > 1) {
      load(1);
      _tile_loadd(5, tail, kTileBytes);
      _tile_dpbf16ps(1, 5, 6);
    }
    if (Tiles > 2) {
      load(2);
      _tile_loadd(4, tail, kTileBytes);
      _tile_dpbf16ps(2, 4, 6);
    }
    if (Tiles > 3) {
      load(3);
      _tile_loadd(5, tail, kTileBytes);
      _tile_dpbf16ps(3, 5, 6);
    }
  }
  alignas(64) float sums[Tiles * kTile * kTile];
  _tile_stored(0, sums, kTileBytes);
  if (Tiles > 1) _tile_stored(1, sums + kTile * kTile, kTileBytes);
  if (Tiles > 2) _tile_stored(2, sums + 2 * kTile * kTile, kTileBytes);
  if (Tiles > 3) _tile_stored(3, sums + 3 * kTile * kTile, kTileBytes);
  for (int tile = 0; tile < Tiles; ++tile) {
    store(s, sums + tile * kTile * kTile, row, output + tile * kTile, tile == Tiles - 1 ? outputs : kTile);
  }
}

// 2 tiles of outputs, 2 tiles of rows.
inline void wide_block(const LinearArgumentsBfloat16& s, const uint16_t* packed, int64_t row, int64_t output) {
  const int64_t k = s.inputs, stride = k * 2, block = kTile * k, steps = (k + kDepth - 1) / kDepth;
  const uint16_t* w = s.w + output * k;
  const uint16_t* b = packed + row * steps * kDepth;
  const uint16_t* b2 = b + steps * kTileValues;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  alignas(64) uint16_t tail[2 * kTileValues];
  for (int64_t i = 0; i < k; i += kDepth, b += kTileValues, b2 += kTileValues) {
    _tile_loadd(6, b, kTileBytes);
    _tile_loadd(7, b2, kTileBytes);
    if (i + kDepth <= k) {
      _tile_loadd(4, w + i, stride);
      _tile_loadd(5, w + block + i, stride);
    } else {
      copy_tail(w, k, i, kTile, tail);
      copy_tail(w + block, k, i, kTile, tail + kTileValues);
      _tile_loadd(4, tail, kTileBytes);
      _tile_loadd(5, tail + kTileValues, kTileBytes);
    }
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  alignas(64) float sums[4 * kTile * kTile];
  _tile_stored(0, sums, kTileBytes);
  _tile_stored(1, sums + kTile * kTile, kTileBytes);
  _tile_stored(2, sums + 2 * kTile * kTile, kTileBytes);
  _tile_stored(3, sums + 3 * kTile * kTile, kTileBytes);
  store(s, sums, row, output, kTile);
  store(s, sums + kTile * kTile, row + kTile, output, kTile);
  store(s, sums + 2 * kTile * kTile, row, output + kTile, kTile);
  store(s, sums + 3 * kTile * kTile, row + kTile, output + kTile, kTile);
}

template <int Tiles>
inline void outputs_of_rows(const LinearArgumentsBfloat16& s, const uint16_t* packed, int64_t output, int64_t outputs) {
  int64_t row = 0;
  if (Tiles == 4 || (Tiles == 2 && outputs == kTile)) {
    // A pair of row tiles is there when a row lies in its second one.
    for (; row + kTile < s.rows; row += 2 * kTile) {
      for (int64_t pair = 0; pair < Tiles; pair += 2) wide_block(s, packed, row, output + pair * kTile);
    }
  }
  for (; row < s.rows; row += kTile) narrow_block<Tiles>(s, packed, row, output, outputs);
}

}  // namespace

void pack_rows_amx(const uint16_t* x, int64_t rows, int64_t inputs, int64_t first, int64_t last, uint16_t* packed) {
  const int64_t steps = (inputs + kDepth - 1) / kDepth;
  for (int64_t row = first; row < last; row += kTile) {
    const int64_t count = rows - row < kTile ? rows - row : kTile;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t left = inputs - step * kDepth;
      const __mmask32 mask = left < kDepth ? static_cast<__mmask32>((1ULL << left) - 1) : ~__mmask32{0};
      __m512i t[16];
      for (int i = 0; i < 16; ++i) {
        t[i] = i < count ? _mm512_maskz_loadu_epi16(mask, x + (row + i) * inputs + step * kDepth) : _mm512_setzero_si512();
      }
      transpose(t);
      uint16_t* to = packed + (row * steps + step * kTile) * kDepth;
      for (int i = 0; i < 16; ++i) _mm512_store_si512(to + i * kDepth, t[i]);
    }
  }
}

void linear_range_amx(const LinearArgumentsBfloat16& s, const uint16_t* packed, int64_t first, int64_t last) {
  int64_t output = first;
  if (output + kTile <= last) {
    configure(kTile);
    for (; output + kGroup <= last; output += kGroup) outputs_of_rows<4>(s, packed, output, kTile);
    const int64_t tiles = (last - output) / kTile;
    if (tiles == 3) outputs_of_rows<3>(s, packed, output, kTile);
    if (tiles == 2) outputs_of_rows<2>(s, packed, output, kTile);
    if (tiles == 1) outputs_of_rows<1>(s, packed, output, kTile);
    output += tiles * kTile;
  }
  if (output < last) {
    configure(last - output);
    outputs_of_rows<1>(s, packed, output, last - output);
  }
  _tile_release();
}

}  // namespace grpo
