// The one tensor header of the core, precompiled. Single operator headers only: torch/torch.h takes 24 s a file.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <cstdint>
#include <string>
#include <vector>
