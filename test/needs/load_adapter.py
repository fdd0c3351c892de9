"""Loads an adapter folder in PEFT and prints log-probs and the adapter's matrices, for adapter.needs.test.ts.

usage: load_adapter.py MODEL_FOLDER ADAPTER_FOLDER RESAVED_FOLDER
"""
import json
import sys

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

model_folder, adapter_folder, resaved_folder = sys.argv[1:4]
ids = torch.tensor([[5, 17, 200, 3, 42, 99, 1, 250]])
base = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32)
with torch.no_grad():
    base_logits = base(ids).logits
    model = PeftModel.from_pretrained(base, adapter_folder)
    logits = model(ids).logits
matrices = {name: p.detach() for name, p in model.named_parameters() if ".lora_A." in name or ".lora_B." in name}
config = model.peft_config["default"]
scaling = {float(module.scaling["default"]) for module in model.modules() if isinstance(getattr(module, "scaling", None), dict)}
model.save_pretrained(resaved_folder)
print(json.dumps({
    "difference": float((logits - base_logits).abs().max()),
    "scaling": sorted(scaling),
    "dropout": config.lora_dropout,
    "base": config.base_model_name_or_path,
    "sums": {name: float(p.double().sum()) for name, p in matrices.items()},
    "firsts": {name: float(p.flatten()[0]) for name, p in matrices.items()},
    "shapes": {name: list(p.shape) for name, p in matrices.items()},
}))
