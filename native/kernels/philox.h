#pragma once
#include <cstdint>

namespace grpo {

// Philox4x32-10, a counter-based generator: the n-th number depends on key, stream and n alone, never on what was drawn
// before or beside it. Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
class Philox {
 public:
  explicit Philox(uint64_t key, uint64_t stream = 0) : key_(key), stream_(stream) {}

  // 64 random bits for counter n.
  uint64_t bits(uint64_t n) const {
    uint32_t c[4] = {static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), static_cast<uint32_t>(stream_),
                     static_cast<uint32_t>(stream_ >> 32)};
    uint32_t k0 = static_cast<uint32_t>(key_), k1 = static_cast<uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53U} * c[0], p1 = uint64_t{0xCD9E8D57U} * c[2];
      const uint32_t next0 = static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0;
      const uint32_t next2 = static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1;
      c[0] = next0;
      c[1] = static_cast<uint32_t>(p1);
      c[2] = next2;
      c[3] = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    return (uint64_t{c[1]} << 32) | c[0];
  }

  // Uniform in [0, 1) with 53 bits.
  double uniform(uint64_t n) const { return static_cast<double>(bits(n) >> 11) * 0x1.0p-53; }

 private:
  uint64_t key_;
  uint64_t stream_;
};

}  // namespace grpo
