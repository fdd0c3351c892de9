"""Prints what TensorBoard itself reads from a folder of event files, as JSON."""

import json
import sys

import tensorboard
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator

# The one that the documentation names for scalars, and the one behind TensorBoard's own pages for text.
numbers = event_accumulator.EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
numbers.Reload()
scalars = {tag: [[e.step, e.value, e.wall_time] for e in numbers.Scalars(tag)] for tag in numbers.Tags()["scalars"]}
pages = plugin_event_accumulator.EventAccumulator(sys.argv[1], tensor_size_guidance={"text": 0})
pages.Reload()
tags = pages.PluginTagToContent("text")
texts = {tag: [[e.step, e.tensor_proto.string_val[0].decode()] for e in pages.Tensors(tag)] for tag in tags}
print(json.dumps({"version": tensorboard.__version__, "scalars": scalars, "texts": texts}))
