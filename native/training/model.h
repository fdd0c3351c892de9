#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/decoder.h"
#include "model/head.h"
#include "training/optimizer.h"

namespace grpo {

enum class Which { kPolicy, kReference, kBase };

// Everything a policy owns: one copy of the base, what is trained beside it (or instead of it), what KL pulls to.
// Belongs to one thread.
class Model {
 public:
  Model(PolicyConfig config, const std::function<void(int64_t, int64_t)>& progress);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  View view(Which which) const;
  Head head(Which which, bool full_support) const;
  const Decoder& decoder() const { return decoder_; }
  const PolicyConfig& config() const { return config_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  AdamW& optimizer() { return optimizer_; }
  // Trainable tensors of the policy, or their frozen counterparts of the reference (empty when it is the base).
  std::vector<std::pair<std::string, at::Tensor>> trainable(Which which);
  // One weight as it would be stored without this package: the trained tensor itself, or file + scaling * B A computed in
  // float32 from the untouched file. Rounded to `type`; throws INVALID_MODEL when a value is not finite then.
  at::Tensor merged(const std::string& name, at::ScalarType type);
  int64_t weight_bytes() const { return weight_bytes_; }
  // Float32 bytes of everything that is trained, once.
  int64_t trained_bytes() const;
  int64_t version() const { return version_; }
  // After the trained weights have changed.
  void next_version();
  bool trains() const { return !parameters_.empty(); }

 private:
  void make_full();
  void restore();

  PolicyConfig config_;
  Decoder decoder_;
  Weights base_;
  std::optional<Weights> full_;  // train 'full': trained copies, float32
  std::optional<LoraSet> lora_;
  std::optional<LoraSet> reference_lora_;  // frozen copy of a non-zero adapter that training started from
  std::optional<LoraSet> narrow_lora_, narrow_reference_lora_;  // the two in bfloat16, where that is the compute type
  std::vector<Parameter> parameters_;
  AdamW optimizer_;
  at::Tensor excluded_;  // ids outside the support
  int64_t weight_bytes_ = 0;
  int64_t version_ = 0;
};

}  // namespace grpo
