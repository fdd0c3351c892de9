#include "model/decoder.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

namespace grpo {
at::Tensor repeat_heads(const at::Tensor& x, int64_t heads) {
  const int64_t kv = x.size(0);
  if (kv == heads) return x;
  return x.unsqueeze(1).expand({kv, heads / kv, x.size(1), x.size(2)}).reshape({heads, x.size(1), x.size(2)});
}

at::Tensor to_tensor(const std::vector<int64_t>& values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

std::vector<int64_t> row_positions(const std::vector<int64_t>& offsets) {
  std::vector<int64_t> positions;
  positions.reserve(static_cast<size_t>(offsets.back()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    for (int64_t t = offsets[b]; t < offsets[b + 1]; ++t) positions.push_back(t - offsets[b]);
  }
  return positions;
}

Attend attend_rows(std::vector<int64_t> offsets) {
  return [offsets = std::move(offsets)](int64_t, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const int64_t heads = q.size(1);
    std::vector<at::Tensor> rows;
    for (size_t b = 0; b + 1 < offsets.size(); ++b) {
      const int64_t begin = offsets[b], length = offsets[b + 1] - begin;
      const auto row = [&](const at::Tensor& x) { return x.narrow(0, begin, length).transpose(0, 1); };
      const at::Tensor out = at::scaled_dot_product_attention(
          row(q).unsqueeze(0), repeat_heads(row(k), heads).unsqueeze(0), repeat_heads(row(v), heads).unsqueeze(0), {}, 0.0,
          /*is_causal=*/true);
      rows.push_back(out.squeeze(0).transpose(0, 1).reshape({length, heads * q.size(2)}));
    }
    return rows.size() == 1 ? rows[0] : at::cat(rows, 0);
  };
}

Decoder::Decoder(const PolicyConfig& config) : config_(config), compute_(config.bfloat16 ? at::kBFloat16 : at::kFloat) {
  inverse_frequencies_ = at::empty({static_cast<int64_t>(config.inverse_frequencies.size())}, at::kFloat);
  std::copy(config.inverse_frequencies.begin(), config.inverse_frequencies.end(), inverse_frequencies_.data_ptr<float>());
}

Rotary Decoder::rotary(const std::vector<int64_t>& positions) const {
  const at::Tensor angles = at::outer(to_tensor(positions).to(at::kFloat), inverse_frequencies_).unsqueeze(1);
  return {angles.cos().mul_(config_.rotary_scale), angles.sin().mul_(config_.rotary_scale)};
}

at::Tensor Decoder::embed(const View& view, const at::Tensor& ids) const {
  return at::embedding(view.weights->embedding, ids).to(at::kFloat);
}

// x / sqrt(mean(x^2) + eps) * weight over the last axis, in float32; result in the compute type.
at::Tensor Decoder::rms_norm(const at::Tensor& x, const at::Tensor& weight) const {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scale = wide.pow(2).mean(-1, /*keepdim=*/true).add(config_.rms_norm_eps).rsqrt();
  return (wide * scale * weight).to(compute_);
}

// Rotary position embedding on pairs (i, i + D/2), as Hugging Face lays them out. Su et al. 2021.
at::Tensor Decoder::rotate(const at::Tensor& x, const Rotary& rotary) const {
  const int64_t half = x.size(-1) / 2;
  const at::Tensor first = x.narrow(-1, 0, half).to(at::kFloat), second = x.narrow(-1, half, half).to(at::kFloat);
  return at::cat({first * rotary.cos - second * rotary.sin, second * rotary.cos + first * rotary.sin}, -1).to(compute_);
}

at::Tensor Decoder::linear(const View& view, int64_t layer, Projection projection, const at::Tensor& x) const {
  const Linear& base = view.weights->blocks[static_cast<size_t>(layer)].projections[projection];
  const at::Tensor y = at::linear(x, base.weight, base.bias);
  if (view.lora == nullptr) return y;
  const LoraPair& pair = view.lora->blocks[static_cast<size_t>(layer)][projection];
  if (!pair.defined()) return y;
  at::Tensor input = x;
  if (view.dropout > 0) {
    const uint64_t seed = view.dropout_key * 1000003U + static_cast<uint64_t>(layer * kProjections + projection);
    at::Generator generator = at::detail::createCPUGenerator(seed);
    const at::Tensor keep = at::empty_like(x).bernoulli_(1 - view.dropout, generator);
    input = x * keep / (1 - view.dropout);
  }
  return y + at::linear(at::linear(input, pair.a.to(compute_)), pair.b.to(compute_)) * view.lora->scaling;
}

at::Tensor Decoder::block(const View& view, int64_t layer, const at::Tensor& h, const Rotary& rotary,
                          const Attend& attend) const {
  const Block& block = view.weights->blocks[static_cast<size_t>(layer)];
  const int64_t n = h.size(0);
  const at::Tensor x = rms_norm(h, block.input_norm);
  at::Tensor q = linear(view, layer, kQ, x).view({n, config_.heads, config_.head_dim});
  at::Tensor k = linear(view, layer, kK, x).view({n, config_.key_value_heads, config_.head_dim});
  const at::Tensor v = linear(view, layer, kV, x).view({n, config_.key_value_heads, config_.head_dim});
  if (config_.qk_norm) {
    q = rms_norm(q, block.q_norm);
    k = rms_norm(k, block.k_norm);
  }
  const at::Tensor attended = attend(layer, rotate(q, rotary), rotate(k, rotary), v);
  const at::Tensor middle = h + linear(view, layer, kO, attended).to(at::kFloat);
  const at::Tensor y = rms_norm(middle, block.post_norm);
  const at::Tensor gated = at::silu(linear(view, layer, kGate, y)) * linear(view, layer, kUp, y);
  return middle + linear(view, layer, kDown, gated).to(at::kFloat);
}

at::Tensor Decoder::finish(const View& view, const at::Tensor& h) const { return rms_norm(h, view.weights->norm); }

at::Tensor Decoder::forward(const View& view, const at::Tensor& ids, const std::vector<int64_t>& positions,
                            const Attend& attend, const Cancel& cancel, const char* operation) const {
  const c10::NoGradGuard no_grad;
  const Rotary tables = rotary(positions);
  at::Tensor h = embed(view, ids).contiguous();
  for (int64_t l = 0; l < config_.layers; ++l) {
    cancel.check(operation);
    infer(view, l, h, tables, attend);
  }
  return infer_norm(h, view.weights->norm);
}

}  // namespace grpo
