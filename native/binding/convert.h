// Reading arguments and making results. The only conversions between JavaScript values and the core's structs.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/config.h"
#include "training/policy_loss.h"
#include "training/update.h"

namespace grpo {

PolicyConfig read_policy_config(const Napi::Object& object);
LossOptions read_loss(const Napi::Object& object);
OptimizerOptions read_optimizer(const Napi::Object& object);
GenerateOptions read_generate(const Napi::Object& object);
std::vector<UpdateRow> read_update_rows(const Napi::Object& object);
// { ids: Int32Array, offsets: Uint32Array } -> one vector a row.
std::vector<std::vector<int64_t>> read_rows(const Napi::Object& object);
std::vector<int64_t> read_ids(const Napi::Value& value);
Which read_which(const Napi::Value& value);
at::ScalarType read_dtype(const Napi::Value& value);

Napi::Object make_turn(Napi::Env env, const TurnResult& turn);
Napi::Object make_stats(Napi::Env env, const UpdateStats& stats);
Napi::Float32Array make_float32(Napi::Env env, const float* data, size_t count);

// An Error with `code` and `operation`, whatever was thrown. Call in a catch block or with a stored exception.
Napi::Value make_error(Napi::Env env, const std::exception_ptr& error);

}  // namespace grpo
