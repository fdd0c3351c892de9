#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace grpo {

// A tensor inside a safetensors file, as the TypeScript side read it from the header.
struct TensorEntry {
  int64_t file = 0;
  std::string dtype;  // 'F32' | 'F16' | 'BF16'
  std::vector<int64_t> shape;
  uint64_t offset = 0;  // bytes from the start of the file
  uint64_t bytes = 0;
};

using TensorTable = std::unordered_map<std::string, TensorEntry>;

struct WeightFile {
  std::string path;
  uint64_t bytes = 0;
};

struct LoraConfig {
  int64_t rank = 0;
  double scaling = 1;
  double dropout = 0;
  std::vector<std::string> target_modules;
  std::vector<int64_t> layers;
  TensorTable tensors;  // empty: a new adapter
};

// What a checkpoint brings back beside the adapter, all float32 and by canonical name.
struct ResumeConfig {
  TensorTable weights;    // train 'full'
  TensorTable reference;  // adapter that KL pulls to; empty: the base
  TensorTable first_moments, second_moments;
  int64_t steps = 0;
  int64_t weights_version = 0;
};

class MemoryBudget;

enum class Train { kLora, kFull, kNone };

struct PolicyConfig {
  std::vector<WeightFile> files;
  TensorTable tensors;
  int64_t vocab_size = 0, hidden_size = 0, intermediate_size = 0, layers = 0;
  int64_t heads = 0, key_value_heads = 0, head_dim = 0;
  double rms_norm_eps = 1e-5;
  bool tied_head = false, qk_norm = false;
  std::vector<float> inverse_frequencies;  // (D / 2)
  double rotary_scale = 1;
  int64_t max_context = 0;
  bool bfloat16 = false;  // compute type: bfloat16 or float32
  Train train = Train::kNone;
  bool has_lora = false;
  LoraConfig lora;
  bool reference_is_base = false;
  bool has_resume = false;
  ResumeConfig resume;
  std::shared_ptr<MemoryBudget> budget;  // never null
  uint64_t seed = 42;
  bool strict = false;
  std::vector<uint8_t> support;      // (V), empty = all
  std::vector<uint8_t> token_bytes;  // bytes of all ids
  std::vector<uint32_t> token_offsets;
};

}  // namespace grpo
