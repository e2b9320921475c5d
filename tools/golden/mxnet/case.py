"""Writes a case: a network that MXNet saves, its inputs, and what MXNet computes from them."""
import os

import mxnet as mx
import numpy as np


def declare(symbol, inputs, known):
    """Writes the shapes of inputs into the symbol: whole, or only the number of dimensions."""
    attributes = symbol.attr_dict()
    for key, value in inputs.items():
        if '__shape__' not in attributes.get(key, {}):
            shape = value.shape if known else (0,) * value.ndim
            symbol.get_internals()[key]._set_attr(__shape__=str(tuple(shape)))


def write(folder, name, symbol, inputs, parameters=None, auxiliary=None, export=None, labels=None,
          rewrite=None):
    """Saves a symbol with its parameters through nd.save, or a Gluon block through its export, and runs it."""
    parameters = parameters or {}
    auxiliary = auxiliary or {}
    case = os.path.join(folder, name)
    os.makedirs(case, exist_ok=True)
    prefix = os.path.join(case, 'net')
    if export is not None:
        export(prefix)
        symbol, parameters, auxiliary = mx.model.load_checkpoint(prefix, 0)
    else:
        mx.model.save_checkpoint(prefix, 0, symbol, parameters, auxiliary)
        if rewrite is not None:
            with open(prefix + '-symbol.json') as file:
                text = file.read()
            with open(prefix + '-symbol.json', 'w') as file:
                file.write(rewrite(text))
        # Read back, as other programs will.
        symbol, parameters, auxiliary = mx.model.load_checkpoint(prefix, 0)
    args = {**parameters}
    arguments = symbol.list_arguments()
    for key, value in inputs.items():
        if key in arguments:
            args[key] = mx.nd.array(value, dtype=value.dtype)
    for key, value in (labels or {}).items():
        args[key] = mx.nd.array(value)
    missing = [each for each in arguments if each not in args]
    if missing:
        # Labels: their shapes follow from the others.
        shapes = dict(zip(arguments, symbol.infer_shape(**{k: v.shape for k, v in args.items()})[0]))
        for each in missing:
            args[each] = mx.nd.zeros(shapes[each])
    bound = symbol.bind(mx.cpu(), args, aux_states=auxiliary, grad_req='null')
    outputs = bound.forward(is_train=False)
    for key, value in inputs.items():
        np.save(os.path.join(case, 'in.%s.npy' % key), value)
    for key, value in zip(symbol.list_outputs(), outputs):
        np.save(os.path.join(case, 'out.%s.npy' % key), value.asnumpy())
    return [each.asnumpy() for each in outputs]
