"""Scores rows in transformers and PEFT, for export.needs.test.ts.

usage: score_model.py JOBS.json
JOBS: { rows, base, models: [folder], adapters: [folder], make_adapter: folder }
Prints JSON with log p(ids[t] | ids[<t]) of every row, float32: { models: [{ logprobs, tied }], adapters: [logprobs], made:
logprobs }; adapters are loaded on the base, and make_adapter is where PEFT saves one of its own.
"""
import json
import sys

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

jobs = json.load(open(sys.argv[1]))


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def score(model):
    def row(ids):
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].float()
        return torch.log_softmax(logits[:-1], -1).gather(1, torch.tensor(ids)[1:, None])[:, 0].tolist()

    return [row(ids) for ids in jobs["rows"]]


def exported(folder):
    model = load(folder)
    tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    return {"logprobs": score(model), "tied": tied}


def made(folder):
    torch.manual_seed(3)
    config = LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=6, use_rslora=True, target_modules=["k_proj", "o_proj", "up_proj"])
    model = get_peft_model(load(jobs["base"]), config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    return score(model)


print(json.dumps({
    "models": [exported(folder) for folder in jobs["models"]],
    "adapters": [score(PeftModel.from_pretrained(load(jobs["base"]), folder).eval()) for folder in jobs["adapters"]],
    "made": made(jobs["make_adapter"]),
}))
