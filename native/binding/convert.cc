#include "binding/convert.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <new>

#include "error.h"
#include "model/memory.h"

namespace grpo {
namespace {

double number(const Napi::Object& object, const char* key) { return object.Get(key).As<Napi::Number>().DoubleValue(); }
int64_t integer(const Napi::Object& object, const char* key) { return object.Get(key).As<Napi::Number>().Int64Value(); }
bool boolean(const Napi::Object& object, const char* key) { return object.Get(key).As<Napi::Boolean>().Value(); }
std::string string(const Napi::Object& object, const char* key) { return object.Get(key).As<Napi::String>().Utf8Value(); }
bool present(const Napi::Object& object, const char* key) { return !object.Get(key).IsUndefined(); }

template <typename Out, typename Array>
std::vector<Out> copy(const Napi::Value& value) {
  const auto array = value.As<Array>();
  return std::vector<Out>(array.Data(), array.Data() + array.ElementLength());
}

std::vector<int64_t> integers(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<int64_t> out;
  for (uint32_t i = 0; i < array.Length(); ++i) out.push_back(array.Get(i).As<Napi::Number>().Int64Value());
  return out;
}

TensorTable tensor_table(const Napi::Object& object) {
  TensorTable table;
  const Napi::Array names = object.GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = names.Get(i).As<Napi::String>().Utf8Value();
    const auto item = object.Get(name).As<Napi::Object>();
    TensorEntry entry;
    entry.file = integer(item, "file");
    entry.dtype = string(item, "dtype");
    entry.shape = integers(item.Get("shape"));
    entry.offset = static_cast<uint64_t>(integer(item, "offset"));
    entry.bytes = static_cast<uint64_t>(integer(item, "byteLength"));
    table.emplace(name, std::move(entry));
  }
  return table;
}

LoraConfig lora_config(const Napi::Object& object) {
  LoraConfig lora;
  lora.rank = integer(object, "rank");
  lora.scaling = number(object, "scaling");
  lora.dropout = number(object, "dropout");
  const auto modules = object.Get("targetModules").As<Napi::Array>();
  for (uint32_t i = 0; i < modules.Length(); ++i) lora.target_modules.push_back(modules.Get(i).As<Napi::String>().Utf8Value());
  lora.layers = integers(object.Get("layers"));
  lora.tensors = tensor_table(object.Get("tensors").As<Napi::Object>());
  return lora;
}

ResumeConfig resume_config(const Napi::Object& object) {
  ResumeConfig resume;
  resume.weights = tensor_table(object.Get("weights").As<Napi::Object>());
  resume.reference = tensor_table(object.Get("reference").As<Napi::Object>());
  resume.first_moments = tensor_table(object.Get("firstMoments").As<Napi::Object>());
  resume.second_moments = tensor_table(object.Get("secondMoments").As<Napi::Object>());
  resume.steps = integer(object, "steps");
  resume.weights_version = integer(object, "weightsVersion");
  return resume;
}

// One of a few words; the TypeScript side has checked it already.
template <typename Enum>
Enum word(const Napi::Object& object, const char* key, std::initializer_list<std::pair<const char*, Enum>> words) {
  const std::string value = string(object, key);
  for (const auto& [name, choice] : words) {
    if (value == name) return choice;
  }
  throw Error("INVALID_ARGUMENT", key, "unknown value " + value);
}

}  // namespace

PolicyConfig read_policy_config(const Napi::Object& object) {
  PolicyConfig config;
  const auto files = object.Get("files").As<Napi::Array>();
  for (uint32_t i = 0; i < files.Length(); ++i) {
    const auto file = files.Get(i).As<Napi::Object>();
    config.files.push_back({string(file, "path"), static_cast<uint64_t>(integer(file, "bytes"))});
  }
  config.tensors = tensor_table(object.Get("tensors").As<Napi::Object>());
  config.vocab_size = integer(object, "vocabSize");
  config.hidden_size = integer(object, "hiddenSize");
  config.intermediate_size = integer(object, "intermediateSize");
  config.layers = integer(object, "layers");
  config.heads = integer(object, "heads");
  config.key_value_heads = integer(object, "keyValueHeads");
  config.head_dim = integer(object, "headDim");
  config.rms_norm_eps = number(object, "rmsNormEps");
  config.tied_head = boolean(object, "tiedHead");
  config.qk_norm = boolean(object, "qkNorm");
  config.inverse_frequencies = copy<float, Napi::Float32Array>(object.Get("inverseFrequencies"));
  config.rotary_scale = number(object, "rotaryScale");
  config.max_context = integer(object, "maxContext");
  config.bfloat16 = string(object, "dtype") == "bfloat16";
  config.train = word<Train>(object, "train", {{"lora", Train::kLora}, {"full", Train::kFull}, {"none", Train::kNone}});
  config.has_lora = present(object, "lora");
  if (config.has_lora) config.lora = lora_config(object.Get("lora").As<Napi::Object>());
  config.reference_is_base = boolean(object, "referenceIsBase");
  config.has_resume = present(object, "resume");
  if (config.has_resume) config.resume = resume_config(object.Get("resume").As<Napi::Object>());
  config.budget = std::make_shared<MemoryBudget>(integer(object, "memoryBytes"));
  config.seed = static_cast<uint64_t>(integer(object, "seed"));
  config.strict = boolean(object, "strict");
  if (present(object, "support")) config.support = copy<uint8_t, Napi::Uint8Array>(object.Get("support"));
  if (present(object, "tokenBytes")) {
    const auto table = object.Get("tokenBytes").As<Napi::Object>();
    config.token_bytes = copy<uint8_t, Napi::Uint8Array>(table.Get("bytes"));
    config.token_offsets = copy<uint32_t, Napi::Uint32Array>(table.Get("offsets"));
  }
  return config;
}

LossOptions read_loss(const Napi::Object& object) {
  LossOptions loss;
  loss.policy = word<PolicyTerm>(object, "policy",
                                 {{"clip", PolicyTerm::kClip}, {"cispo", PolicyTerm::kCispo}, {"sapo", PolicyTerm::kSapo}});
  loss.ratio = word<Ratio>(object, "ratio", {{"token", Ratio::kToken}, {"sequence", Ratio::kSequence}});
  loss.aggregation = word<Aggregation>(object, "aggregation",
                                       {{"token-mean", Aggregation::kTokenMean},
                                        {"sequence-mean", Aggregation::kSequenceMean},
                                        {"sequence-sum-mean", Aggregation::kSequenceSumMean},
                                        {"constant", Aggregation::kConstant}});
  loss.clip_low = number(object, "clipLow");
  loss.clip_high = number(object, "clipHigh");
  loss.clip_ratio_max = number(object, "clipRatioMax");
  loss.cispo_max = number(object, "cispoMax");
  loss.cispo_relative = boolean(object, "cispoRelative");
  loss.sapo_temperature_positive = number(object, "sapoTemperaturePositive");
  loss.sapo_temperature_negative = number(object, "sapoTemperatureNegative");
  loss.kl = word<KlEstimator>(object, "kl", {{"k2", KlEstimator::kK2}, {"k3", KlEstimator::kK3}});
  loss.kl_coefficient = number(object, "klCoefficient");
  loss.kl_importance_corrected = boolean(object, "klImportanceCorrected");
  loss.entropy_coefficient = number(object, "entropyCoefficient");
  loss.correction = word<Correction>(
      object, "correction", {{"none", Correction::kNone}, {"truncate", Correction::kTruncate}, {"mask", Correction::kMask}});
  loss.correction_level = word<CorrectionLevel>(object, "correctionLevel",
                                                {{"token", CorrectionLevel::kToken},
                                                 {"sequence", CorrectionLevel::kSequence},
                                                 {"geometric", CorrectionLevel::kGeometric}});
  loss.correction_low = number(object, "correctionLow");
  loss.correction_high = number(object, "correctionHigh");
  loss.horizon = number(object, "horizon");
  return loss;
}

OptimizerOptions read_optimizer(const Napi::Object& object) {
  OptimizerOptions optimizer;
  optimizer.learning_rate = number(object, "learningRate");
  optimizer.beta1 = number(object, "beta1");
  optimizer.beta2 = number(object, "beta2");
  optimizer.epsilon = number(object, "epsilon");
  optimizer.weight_decay = number(object, "weightDecay");
  optimizer.max_grad_norm = number(object, "maxGradNorm");
  return optimizer;
}

GenerateOptions read_generate(const Napi::Object& object) {
  GenerateOptions options;
  options.max_new_tokens = integer(object, "maxNewTokens");
  options.sampling = {number(object, "temperature"), number(object, "topP"), integer(object, "topK"), number(object, "minP")};
  const auto stop = object.Get("stop").As<Napi::Array>();
  for (uint32_t i = 0; i < stop.Length(); ++i) {
    const auto bytes = copy<char, Napi::Uint8Array>(stop.Get(i));
    options.stop.emplace_back(bytes.begin(), bytes.end());
  }
  options.stop_ids = read_ids(object.Get("stopIds"));
  options.seed = static_cast<uint64_t>(integer(object, "seed"));
  return options;
}

std::vector<int64_t> read_ids(const Napi::Value& value) { return copy<int64_t, Napi::Int32Array>(value); }

std::vector<std::vector<int64_t>> read_rows(const Napi::Object& object) {
  const auto ids = object.Get("ids").As<Napi::Int32Array>();
  const auto offsets = object.Get("offsets").As<Napi::Uint32Array>();
  std::vector<std::vector<int64_t>> rows;
  for (size_t b = 0; b + 1 < offsets.ElementLength(); ++b) rows.emplace_back(ids.Data() + offsets[b], ids.Data() + offsets[b + 1]);
  return rows;
}

std::vector<UpdateRow> read_update_rows(const Napi::Object& object) {
  const std::vector<std::vector<int64_t>> ids = read_rows(object);
  const auto mask = object.Get("mask").As<Napi::Uint8Array>();
  const auto advantages = object.Get("advantages").As<Napi::Float64Array>();
  const auto temperatures = object.Get("temperatures").As<Napi::Float64Array>();
  const auto old = object.Get("oldLogprobs").As<Napi::Float64Array>();
  const auto has_old = object.Get("hasOld").As<Napi::Uint8Array>();
  const auto sampler = object.Get("samplerLogprobs").As<Napi::Float64Array>();
  const auto has_sampler = object.Get("hasSampler").As<Napi::Uint8Array>();
  std::vector<UpdateRow> rows;
  size_t at = 0;
  for (size_t b = 0; b < ids.size(); ++b) {
    const size_t n = ids[b].size();
    UpdateRow row;
    row.ids = ids[b];
    row.mask.assign(mask.Data() + at, mask.Data() + at + n);
    row.advantages.assign(advantages.Data() + at, advantages.Data() + at + n);
    row.temperature = temperatures[b];
    if (has_old[b] != 0) row.old_logprobs.assign(old.Data() + at, old.Data() + at + n);
    if (has_sampler[b] != 0) row.sampler_logprobs.assign(sampler.Data() + at, sampler.Data() + at + n);
    rows.push_back(std::move(row));
    at += n;
  }
  return rows;
}

Which read_which(const Napi::Value& value) {
  const std::string name = value.As<Napi::String>().Utf8Value();
  return name == "policy" ? Which::kPolicy : name == "reference" ? Which::kReference : Which::kBase;
}

at::ScalarType read_dtype(const Napi::Value& value) {
  const std::string name = value.As<Napi::String>().Utf8Value();
  if (name == "F32") return at::kFloat;
  if (name == "BF16") return at::kBFloat16;
  if (name == "F16") return at::kHalf;
  throw Error("INVALID_ARGUMENT", "dtype", "unknown type " + name);
}

Napi::Float32Array make_float32(Napi::Env env, const float* data, size_t count) {
  Napi::Float32Array array = Napi::Float32Array::New(env, count);
  std::copy(data, data + count, array.Data());
  return array;
}

Napi::Object make_turn(Napi::Env env, const TurnResult& turn) {
  Napi::Object object = Napi::Object::New(env);
  Napi::Int32Array ids = Napi::Int32Array::New(env, turn.ids.size());
  std::copy(turn.ids.begin(), turn.ids.end(), ids.Data());
  object.Set("ids", ids);
  object.Set("logprobs", make_float32(env, turn.logprobs.data(), turn.logprobs.size()));
  const char* finish = turn.finish == Finish::kStop      ? "stop"
                       : turn.finish == Finish::kLength  ? "length"
                       : turn.finish == Finish::kContext ? "context"
                                                         : "aborted";
  object.Set("finishReason", finish);
  object.Set("weightsVersion", static_cast<double>(turn.version));
  object.Set("truncatedMass", turn.truncated_mass);
  return object;
}

Napi::Object make_stats(Napi::Env env, const UpdateStats& stats) {
  Napi::Object object = Napi::Object::New(env);
  const auto optional = [&](bool has, double value) -> Napi::Value {
    if (has) return Napi::Number::New(env, value);
    return env.Null();
  };
  object.Set("loss", stats.loss);
  object.Set("kl", optional(stats.has_kl, stats.kl));
  object.Set("entropy", stats.entropy);
  object.Set("gradNorm", stats.grad_norm);
  object.Set("clipFraction", stats.clip_fraction);
  object.Set("ratioMax", stats.ratio_max);
  object.Set("tokens", static_cast<double>(stats.tokens));
  object.Set("rows", static_cast<double>(stats.rows));
  object.Set("skipped", stats.skipped.empty() ? env.Null() : Napi::Value(Napi::String::New(env, stats.skipped)));
  object.Set("samplerTrainerGap", optional(stats.has_gap, stats.gap));
  object.Set("seconds", stats.seconds);
  object.Set("peakBytes", static_cast<double>(stats.peak_bytes));
  object.Set("microBatches", static_cast<double>(stats.micro_batches));
  object.Set("recomputed", stats.recomputed);
  object.Set("note", stats.note.empty() ? env.Null() : Napi::Value(Napi::String::New(env, stats.note)));
  return object;
}

Napi::Value make_error(Napi::Env env, const std::exception_ptr& error) {
  std::string code = "INTERNAL", operation = "core", message = "unknown error";
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    code = e.code();
    operation = e.operation();
    message = e.what();
  } catch (const c10::Error& e) {
    if (is_out_of_memory(e)) code = "OUT_OF_MEMORY";
    message = e.what_without_backtrace();
  } catch (const std::exception& e) {
    if (is_out_of_memory(e)) code = "OUT_OF_MEMORY";
    message = is_out_of_memory(e) ? "an allocation failed" : e.what();
  }
  Napi::Object object = Napi::Error::New(env, message).Value();
  object.Set("code", code);
  object.Set("operation", operation);
  return object;
}

}  // namespace grpo
