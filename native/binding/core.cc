// What JavaScript sees of the core. One set of exports an environment: the main thread and every worker has its own.

#include <napi.h>

#include <algorithm>

#include "binding/convert.h"
#include "binding/objects.h"
#include "binding/process.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/linear.h"

namespace grpo {
namespace {

Napi::Value has_bfloat16(const Napi::CallbackInfo& info) { return Napi::Boolean::New(info.Env(), cpu_has_bfloat16()); }

// (form, { x, w, bias, y, rows, alpha }) -> whether this processor has that form: the product is in y then. Bits of
// bfloat16; with alpha the product is added to y.
Napi::Value linear_bfloat16_form(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>();
  const LinearForm form = name == "amx"          ? LinearForm::kAmx
                          : name == "avx512bf16" ? LinearForm::kAvx512Bfloat16
                                                 : LinearForm::kPortable;
  if (!has_linear(form)) return Napi::Boolean::New(info.Env(), false);
  const auto product = info[1].As<Napi::Object>();
  const auto array = [&](const char* key) { return product.Get(key).As<Napi::Uint16Array>(); };
  const int64_t rows = product.Get("rows").As<Napi::Number>().Int64Value();
  LinearArgumentsBfloat16 arguments{};
  arguments.x = array("x").Data();
  arguments.w = array("w").Data();
  if (!product.Get("bias").IsUndefined()) arguments.bias = array("bias").Data();
  arguments.y = array("y").Data();
  arguments.rows = rows;
  arguments.inputs = static_cast<int64_t>(array("x").ElementLength()) / rows;
  arguments.outputs = static_cast<int64_t>(array("y").ElementLength()) / rows;
  arguments.accumulate = !product.Get("alpha").IsUndefined();
  arguments.alpha = arguments.accumulate ? product.Get("alpha").As<Napi::Number>().FloatValue() : 1;
  linear_by_form(form, arguments);
  return Napi::Boolean::New(info.Env(), true);
}

// (config, progress) -> promise of a policy.
Napi::Value load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  PolicyConfig config = read_policy_config(info[0].As<Napi::Object>());
  const std::shared_ptr<Outlet> outlet = Outlet::create(env);
  // Freed on this thread by the last task that uses it.
  auto* progress = new Napi::FunctionReference(Napi::Persistent(info[1].As<Napi::Function>()));
  const auto report = [outlet, progress](int64_t done, int64_t total) {
    outlet->post([progress, done, total](Napi::Env e) {
      const Napi::HandleScope scope(e);
      progress->Call({Napi::Number::New(e, static_cast<double>(done)), Napi::Number::New(e, static_cast<double>(total))});
    });
  };
  auto pending = std::make_shared<Pending>(env, outlet);
  const Napi::Promise promise = pending->promise();
  PolicyHost::start(
      env,
      [config = std::move(config), report, outlet, progress]() mutable {
        const auto free_progress = [&] { outlet->post([progress](Napi::Env) { delete progress; }); };
        try {
          auto core = std::make_unique<PolicyHost::Core>(std::move(config), report);
          free_progress();
          return core;
        } catch (...) {
          free_progress();
          throw;
        }
      },
      pending, [](Napi::Env e, std::shared_ptr<PolicyHost> host) -> Napi::Value { return PolicyObject::make(e, std::move(host)); });
  return promise;
}

const double* data_or_null(const Napi::Value& value) {
  return value.IsUndefined() ? nullptr : value.As<Napi::Float64Array>().Data();
}

// (batch, loss) -> { loss, kl, clipFraction, ratioMax, gradient }: the policy loss on given numbers, in float64.
Napi::Value evaluate_loss(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto batch = info[0].As<Napi::Object>();
  const LossOptions loss = read_loss(info[1].As<Napi::Object>());
  const auto offsets = batch.Get("offsets").As<Napi::Uint32Array>();
  const auto mask = batch.Get("mask").As<Napi::Uint8Array>();
  const double* logprobs = data_or_null(batch.Get("logprobs"));
  const double* old = data_or_null(batch.Get("oldLogprobs"));
  const double* reference = data_or_null(batch.Get("referenceLogprobs"));
  const double* sampler = data_or_null(batch.Get("samplerLogprobs"));
  const double* entropies = data_or_null(batch.Get("entropies"));
  const double* advantages = data_or_null(batch.Get("advantages"));
  const size_t rows = offsets.ElementLength() - 1;

  Denominators denominators;
  for (size_t b = 0; b < rows; ++b) denominators.add(mask.Data() + offsets[b], offsets[b + 1] - offsets[b]);
  Napi::Float64Array gradient = Napi::Float64Array::New(env, offsets[rows]);
  LossSums sums;
  for (size_t b = 0; b < rows; ++b) {
    const size_t at = offsets[b];
    const auto from = [at](const double* data) { return data == nullptr ? nullptr : data + at; };
    LossRow row;
    row.n = offsets[b + 1] - at;
    row.logprobs = from(logprobs);
    row.old_logprobs = from(old);
    row.reference_logprobs = loss.kl_coefficient != 0 ? from(reference) : nullptr;
    row.sampler_logprobs = from(sampler);
    row.entropies = from(entropies);
    row.mask = mask.Data() + at;
    row.advantages = from(advantages);
    policy_loss_row(row, loss, denominators, gradient.Data() + at, nullptr, sums);
  }
  const double tokens = std::max(denominators.tokens, 1.0);
  Napi::Object result = Napi::Object::New(env);
  result.Set("loss", sums.loss);
  result.Set("kl", loss.kl_coefficient != 0 ? Napi::Value(Napi::Number::New(env, sums.kl / tokens)) : env.Null());
  result.Set("clipFraction", sums.clipped / (loss.ratio == Ratio::kSequence ? std::max(denominators.rows, 1.0) : tokens));
  result.Set("ratioMax", sums.ratio_max);
  result.Set("gradient", gradient);
  return result;
}

}  // namespace
}  // namespace grpo

extern "C" __attribute__((visibility("default"))) napi_value grpo_core_init(napi_env raw_env, napi_value raw_exports) {
  const Napi::Env env(raw_env);
  Napi::Object exports(env, raw_exports);
  auto* data = new grpo::AddonData;
  env.SetInstanceData(data);
  grpo::CancelObject::define(env, *data);
  grpo::SessionObject::define(env, *data);
  grpo::PolicyObject::define(env, *data);
  const auto add = [&](const char* name, Napi::Value (*function)(const Napi::CallbackInfo&)) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  grpo::register_process(env, exports);
  add("hasBfloat16", grpo::has_bfloat16);
  add("linearBfloat16", grpo::linear_bfloat16_form);
  add("createCancel", grpo::CancelObject::create);
  add("load", grpo::load);
  add("evaluateLoss", grpo::evaluate_loss);
  return exports;
}
