// The blocks again, without a graph: the same arithmetic as Decoder::block in fused steps, for sampling and scoring.

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/linear.h"
#include "model/decoder.h"

namespace grpo {
namespace {

// From this many rows on, the library's blocked product is the faster one.
constexpr int64_t kLibraryRows = 64;

uint16_t* bits(const at::Tensor& tensor) { return static_cast<uint16_t*>(tensor.data_ptr()); }

// y = x w^T + bias, or y += alpha x w^T.
void multiply(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, at::Tensor& y, float alpha, bool accumulate) {
  linear_float({x.const_data_ptr<float>(), w.const_data_ptr<float>(), bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                y.data_ptr<float>(), x.size(0), x.size(1), w.size(0), alpha, accumulate});
}

}  // namespace

at::Tensor infer_product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool strict) {
  const bool own = x.scalar_type() == at::kFloat && (strict || x.size(0) < kLibraryRows);
  if (!own) return at::linear(x, weight, bias);
  at::Tensor y = at::empty({x.size(0), weight.size(0)}, x.options());
  multiply(x.contiguous(), weight, bias, y, 1, false);
  return y;
}

at::Tensor Decoder::infer_norm(const at::Tensor& x, const at::Tensor& weight) const {
  const int64_t size = x.size(-1), rows = x.numel() / size;
  at::Tensor out = at::empty(x.sizes(), x.options().dtype(compute_));
  const float* w = weight.const_data_ptr<float>();
  const float eps = static_cast<float>(config_.rms_norm_eps);
  if (compute_ == at::kFloat) {
    rms_norm_rows(x.const_data_ptr<float>(), w, eps, rows, size, out.data_ptr<float>());
  } else if (x.scalar_type() == at::kFloat) {
    rms_norm_rows(x.const_data_ptr<float>(), w, eps, rows, size, bits(out));
  } else {
    rms_norm_rows(static_cast<const uint16_t*>(bits(x)), w, eps, rows, size, bits(out));
  }
  return out;
}

void Decoder::infer_rotate(at::Tensor& x, const Rotary& rotary) const {
  const float* cosine = rotary.cos.const_data_ptr<float>();
  const float* sine = rotary.sin.const_data_ptr<float>();
  if (compute_ == at::kFloat) {
    rotate_rows(x.data_ptr<float>(), cosine, sine, x.size(0), x.size(1), x.size(2));
  } else {
    rotate_rows(bits(x), cosine, sine, x.size(0), x.size(1), x.size(2));
  }
}

at::Tensor Decoder::infer_linear(const View& view, int64_t layer, Projection projection, const at::Tensor& x) const {
  const Linear& base = view.weights->blocks[static_cast<size_t>(layer)].projections[projection];
  at::Tensor y = infer_product(x, base.weight, base.bias, config_.strict);
  if (view.lora == nullptr) return y;
  const LoraPair& pair = view.lora->blocks[static_cast<size_t>(layer)][projection];
  if (!pair.defined()) return y;
  const at::Tensor middle = infer_product(x, pair.a.to(compute_), {}, config_.strict);
  if (compute_ != at::kFloat) {
    return y + at::linear(middle, pair.b.to(compute_)) * view.lora->scaling;
  }
  multiply(middle, pair.b, {}, y, static_cast<float>(view.lora->scaling), true);
  return y;
}

void Decoder::infer(const View& view, int64_t layer, at::Tensor& h, const Rotary& rotary, const Attend& attend) const {
  const Block& block = view.weights->blocks[static_cast<size_t>(layer)];
  const int64_t n = h.size(0);
  const at::Tensor x = infer_norm(h, block.input_norm);
  at::Tensor q = infer_linear(view, layer, kQ, x).view({n, config_.heads, config_.head_dim});
  at::Tensor k = infer_linear(view, layer, kK, x).view({n, config_.key_value_heads, config_.head_dim});
  const at::Tensor v = infer_linear(view, layer, kV, x).view({n, config_.key_value_heads, config_.head_dim});
  if (config_.qk_norm) {
    q = infer_norm(q, block.q_norm);
    k = infer_norm(k, block.k_norm);
  }
  infer_rotate(q, rotary);
  infer_rotate(k, rotary);
  h.add_(infer_linear(view, layer, kO, attend(layer, q, k, v)));
  const at::Tensor y = infer_norm(h, block.post_norm);
  at::Tensor gate = infer_linear(view, layer, kGate, y);
  const at::Tensor up = infer_linear(view, layer, kUp, y);
  if (compute_ == at::kFloat) {
    silu_multiply(gate.data_ptr<float>(), up.const_data_ptr<float>(), gate.numel());
  } else {
    silu_multiply(bits(gate), static_cast<const uint16_t*>(bits(up)), gate.numel());
  }
  h.add_(infer_linear(view, layer, kDown, gate));
}

}  // namespace grpo
