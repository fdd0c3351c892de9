#include "model/lora.h"

#include <cmath>

#include "error.h"
#include "kernels/philox.h"

namespace grpo {

void LoraSet::for_each(const std::function<void(const std::string&, at::Tensor&)>& visit) {
  for (size_t l = 0; l < blocks.size(); ++l) {
    for (int p = 0; p < kProjections; ++p) {
      LoraPair& pair = blocks[l][p];
      if (!pair.defined()) continue;
      const std::string name = "layers." + std::to_string(l) + "." + kProjectionNames[p];
      visit(name + ".lora_A", pair.a);
      visit(name + ".lora_B", pair.b);
    }
  }
}

LoraSet LoraSet::frozen_copy() const {
  LoraSet copy = *this;
  copy.for_each([](const std::string&, at::Tensor& tensor) { tensor = tensor.detach().clone(); });
  return copy;
}

LoraSet LoraSet::converted(at::ScalarType type) const {
  LoraSet copy = *this;
  copy.for_each([type](const std::string&, at::Tensor& tensor) {
    tensor = tensor.detach().to(type, /*non_blocking=*/false, /*copy=*/true);
  });
  return copy;
}

void LoraSet::assign(const LoraSet& source) {
  const c10::NoGradGuard no_grad;
  for (size_t l = 0; l < blocks.size(); ++l) {
    for (int p = 0; p < kProjections; ++p) {
      if (!blocks[l][p].defined()) continue;
      blocks[l][p].a.copy_(source.blocks[l][p].a);
      blocks[l][p].b.copy_(source.blocks[l][p].b);
    }
  }
}

LoraSet make_lora(const PolicyConfig& config, const TensorTable& tensors, const Weights& weights) {
  const LoraConfig& lora = config.lora;
  LoraSet set;
  set.scaling = lora.scaling;
  set.dropout = lora.dropout;
  set.blocks.resize(static_cast<size_t>(config.layers));
  uint64_t stream = 0;
  for (const int64_t l : lora.layers) {
    for (const std::string& module : lora.target_modules) {
      int p = 0;
      while (p < kProjections && module != kProjectionNames[p]) ++p;
      if (p == kProjections) throw Error("INVALID_ADAPTER", "load", "there is no layer named " + module);
      const at::Tensor& weight = weights.blocks.at(static_cast<size_t>(l)).projections[p].weight;
      LoraPair& pair = set.blocks[static_cast<size_t>(l)][p];
      const std::string name = "layers." + std::to_string(l) + "." + module;
      if (tensors.empty()) {
        pair.a = at::empty({lora.rank, weight.size(1)}, at::kFloat);
        // Kaiming-uniform with a = sqrt(5): bound = 1 / sqrt(fan in).
        const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
        const Philox random(config.seed, ++stream);
        float* data = pair.a.data_ptr<float>();
        for (int64_t i = 0; i < pair.a.numel(); ++i) {
          data[i] = static_cast<float>((2 * random.uniform(static_cast<uint64_t>(i)) - 1) * bound);
        }
        pair.b = at::zeros({weight.size(0), lora.rank}, at::kFloat);
        continue;
      }
      const auto a = tensors.find(name + ".lora_A"), b = tensors.find(name + ".lora_B");
      if (a == tensors.end() || b == tensors.end()) {
        throw Error("INVALID_ADAPTER", "load", "the adapter has no tensors for " + name);
      }
      pair.a = load_float32(config.files, a->second, a->first);
      pair.b = load_float32(config.files, b->second, b->first);
    }
  }
  return set;
}

}  // namespace grpo
