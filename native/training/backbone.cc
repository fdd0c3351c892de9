#include "training/backbone.h"

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

// Counted from the tensors that autograd keeps for a block (float32 residual stream, compute-type products).
int64_t Backbone::graph_bytes(const PolicyConfig& config, int64_t tokens, bool recompute) {
  const int64_t item = config.bfloat16 ? 2 : 4;
  const int64_t attention = config.heads * config.head_dim, key_value = config.key_value_heads * config.head_dim;
  const int64_t per_block = 8 * config.hidden_size * 4 + 2 * config.hidden_size * item + (4 * 4 + 3 * item) * attention +
                            (4 * 4 + 2 * item) * key_value + 4 * config.intermediate_size * item;
  const int64_t kept = recompute ? config.layers * config.hidden_size * 4 + 2 * per_block : config.layers * per_block;
  return tokens * kept;
}

}  // namespace grpo
