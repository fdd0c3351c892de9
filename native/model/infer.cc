// The blocks again, without a graph: the same arithmetic as Decoder::block in fused steps, for sampling and scoring.

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/linear.h"
#include "model/decoder.h"

namespace grpo {
namespace {

// From this many rows on, the library's blocked product is the faster one.
constexpr int64_t kLibraryRows = 64;

uint16_t* bits(const at::Tensor& tensor) { return static_cast<uint16_t*>(tensor.data_ptr()); }

// y = x w^T + bias, or y += alpha x w^T; all float32 and contiguous.
LinearArguments product(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, at::Tensor& y, float alpha,
                        bool accumulate) {
  return {x.const_data_ptr<float>(), w.const_data_ptr<float>(), bias.defined() ? bias.const_data_ptr<float>() : nullptr,
          y.data_ptr<float>(),       x.size(0), x.size(1), w.size(0), alpha, accumulate};
}

bool own_product(const at::Tensor& x, bool strict) { return x.scalar_type() == at::kFloat && (strict || x.size(0) < kLibraryRows); }

}  // namespace

at::Tensor infer_product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool strict) {
  if (!own_product(x, strict)) return at::linear(x, weight, bias);
  at::Tensor y = at::empty({x.size(0), weight.size(0)}, x.options());
  const at::Tensor rows = x.contiguous();
  linear_float(product(rows, weight, bias, y, 1, false));
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

// y += scaling * B (A x).
void Decoder::infer_adapter(const View& view, int64_t layer, Projection projection, const at::Tensor& x, at::Tensor& y) const {
  const LoraPair& pair = view.lora->blocks[static_cast<size_t>(layer)][projection];
  if (!pair.defined()) return;
  const at::Tensor middle = infer_product(x, pair.a.to(compute_), {}, config_.strict);
  if (compute_ == at::kFloat) {
    linear_float(product(middle, pair.b, {}, y, static_cast<float>(view.lora->scaling), true));
  } else {
    y = y + at::linear(middle, pair.b.to(compute_)) * view.lora->scaling;
  }
}

std::vector<at::Tensor> Decoder::infer_linear(const View& view, int64_t layer, const std::vector<Projection>& projections,
                                              const at::Tensor& x) const {
  const auto& linears = view.weights->blocks[static_cast<size_t>(layer)].projections;
  std::vector<at::Tensor> outputs;
  if (own_product(x, config_.strict)) {
    std::vector<LinearArguments> products;
    for (const Projection projection : projections) {
      outputs.push_back(at::empty({x.size(0), linears[projection].weight.size(0)}, x.options()));
      products.push_back(product(x, linears[projection].weight, linears[projection].bias, outputs.back(), 1, false));
    }
    linear_float(products.data(), static_cast<int64_t>(products.size()));
  } else {
    for (const Projection projection : projections) {
      outputs.push_back(at::linear(x, linears[projection].weight, linears[projection].bias));
    }
  }
  if (view.lora != nullptr) {
    for (size_t i = 0; i < projections.size(); ++i) infer_adapter(view, layer, projections[i], x, outputs[i]);
  }
  return outputs;
}

void Decoder::infer(const View& view, int64_t layer, at::Tensor& h, const Rotary& rotary, const Attend& attend) const {
  const Block& block = view.weights->blocks[static_cast<size_t>(layer)];
  const int64_t n = h.size(0);
  const at::Tensor x = infer_norm(h, block.input_norm);
  const std::vector<at::Tensor> projected = infer_linear(view, layer, {kQ, kK, kV}, x);
  at::Tensor q = projected[0].view({n, config_.heads, config_.head_dim});
  at::Tensor k = projected[1].view({n, config_.key_value_heads, config_.head_dim});
  const at::Tensor v = projected[2].view({n, config_.key_value_heads, config_.head_dim});
  if (config_.qk_norm) {
    q = infer_norm(q, block.q_norm);
    k = infer_norm(k, block.k_norm);
  }
  infer_rotate(q, rotary);
  infer_rotate(k, rotary);
  h.add_(infer_linear(view, layer, {kO}, attend(layer, q, k, v))[0]);
  const at::Tensor y = infer_norm(h, block.post_norm);
  const std::vector<at::Tensor> inner = infer_linear(view, layer, {kGate, kUp}, y);
  const at::Tensor &gate = inner[0], &up = inner[1];
  if (compute_ == at::kFloat) {
    silu_multiply(gate.data_ptr<float>(), up.const_data_ptr<float>(), gate.numel());
  } else {
    silu_multiply(bits(gate), static_cast<const uint16_t*>(bits(up)), gate.numel());
  }
  h.add_(infer_linear(view, layer, {kDown}, gate)[0]);
}

}  // namespace grpo
