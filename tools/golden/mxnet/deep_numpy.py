"""Cases of blocks of mx.np and mx.npx, whose operators are _np_, _npi_ and _npx_: deep_numpy.py FOLDER."""
import json
import os
import sys

import mxnet as mx
import numpy as np
from mxnet import gluon, npx
from mxnet.gluon import nn

npx.set_np()
R = np.random.RandomState(23)


def floats(*dims, low=-1.0, high=1.0):
    return R.uniform(low, high, dims).astype('float32')


class Functions(gluon.HybridBlock):
    """Outputs are functions of F and the inputs."""

    def __init__(self, functions):
        super().__init__()
        self.functions = functions

    def hybrid_forward(self, F, *inputs):
        results = []
        for function in self.functions:
            result = function(F, *inputs)
            results.extend(result if isinstance(result, (list, tuple)) else [result])
        return tuple(results)


class Encoder(gluon.HybridBlock):
    """A layer of a transformer."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.width = width
        with self.name_scope():
            self.qkv = nn.Dense(3 * width, flatten=False)
            self.out = nn.Dense(width, flatten=False)
            self.norm = nn.LayerNorm()

    def hybrid_forward(self, F, x):
        q, k, v = (F.np.transpose(F.npx.reshape(each, (-2, -2, -6, self.heads, -1)), (0, 2, 1, 3))
                   for each in F.np.split(self.qkv(x), 3, axis=-1))
        weights = F.npx.softmax(F.np.matmul(q, F.np.swapaxes(k, 2, 3)) / 2.0, axis=-1)
        mixed = F.npx.reshape(F.np.transpose(F.np.matmul(weights, v), (0, 2, 1, 3)), (-2, -2, -5))
        return self.norm(x + self.out(mixed))


def case(folder, name, block, *inputs, declared=True):
    mx.random.seed(5)
    block.initialize(mx.init.Normal(0.3))
    block.hybridize()
    arrays = [mx.np.array(each, dtype=each.dtype) for each in inputs]
    results = block(*arrays)
    target = os.path.join(folder, name)
    os.makedirs(target, exist_ok=True)
    block.export(os.path.join(target, 'net'))
    path = os.path.join(target, 'net-symbol.json')
    names = ['data'] if len(inputs) == 1 else ['data%d' % i for i in range(len(inputs))]
    with open(path) as file:
        graph = json.load(file)
    for node in graph['nodes']:
        if node['op'] == 'null' and node['name'] in names:
            value = inputs[names.index(node['name'])]
            node['attrs'] = {'__dtype__': {'int32': '4'}.get(str(value.dtype), '0')}
            if declared:
                node['attrs']['__shape__'] = '(' + '-1, ' * value.ndim + ')'
    with open(path, 'w') as file:
        json.dump(graph, file)
    read = mx.sym.load(path)
    for key, value in zip(names, inputs):
        if key in read.list_inputs():
            np.save(os.path.join(target, 'in.%s.npy' % key), value)
    for key, value in zip(read.list_outputs(), results if isinstance(results, (list, tuple)) else [results]):
        np.save(os.path.join(target, 'out.%s.npy' % key), value.asnumpy())


def named(names, *more):
    return [lambda F, *x, name=name: getattr(F.np, name)(*x, *more) for name in names]


def main(folder):
    x = floats(2, 3, 4)
    any_sign = 3 * floats(2, 3)
    positive = floats(2, 3, low=0.3, high=2.0)
    row = floats(1, 3, low=0.2, high=1.5)
    case(folder, 'np_functions', Functions(named((
        'abs', 'sign', 'exp', 'square', 'sin', 'cos', 'tan', 'arctan', 'sinh', 'cosh', 'tanh', 'expm1', 'ceil',
        'floor', 'trunc', 'rint', 'fix', 'negative', 'degrees', 'radians', 'logical_not', 'arcsinh', 'isnan', 'isinf',
        'isfinite'))), any_sign)
    case(folder, 'np_functions_of_positive', Functions(named((
        'log', 'sqrt', 'cbrt', 'reciprocal', 'log1p', 'log2', 'log10'))), positive)
    case(folder, 'np_functions_inside', Functions(named(('arcsin', 'arccos', 'arctanh'))), 0.9 * floats(2, 3))
    case(folder, 'np_rounded', Functions([lambda F, x: F.np.around(x), lambda F, x: F.np.around(x, 1)]),
         np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 3.14, -0.26], 'float32'))
    case(folder, 'np_whole', Functions([
        lambda F, x: F.np.exp(x), lambda F, x: x + 1.5, lambda F, x: x * 2, lambda F, x: x / 2, lambda F, x: x > 1.5,
        lambda F, x: F.np.sum(x), lambda F, x: F.np.mean(x, axis=0), lambda F, x: F.np.bitwise_xor(x, x + 1),
        lambda F, x: F.np.argmax(x)]), np.array([[1, 5, -3], [2, 0, 7]], 'int32'))
    pairs = ('add', 'subtract', 'multiply', 'true_divide', 'mod', 'power', 'maximum', 'minimum', 'arctan2', 'hypot',
             'ldexp', 'equal', 'not_equal', 'greater', 'less', 'greater_equal', 'less_equal')
    case(folder, 'np_pairs', Functions(named(pairs + ('copysign',))), positive, row)
    case(folder, 'np_numbers', Functions(named(pairs, 1.25) + [
        lambda F, x: 3 - x, lambda F, x: 3 / x, lambda F, x: 2 ** x, lambda F, x: 5 % x]), positive)
    case(folder, 'np_reductions', Functions([
        lambda F, x, name=name, options=options: getattr(F.np, name)(x, **options)
        for name in ('sum', 'mean', 'max', 'min', 'prod', 'std', 'var', 'average')
        for options in (({}, {'axis': 1}) if name == 'average' else ({}, {'axis': 1}, {'axis': (0, 2), 'keepdims': True}))
    ] + [lambda F, x: F.np.argmax(x), lambda F, x: F.np.argmin(x, axis=-1), lambda F, x: F.np.any(x > 0.5, axis=1),
         lambda F, x: F.np.all(x), lambda F, x: F.np.cumsum(x, axis=1), lambda F, x: F.np.var(x, axis=0, ddof=1),
         lambda F, x: F.np.linalg.norm(x), lambda F, x: F.np.linalg.norm(x, axis=2),
         lambda F, x: F.np.linalg.norm(x, ord=1, axis=1), lambda F, x: F.np.linalg.norm(x, axis=(1, 2))]), x)
    case(folder, 'np_shapes', Functions([
        lambda F, x: F.np.reshape(x, (3, -1)), lambda F, x: F.npx.reshape(x, (-2, -1)),
        lambda F, x: F.npx.reshape(x, (-5, -4)), lambda F, x: F.npx.reshape(x, (-2, -2, -6, 2, -1)),
        lambda F, x: F.np.transpose(x), lambda F, x: F.np.moveaxis(x, 0, -1),
        lambda F, x: F.np.squeeze(F.np.expand_dims(x, 1), 1), lambda F, x: F.np.flip(x, 1),
        lambda F, x: F.np.roll(x, 2, axis=1), lambda F, x: F.np.roll(x, 5), lambda F, x: F.np.rot90(x),
        lambda F, x: F.np.rot90(x, 3, axes=(1, 2)), lambda F, x: F.np.pad(x, ((0, 0), (1, 2), (0, 1))),
        lambda F, x: F.np.broadcast_to(x, (5, 2, 3, 4)), lambda F, x: F.np.concatenate([x, x * 2], axis=1),
        lambda F, x: F.np.stack([x, x + 1], axis=-1), lambda F, x: F.np.vstack([x, x]),
        lambda F, x: F.np.hstack([x, x]), lambda F, x: F.np.dstack([x, x]), lambda F, x: F.np.diff(x, axis=1),
        lambda F, x: F.np.diagonal(x, axis1=1, axis2=2), lambda F, x: F.np.trace(x, axis1=1, axis2=2),
        lambda F, x: x[:, 1], lambda F, x: x[:, 1:, ::2], lambda F, x: F.np.diag(x[0])]), x)
    # These need to know dimensions where other operators infer them.
    case(folder, 'np_tril', Functions([lambda F, x: F.np.tril(x)]), x)
    case(folder, 'np_hsplit', Functions([lambda F, x: list(F.np.hsplit(x, 3))]), x)
    case(folder, 'np_choices', Functions([
        lambda F, x: F.np.where(x > 0, x, x * 0.1), lambda F, x: F.np.where(x > 0, x, 0.5),
        lambda F, x: F.np.nan_to_num(F.np.log(x)), lambda F, x: F.np.clip(x, -0.3, 0.4),
        lambda F, x: F.npx.nonzero(x > 0), lambda F, x: F.npx.relu(x), lambda F, x: F.npx.sigmoid(x)]), x)
    case(folder, 'np_products', Functions([
        lambda F, x: F.np.dot(x, F.np.ones((4, 2))), lambda F, x: F.np.matmul(x, F.np.swapaxes(x, 1, 2)),
        lambda F, x: F.np.einsum('bij,bkj->bik', x, x), lambda F, x: F.np.tensordot(x, x, axes=([0, 1], [0, 1])),
        lambda F, x: F.np.tensordot(x, F.np.ones((4, 2)), axes=1), lambda F, x: F.np.inner(x, x),
        lambda F, x: F.np.outer(x, x), lambda F, x: F.np.vdot(x, x)]), x)
    case(folder, 'np_created', Functions([
        lambda F, x: F.np.zeros((3, 4)) + x, lambda F, x: F.np.ones((3, 4)) * x, lambda F, x: F.np.full_like(x, 3.0),
        lambda F, x: F.np.arange(0, 4, 1) + x, lambda F, x: F.np.linspace(0, 1, 4) + x,
        lambda F, x: F.np.logspace(0, 1, 4) + x, lambda F, x: F.np.eye(4) + x[0, 0],
        lambda F, x: F.np.identity(4) + x[0, 0]]), x)
    case(folder, 'np_hsplit_of_vector', Functions([lambda F, x: list(F.np.hsplit(x, 2))]), floats(4))
    case(folder, 'np_truths', Functions([lambda F, x: F.np.max(x > 0, axis=1), lambda F, x: F.np.min(x > 0, axis=1),
                                         lambda F, x: F.np.sum(x > 0), lambda F, x: F.np.mean(x > 0)]), x)
    divisors = np.array([3, -3, -3, 0], 'float32')
    case(folder, 'np_remainders', Functions([lambda F, x, y: F.np.mod(x, y), lambda F, x, y: 5 % y]),
         np.array([-5, 5, -5, 5], 'float32'), divisors)
    case(folder, 'np_whole_remainders', Functions([lambda F, x, y: F.np.mod(x, y), lambda F, x, y: 5 % y]),
         np.array([-5, 5, -5, 5], 'int32'), divisors.astype('int32'))
    case(folder, 'np_encoder', Encoder(), floats(2, 5, 8), declared=False)


if __name__ == '__main__':
    main(sys.argv[1])
