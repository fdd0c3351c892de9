#include "training/model.h"

#include "error.h"

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
    lora_ = make_lora(config_, base_);
    if (!config_.lora.tensors.empty() && !config_.reference_is_base) reference_lora_ = lora_->frozen_copy();
    if (config_.train == Train::kLora) lora_->for_each(train);
  }
  if (config_.train == Train::kFull) {
    full_ = base_;
    const bool tied = base_.head.is_same(base_.embedding);
    full_->for_each([](const std::string&, at::Tensor& tensor) { tensor = tensor.to(at::kFloat, false, /*copy=*/true); });
    if (tied) full_->head = full_->embedding;
    full_->for_each(train);
    weight_bytes_ += full_->bytes();
  }
}

View Model::view(Which which) const {
  View view;
  view.weights = which == Which::kPolicy && full_ ? &*full_ : &base_;
  if (which == Which::kPolicy && lora_) view.lora = &*lora_;
  if (which == Which::kReference && reference_lora_) view.lora = &*reference_lora_;
  return view;
}

Head Model::head(Which which, bool full_support) const {
  Head head;
  head.weight = (which == Which::kPolicy && full_ ? full_->head : base_.head).detach();
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
