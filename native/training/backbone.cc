#include "training/backbone.h"

#include <algorithm>

namespace grpo {

at::Tensor hidden_without_graph(const Decoder& decoder, const View& view, const Packed& packed, const Cancel& cancel) {
  const c10::NoGradGuard no_grad;
  const Rotary rotary = decoder.rotary(row_positions(packed.offsets));
  const Attend attend = attend_rows(packed.offsets);
  at::Tensor h = decoder.embed(view, packed.ids);
  for (int64_t l = 0; l < decoder.config().layers; ++l) {
    cancel.check("update");
    h = decoder.block(view, l, h, rotary, attend);
  }
  return decoder.finish(view, h);
}

Backbone::Backbone(const Decoder& decoder, const View& view, const Packed& packed, bool recompute, const Cancel& cancel)
    : decoder_(decoder),
      view_(view),
      cancel_(cancel),
      recompute_(recompute),
      rotary_(decoder.rotary(row_positions(packed.offsets))),
      attend_(attend_rows(packed.offsets)) {
  const at::AutoGradMode with_graph(true);
  embedded_ = decoder.embed(view, packed.ids);
  const int64_t layers = decoder.config().layers;
  if (!recompute) {
    at::Tensor h = embedded_;
    for (int64_t l = 0; l < layers; ++l) {
      cancel.check("update");
      h = decoder.block(view, l, h, rotary_, attend_);
    }
    output_ = decoder.finish(view, h);
    hidden_ = output_.detach();
    return;
  }
  const c10::NoGradGuard no_grad;
  inputs_.push_back(embedded_.detach());
  for (int64_t l = 0; l < layers; ++l) {
    cancel.check("update");
    inputs_.push_back(decoder.block(view, l, inputs_.back(), rotary_, attend_));
  }
  hidden_ = decoder.finish(view, inputs_.back());
}

void Backbone::backward(const at::Tensor& grad) {
  const at::AutoGradMode with_graph(true);
  if (!recompute_) {
    if (output_.requires_grad()) output_.backward(grad.to(output_.scalar_type()));
    return;
  }
  at::Tensor incoming = grad;
  for (int64_t l = decoder_.config().layers; l >= 0; --l) {
    cancel_.check("update");
    const size_t index = static_cast<size_t>(l);
    at::Tensor input = inputs_[index].detach();
    // The first block's input needs no gradient unless the embedding is trained.
    const bool pass_on = l > 0 || embedded_.requires_grad();
    input.requires_grad_(pass_on);
    const at::Tensor out = l == decoder_.config().layers ? decoder_.finish(view_, input)
                                                         : decoder_.block(view_, l, input, rotary_, attend_);
    if (out.requires_grad()) out.backward(incoming.to(out.scalar_type()));
    inputs_[index] = at::Tensor();
    if (pass_on) incoming = input.grad();
  }
  if (embedded_.requires_grad()) embedded_.backward(incoming);
}

// Counted from the tensors that autograd keeps for a block: residual stream float32, products in the compute type.
// Measured with SmolLM2-135M in bfloat16 and 2 rows of 512 tokens, logits included: 990 MB with adapters on q and v, 1,274 MB
// on all seven, 485 MB recomputed with q and v; the estimates are 8%, 0% and 1% above.
int64_t Backbone::graph_bytes(const PolicyConfig& config, int64_t tokens, bool recompute) {
  const int64_t item = config.bfloat16 ? 2 : 4;
  const int64_t attention = config.heads * config.head_dim, key_value = config.key_value_heads * config.head_dim;
  const auto past_values = [](const std::string& name) { return name != "q_proj" && name != "k_proj" && name != "v_proj"; };
  const bool full = config.train == Train::kFull;
  const auto& targets = config.lora.target_modules;
  int64_t block = 2 * config.hidden_size * 4;              // input of both norms
  block += 4 * attention * item;                           // queries, repeated keys and values, result
  block += 3 * config.intermediate_size * item;            // gate, its activation, up
  block += config.hidden_size * item;                      // input of the first projections
  if (config.qk_norm) block += 2 * (attention + key_value) * 4;
  if (full || std::any_of(targets.begin(), targets.end(), past_values)) {
    block += (config.hidden_size + attention + config.intermediate_size) * item;  // inputs of the other projections
  }
  if (full) block += 2 * config.hidden_size * 4;           // normalised values, for the gradient of the norms
  block += block * 3 / 10;                                 // what backward takes for a moment
  constexpr int64_t kBlocksAtOnce = 4;                     // one with its graph, and its gradients
  const int64_t kept = recompute ? config.layers * config.hidden_size * 4 + kBlocksAtOnce * block : config.layers * block;
  return tokens * kept;
}

}  // namespace grpo
