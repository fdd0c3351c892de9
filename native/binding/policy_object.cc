#include <algorithm>

#include "binding/convert.h"
#include "binding/objects.h"
#include "error.h"

namespace grpo {
namespace {

std::vector<float> joined(const std::vector<std::vector<float>>& rows) {
  std::vector<float> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Napi::Array make_shape(Napi::Env env, at::IntArrayRef sizes) {
  Napi::Array shape = Napi::Array::New(env, sizes.size());
  for (uint32_t d = 0; d < sizes.size(); ++d) shape.Set(d, static_cast<double>(sizes[d]));
  return shape;
}

}  // namespace

void PolicyObject::define(Napi::Env env, AddonData& data) {
  data.policy = Napi::Persistent(DefineClass(env, "Policy",
                                             {InstanceMethod<&PolicyObject::open>("open"),
                                              InstanceMethod<&PolicyObject::logprobs>("logprobs"),
                                              InstanceMethod<&PolicyObject::update>("update"),
                                              InstanceMethod<&PolicyObject::trainable>("trainable"),
                                              InstanceMethod<&PolicyObject::training_state>("trainingState"),
                                              InstanceMethod<&PolicyObject::read_trained>("readTrained"),
                                              InstanceMethod<&PolicyObject::merged>("merged"),
                                              InstanceMethod<&PolicyObject::close>("close"),
                                              InstanceAccessor<&PolicyObject::version>("weightsVersion"),
                                              InstanceAccessor<&PolicyObject::weight_bytes>("weightBytes")}));
}

Napi::Object PolicyObject::make(Napi::Env env, std::shared_ptr<PolicyHost> host) {
  const Napi::Object object = env.GetInstanceData<AddonData>()->policy.New({});
  Unwrap(object)->host_ = std::move(host);
  return object;
}

Napi::Value PolicyObject::open(const Napi::CallbackInfo& info) {
  return host_->call(info.Env(), [host = host_, ids = read_ids(info[0])](PolicyHost::Core& core, const PendingPtr& pending) {
    std::shared_ptr<Sequence> sequence = core.engine.open(ids);
    pending->resolve([host, sequence](Napi::Env env) -> Napi::Value { return SessionObject::make(env, host, sequence); });
  });
}

// (rows, weights, temperature, fullSupport, cancel) -> Float32Array of all rows' T - 1 entries, end to end.
Napi::Value PolicyObject::logprobs(const Napi::CallbackInfo& info) {
  auto rows = read_rows(info[0].As<Napi::Object>());
  const Which which = read_which(info[1]);
  const double temperature = info[2].As<Napi::Number>().DoubleValue();
  const bool full_support = info[3].As<Napi::Boolean>().Value();
  const CancelPtr cancel = CancelObject::read(info[4]);
  return host_->call(info.Env(), [=, rows = std::move(rows)](PolicyHost::Core& core, const PendingPtr& pending) {
    const auto result = joined(grpo::logprobs(core.model, rows, which, temperature, full_support, *cancel));
    pending->resolve([result](Napi::Env env) -> Napi::Value { return make_float32(env, result.data(), result.size()); });
  });
}

Napi::Value PolicyObject::update(const Napi::CallbackInfo& info) {
  auto rows = read_update_rows(info[0].As<Napi::Object>());
  const LossOptions loss = read_loss(info[1].As<Napi::Object>());
  const OptimizerOptions optimizer = read_optimizer(info[2].As<Napi::Object>());
  const int64_t micro_batch_tokens = info[3].As<Napi::Number>().Int64Value();
  const CancelPtr cancel = CancelObject::read(info[4]);
  return host_->call(info.Env(), [=, host = host_, rows = std::move(rows)](PolicyHost::Core& core, const PendingPtr& pending) {
    const UpdateStats stats = grpo::update(core.model, rows, loss, optimizer, micro_batch_tokens, *cancel);
    host->note_version(core.model.version());
    pending->resolve([stats](Napi::Env env) -> Napi::Value { return make_stats(env, stats); });
  });
}

// (which) -> [{ name, shape, data }], float32 copies.
Napi::Value PolicyObject::trainable(const Napi::CallbackInfo& info) {
  const Which which = read_which(info[0]);
  return host_->call(info.Env(), [which](PolicyHost::Core& core, const PendingPtr& pending) {
    auto tensors = core.model.trainable(which);
    // Copies, made here: the next job may change the weights.
    for (auto& [name, tensor] : tensors) tensor = tensor.contiguous().clone();
    pending->resolve([tensors](Napi::Env env) -> Napi::Value {
      Napi::Array list = Napi::Array::New(env, tensors.size());
      for (uint32_t i = 0; i < tensors.size(); ++i) {
        const auto& [name, tensor] = tensors[i];
        Napi::Object item = Napi::Object::New(env);
        item.Set("name", name);
        item.Set("shape", make_shape(env, tensor.sizes()));
        item.Set("data", make_float32(env, tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())));
        list.Set(i, item);
      }
      return list;
    });
  });
}

// () -> { steps, weightsVersion, tensors: [{ name, shape, hasMoments }] } of what is trained; no numbers are copied.
Napi::Value PolicyObject::training_state(const Napi::CallbackInfo& info) {
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    bool has_moments;
  };
  return host_->call(info.Env(), [](PolicyHost::Core& core, const PendingPtr& pending) {
    std::vector<Entry> entries;
    for (const Parameter& p : core.model.parameters()) {
      entries.push_back({p.name, p.value.sizes().vec(), p.first_moment.defined()});
    }
    const int64_t steps = core.model.optimizer().steps(), version = core.model.version();
    pending->resolve([entries, steps, version](Napi::Env env) -> Napi::Value {
      Napi::Array tensors = Napi::Array::New(env, entries.size());
      for (uint32_t i = 0; i < entries.size(); ++i) {
        Napi::Object item = Napi::Object::New(env);
        item.Set("name", entries[i].name);
        item.Set("shape", make_shape(env, entries[i].shape));
        item.Set("hasMoments", entries[i].has_moments);
        tensors.Set(i, item);
      }
      Napi::Object state = Napi::Object::New(env);
      state.Set("steps", static_cast<double>(steps));
      state.Set("weightsVersion", static_cast<double>(version));
      state.Set("tensors", tensors);
      return state;
    });
  });
}

// (what, name) -> Float32Array: one trained tensor or one of its moments, so that a save never holds them all twice.
Napi::Value PolicyObject::read_trained(const Napi::CallbackInfo& info) {
  const std::string what = info[0].As<Napi::String>().Utf8Value(), name = info[1].As<Napi::String>().Utf8Value();
  return host_->call(info.Env(), [what, name](PolicyHost::Core& core, const PendingPtr& pending) {
    for (const Parameter& p : core.model.parameters()) {
      if (p.name != name) continue;
      const at::Tensor& found = what == "value" ? p.value : what == "firstMoment" ? p.first_moment : p.second_moment;
      if (!found.defined()) break;
      const at::Tensor copy = found.detach().contiguous().clone();
      pending->resolve([copy](Napi::Env env) -> Napi::Value {
        return make_float32(env, copy.const_data_ptr<float>(), static_cast<size_t>(copy.numel()));
      });
      return;
    }
    throw Error("INTERNAL", "save", "there is no " + what + " of " + name);
  });
}

// (name, dtype) -> Uint8Array: one weight with the adapter merged in, as a file stores it.
Napi::Value PolicyObject::merged(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>().Utf8Value();
  const at::ScalarType type = read_dtype(info[1]);
  return host_->call(info.Env(), [name, type](PolicyHost::Core& core, const PendingPtr& pending) {
    at::Tensor tensor = core.model.merged(name, type);
    // A trained tensor of that type is the weight itself, which the next update changes.
    if (core.model.config().train == Train::kFull) tensor = tensor.clone();
    pending->resolve([tensor](Napi::Env env) -> Napi::Value {
      const auto* data = static_cast<const uint8_t*>(tensor.const_data_ptr());
      Napi::Uint8Array bytes = Napi::Uint8Array::New(env, tensor.nbytes());
      std::copy(data, data + tensor.nbytes(), bytes.Data());
      return bytes;
    });
  });
}

Napi::Value PolicyObject::close(const Napi::CallbackInfo& info) { return host_->close(info.Env()); }

Napi::Value PolicyObject::version(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(host_->version()));
}

Napi::Value PolicyObject::weight_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(host_->weight_bytes()));
}

}  // namespace grpo
