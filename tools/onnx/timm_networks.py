#!/usr/bin/env python3
"""Writes image networks of every family of timm, chosen by rule and not by hand: timm_networks.py FOLDER [REGEX].

It says how far what the lists of the other scripts measure holds in general. For each module of timm a small variant is
written, and one from the middle where there are many; those above 40 million parameters or 300 pixels are left out.
FOLDER gets the same form as with networks.py, and REGEX chooses by name. Tested with torch 2.15, timm 1.0.31 and
onnxruntime 1.32.
"""
import re

import timm
import torch

from networks import main

SMALL = re.compile(r"(atto|femto|pico|nano|_xxs|_xs|tiny|_small|_s$|050|lite|mini|_t0|_t$|_p$|18|26|_b0|_xxsmall)")
MANY = 6
MOST_PARAMETERS = 40e6
MOST_PIXELS = 300
PIXELS = (3, 224, 224)


def chosen():
    """The names of the variants."""
    families = {}
    for name in timm.list_models():
        families.setdefault(timm.models.model_entrypoint(name).__module__, []).append(name)
    for _, names in sorted(families.items()):
        small = [name for name in names if SMALL.search(name)] or names
        yield small[0]
        if len(small) > MANY:
            yield small[len(small) // 2]


def network(name):
    def make():
        module = timm.create_model(name, pretrained=False, exportable=True, scriptable=False)
        size = module.default_cfg.get("input_size", PIXELS)
        if size[1] > 256 and not module.default_cfg.get("fixed_input_size"):
            size = PIXELS
        if sum(each.numel() for each in module.parameters()) > MOST_PARAMETERS or size[1] > MOST_PIXELS:
            raise ValueError("too large")
        return module, (torch.randn(1, *size),)
    return make


if __name__ == "__main__":
    main({name: network(name) for name in chosen()})
