// The blocks again, without a graph: the same arithmetic as Decoder::block in fused steps, for sampling and scoring.

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/linear.h"
#include "model/decoder.h"

namespace grpo {
namespace {

// From this many rows on, the library's blocked product is the faster one.
constexpr int64_t kLibraryRows = 64;

uint16_t* bits(const at::Tensor& tensor) { return static_cast<uint16_t*>(tensor.data_ptr()); }

// y = x w^T + bias, or y += alpha x w^T; all of one type and contiguous.
struct Product {
  at::Tensor x, w, bias, y;
  float alpha = 1;
  bool accumulate = false;

  template <typename T>
  LinearOf<T> arguments() const {
    const auto data = [](const at::Tensor& tensor) { return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr; };
    return {data(x), data(w), data(bias), data(y), x.size(0), x.size(1), w.size(0), alpha, accumulate};
  }
};

template <typename T>
std::vector<LinearOf<T>> arguments_of(const std::vector<Product>& products) {
  std::vector<LinearOf<T>> arguments;
  for (const Product& product : products) arguments.push_back(product.arguments<T>());
  return arguments;
}

// All products in one parallel loop.
void multiply(const std::vector<Product>& products) {
  const int64_t count = static_cast<int64_t>(products.size());
  if (count == 0) return;
  if (products[0].x.scalar_type() == at::kFloat) {
    linear_float(arguments_of<float>(products).data(), count);
  } else {
    linear_bfloat16(arguments_of<uint16_t>(products).data(), count);
  }
}

bool own_product(const at::Tensor& x, bool strict) {
  if (x.scalar_type() == at::kFloat) return strict || x.size(0) < kLibraryRows;
  return x.scalar_type() == at::kBFloat16 && x.size(0) < linear_bfloat16_rows();
}

at::Tensor room(const at::Tensor& x, const at::Tensor& weight) { return at::empty({x.size(0), weight.size(0)}, x.options()); }

}  // namespace

at::Tensor infer_product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool strict) {
  if (!own_product(x, strict)) return at::linear(x, weight, bias);
  at::Tensor y = room(x, weight);
  multiply({{x.contiguous(), weight, bias, y}});
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

std::vector<at::Tensor> Decoder::infer_linear(const View& view, int64_t layer, const std::vector<Projection>& projections,
                                              const at::Tensor& x) const {
  const size_t at = static_cast<size_t>(layer);
  const auto& linears = view.weights->blocks[at].projections;
  const bool own = own_product(x, config_.strict);
  std::vector<at::Tensor> outputs;
  // First all that reads x, then y += scaling * B (A x).
  std::vector<Product> products, adapters;
  for (const Projection projection : projections) {
    const Linear& linear = linears[projection];
    outputs.push_back(own ? room(x, linear.weight) : at::linear(x, linear.weight, linear.bias));
    if (own) products.push_back({x, linear.weight, linear.bias, outputs.back()});
  }
  for (size_t i = 0; view.infer_lora != nullptr && i < projections.size(); ++i) {
    const LoraPair& pair = view.infer_lora->blocks[at][projections[i]];
    if (!pair.defined()) continue;
    const at::Tensor middle = own ? room(x, pair.a) : at::linear(x, pair.a);
    if (own) products.push_back({x, pair.a, {}, middle});
    if (own || compute_ == at::kFloat) {
      adapters.push_back({middle, pair.b, {}, outputs[i], static_cast<float>(view.infer_lora->scaling), true});
    } else {
      outputs[i] = outputs[i] + at::linear(middle, pair.b) * view.infer_lora->scaling;
    }
  }
  multiply(products);
  multiply(adapters);
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
