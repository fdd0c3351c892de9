#include "training/model.h"

#include <ATen/ops/isfinite.h>

#include <algorithm>

#include "error.h"
#include "model/memory.h"

namespace grpo {
namespace {

at::Tensor excluded_ids(const PolicyConfig& config) {
  std::vector<int64_t> ids;
  for (size_t id = 0; id < config.support.size(); ++id) {
    if (config.support[id] == 0) ids.push_back(static_cast<int64_t>(id));
  }
  return ids.empty() ? at::Tensor() : to_tensor(ids);
}

}  // namespace

Model::Model(PolicyConfig config, const std::function<void(int64_t, int64_t)>& progress)
    : config_(std::move(config)), decoder_(config_), base_(load_weights(config_, progress)) {
  excluded_ = excluded_ids(config_);
  weight_bytes_ = base_.bytes();
  const auto train = [this](const std::string& name, at::Tensor& tensor) {
    tensor.requires_grad_(true);
    parameters_.push_back({name, tensor, {}, {}});
  };
  if (config_.has_lora) {
    lora_ = make_lora(config_, config_.lora.tensors, base_);
    if (config_.has_resume) {
      if (!config_.resume.reference.empty()) reference_lora_ = make_lora(config_, config_.resume.reference, base_);
    } else if (!config_.lora.tensors.empty() && !config_.reference_is_base) {
      reference_lora_ = lora_->frozen_copy();
    }
    if (config_.train == Train::kLora) lora_->for_each(train);
    if (config_.bfloat16) {
      narrow_lora_ = lora_->converted(at::kBFloat16);
      if (reference_lora_) narrow_reference_lora_ = reference_lora_->converted(at::kBFloat16);
    }
  }
  if (config_.train == Train::kFull) {
    make_full();
    full_->for_each(train);
    weight_bytes_ += full_->bytes();
  }
  if (config_.has_resume) restore();
  // Two moments for everything that is trained; gradients come and go with each update.
  const int64_t held = weight_bytes_ + 2 * trained_bytes() + (config_.train == Train::kLora ? trained_bytes() : 0);
  config_.budget->require_limit("load", held, "the weights and the optimizer's moments");
  config_.budget->hold(held);
}

// Trained copies of all weights, from the base or from the checkpoint that is resumed.
void Model::make_full() {
  const bool tied = base_.head.is_same(base_.embedding);
  full_ = base_;
  if (tied) full_->head = at::Tensor();
  full_->for_each([this](const std::string& name, at::Tensor& tensor) {
    if (!tensor.defined()) return;
    if (!config_.has_resume) {
      tensor = tensor.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
      return;
    }
    const auto found = config_.resume.weights.find(name);
    if (found == config_.resume.weights.end()) throw Error("INVALID_CHECKPOINT", "load", "the checkpoint has no " + name);
    tensor = load_float32(config_.files, found->second, name);
  });
  if (tied) full_->head = full_->embedding;
}

void Model::restore() {
  const auto moment = [this](const TensorTable& table, const std::string& name) {
    const auto found = table.find(name);
    return found == table.end() ? at::Tensor() : load_float32(config_.files, found->second, name);
  };
  for (Parameter& parameter : parameters_) {
    parameter.first_moment = moment(config_.resume.first_moments, parameter.name);
    parameter.second_moment = moment(config_.resume.second_moments, parameter.name);
  }
  optimizer_.set_steps(config_.resume.steps);
  version_ = config_.resume.weights_version;
}

int64_t Model::trained_bytes() const {
  int64_t bytes = 0;
  for (const Parameter& parameter : parameters_) bytes += static_cast<int64_t>(parameter.value.nbytes());
  return bytes;
}

at::Tensor Model::merged(const std::string& name, at::ScalarType type) {
  const c10::NoGradGuard no_grad;
  at::Tensor weight;
  if (full_) {
    full_->for_each([&](const std::string& each, at::Tensor& tensor) {
      if (each == name) weight = tensor.detach();
    });
  } else {
    weight = load_float32(config_.files, config_.tensors.at(name), name);
    if (lora_) {
      at::Tensor a, b;
      const std::string layer = name.substr(0, name.size() - std::min(name.size(), std::string(".weight").size()));
      lora_->for_each([&](const std::string& each, at::Tensor& tensor) {
        if (each == layer + ".lora_A") a = tensor.detach();
        if (each == layer + ".lora_B") b = tensor.detach();
      });
      if (a.defined()) weight.add_(at::mm(b, a), lora_->scaling);
    }
  }
  if (!weight.defined()) throw Error("INTERNAL", "exportMerged", "there is no weight named " + name);
  const at::Tensor stored = weight.to(type).contiguous();
  if (!at::isfinite(stored).all().item<bool>()) {
    throw Error("INVALID_MODEL", "exportMerged", name + " holds values that are not finite once merged; nothing is saved");
  }
  return stored;
}

View Model::view(Which which) const {
  View view;
  view.weights = which == Which::kPolicy && full_ ? &*full_ : &base_;
  if (which == Which::kPolicy && lora_) view.lora = &*lora_;
  if (which == Which::kReference && reference_lora_) view.lora = &*reference_lora_;
  view.infer_lora = view.lora;
  if (view.lora != nullptr && config_.bfloat16) {
    view.infer_lora = which == Which::kPolicy ? &*narrow_lora_ : &*narrow_reference_lora_;
  }
  return view;
}

void Model::next_version() {
  if (narrow_lora_) narrow_lora_->assign(*lora_);
  ++version_;
}

Head Model::head(Which which, bool full_support) const {
  Head head;
  head.weight = (which == Which::kPolicy && full_ ? full_->head : base_.head).detach();
  head.strict = config_.strict;
  if (!full_support) {
    head.excluded = excluded_;
    head.support = config_.support;
  }
  return head;
}

std::vector<std::pair<std::string, at::Tensor>> Model::trainable(Which which) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  if (which == Which::kPolicy && config_.has_lora) {
    lora_->for_each([&](const std::string& name, at::Tensor& tensor) { tensors.emplace_back(name, tensor.detach()); });
  } else if (which == Which::kPolicy && full_) {
    full_->for_each([&](const std::string& name, at::Tensor& tensor) { tensors.emplace_back(name, tensor.detach()); });
  } else if (which == Which::kReference && reference_lora_) {
    reference_lora_->for_each([&](const std::string& name, at::Tensor& tensor) { tensors.emplace_back(name, tensor); });
  }
  return tensors;
}

}  // namespace grpo
