"""Cases of single operators with attributes drawn at random: operators.py FOLDER [COUNT [SEED]]."""
import os
import shutil
import sys

import mxnet as mx
import numpy as np

from case import declare, write

R = np.random.RandomState()


def shape(rank=None, low=1, high=6):
    rank = rank or R.randint(1, 5)
    return tuple(int(each) for each in R.randint(low, high, rank))


def floats(*dims, low=-2.0, high=2.0):
    return R.uniform(low, high, dims).astype('float32')


def pick(*choices):
    return choices[R.randint(len(choices))]


def flag():
    return bool(R.randint(2))


def unary():
    name = pick('abs', 'sign', 'ceil', 'floor', 'trunc', 'fix', 'rint', 'round', 'square', 'exp', 'expm1', 'sin', 'cos',
                'tan', 'arctan', 'sinh', 'cosh', 'tanh', 'arcsinh', 'erf', 'relu', 'sigmoid', 'softsign', 'negative',
                'cbrt', 'radians', 'degrees', 'logical_not', 'reciprocal', 'identity', 'BlockGrad', 'zeros_like',
                'ones_like', 'shape_array', 'size_array', 'gamma', 'make_loss')
    x = floats(*shape(), low=0.2 if name == 'reciprocal' else -3, high=3)
    return getattr(mx.sym, name)(mx.sym.var('data'), name='op'), {'data': x}


def positive():
    name = pick('sqrt', 'rsqrt', 'log', 'log2', 'log10', 'log1p', 'gammaln', 'rcbrt')
    return getattr(mx.sym, name)(mx.sym.var('data'), name='op'), {'data': floats(*shape(), low=0.1, high=4)}


def bounded():
    name = pick('arcsin', 'arccos', 'arctanh', 'erfinv')
    return getattr(mx.sym, name)(mx.sym.var('data'), name='op'), {'data': floats(*shape(), low=-0.9, high=0.9)}


def binary():
    name = pick('elemwise_add', 'elemwise_sub', 'elemwise_mul', 'elemwise_div', 'broadcast_add', 'broadcast_sub',
                'broadcast_mul', 'broadcast_div', 'broadcast_maximum', 'broadcast_minimum', 'broadcast_equal',
                'broadcast_not_equal', 'broadcast_greater', 'broadcast_greater_equal', 'broadcast_lesser',
                'broadcast_lesser_equal', 'broadcast_logical_and', 'broadcast_logical_or', 'broadcast_logical_xor',
                'broadcast_hypot', 'broadcast_mod', 'broadcast_power')
    a = shape()
    b = a if name.startswith('elemwise') else tuple(1 if flag() else each for each in a)
    low = 0.3 if name.endswith(('div', 'mod', 'power')) else -2
    x, y = floats(*a, low=low), floats(*b, low=low)
    if 'equal' in name or 'logical' in name or 'greater' in name or 'lesser' in name:
        x, y = np.round(x), np.round(y)
    return getattr(mx.sym, name)(mx.sym.var('a'), mx.sym.var('b'), name='op'), {'a': x, 'b': y}


def scalar():
    name = pick('_plus_scalar', '_minus_scalar', '_rminus_scalar', '_mul_scalar', '_div_scalar', '_rdiv_scalar',
                '_mod_scalar', '_rmod_scalar', '_power_scalar', '_rpower_scalar', '_maximum_scalar', '_minimum_scalar',
                '_equal_scalar', '_not_equal_scalar', '_greater_scalar', '_greater_equal_scalar', '_lesser_scalar',
                '_lesser_equal_scalar', '_logical_and_scalar', '_logical_or_scalar', '_hypot_scalar')
    x = floats(*shape(), low=0.3, high=4)
    if 'equal' in name:
        x = np.round(x)
    value = pick(1, 2, 0.5, 3.25)
    return getattr(mx.sym._internal, name)(mx.sym.var('data'), scalar=value, name='op'), {'data': x}


def window(rank, size):
    kernel = tuple(int(each) for each in R.randint(1, 4, rank))
    stride = tuple(int(each) for each in R.randint(1, 3, rank))
    pad = tuple(int(R.randint(0, each // 2 + 1)) for each in kernel)
    return kernel, stride, pad


def convolution():
    rank = pick(1, 2, 2, 3)
    kernel, stride, pad = window(rank, 7)
    groups = pick(1, 1, 2)
    inner, outer = 2 * groups, 3 * groups
    dilate = tuple(int(each) for each in R.randint(1, 3, rank))
    bias = flag()
    sym = mx.sym.Convolution(mx.sym.var('data'), kernel=kernel, stride=stride, pad=pad, dilate=dilate,
                             num_filter=outer, num_group=groups, no_bias=not bias, name='op')
    parameters = {'op_weight': floats(outer, inner // groups, *kernel)}
    if bias:
        parameters['op_bias'] = floats(outer)
    return sym, {'data': floats(2, inner, *[9] * rank)}, parameters


def deconvolution():
    rank = pick(1, 2, 2)
    kernel = tuple(int(each) for each in R.randint(2, 5, rank))
    stride = tuple(int(each) for each in R.randint(1, 3, rank))
    pad = tuple(int(R.randint(0, each // 2 + 1)) for each in kernel)
    adj = tuple(int(R.randint(0, each)) for each in stride)
    groups = pick(1, 1, 2)
    inner, outer = 2 * groups, 2 * groups
    bias = flag()
    sym = mx.sym.Deconvolution(mx.sym.var('data'), kernel=kernel, stride=stride, pad=pad, adj=adj, num_filter=outer,
                               num_group=groups, no_bias=not bias, name='op')
    parameters = {'op_weight': floats(inner, outer // groups, *kernel)}
    if bias:
        parameters['op_bias'] = floats(outer)
    return sym, {'data': floats(2, inner, *[5] * rank)}, parameters


def pooling():
    rank = pick(1, 2, 2, 3)
    kind = pick('max', 'avg', 'sum', 'lp')
    options = {'pool_type': kind}
    if kind == 'lp':
        options['p_value'] = pick(1, 2, 3)
    if flag() and flag():
        options.update(global_pool=True, kernel=(2,) * rank)
    else:
        kernel, stride, pad = window(rank, 8)
        # With larger steps, the convention 'full' has windows without elements.
        full = kind in ('max', 'avg') and all(s <= k for s, k in zip(stride, kernel)) and flag()
        options.update(kernel=kernel, stride=stride, pad=pad, pooling_convention='full' if full else 'valid')
        if kind == 'avg':
            options['count_include_pad'] = flag()
    sym = mx.sym.Pooling(mx.sym.var('data'), name='op', **options)
    return sym, {'data': floats(2, 3, *[8] * rank)}


def batch_norm():
    axis = pick(1, 1, 1, -1, 2)
    dims = shape(4, 2, 5)
    count = dims[axis]
    fixed = flag()
    sym = mx.sym.BatchNorm(mx.sym.var('data'), axis=axis, fix_gamma=fixed, eps=pick(1e-3, 1e-5),
                           use_global_stats=flag(), name='op')
    return sym, {'data': floats(*dims)}, {'op_gamma': floats(count, low=0.5), 'op_beta': floats(count)}, {
        'op_moving_mean': floats(count), 'op_moving_var': floats(count, low=0.5)}


def normalisation():
    name = pick('LayerNorm', 'InstanceNorm', 'L2Normalization', 'LRN', 'GroupNorm')
    data = mx.sym.var('data')
    dims = shape(4, 2, 5)
    if name == 'LayerNorm':
        axis = pick(-1, 1, 2)
        sym = mx.sym.LayerNorm(data, mx.sym.var('gamma'), mx.sym.var('beta'), axis=axis, eps=1e-4, name='op')
        return sym, {'data': floats(*dims)}, {'gamma': floats(dims[axis]), 'beta': floats(dims[axis])}
    if name == 'InstanceNorm':
        sym = mx.sym.InstanceNorm(data, mx.sym.var('gamma'), mx.sym.var('beta'), eps=1e-2, name='op')
        return sym, {'data': floats(*dims)}, {'gamma': floats(dims[1]), 'beta': floats(dims[1])}
    if name == 'GroupNorm':
        sym = mx.sym.GroupNorm(data, mx.sym.var('gamma'), mx.sym.var('beta'), num_groups=2, name='op')
        return sym, {'data': floats(2, 4, 3, 3)}, {'gamma': floats(2), 'beta': floats(2)}
    if name == 'LRN':
        return mx.sym.LRN(data, nsize=pick(3, 5), alpha=0.1, beta=0.7, knorm=1.5, name='op'), {
            'data': floats(2, 6, 4, 4)}
    return mx.sym.L2Normalization(data, mode=pick('instance', 'channel', 'spatial'), name='op'), {
        'data': floats(*dims)}


def activation():
    kind = pick('Activation', 'LeakyReLU', 'hard_sigmoid', 'softmax', 'log_softmax', 'softmin', 'SoftmaxActivation',
                'SoftmaxOutput', 'smooth_l1')
    data = mx.sym.var('data')
    dims = shape(pick(2, 3, 4), 2, 5)
    x = {'data': floats(*dims, low=-4, high=4)}
    if kind == 'Activation':
        return mx.sym.Activation(data, act_type=pick('relu', 'sigmoid', 'tanh', 'softrelu', 'softsign'), name='op'), x
    if kind == 'LeakyReLU':
        act = pick('leaky', 'elu', 'selu', 'gelu', 'prelu')
        if act == 'prelu':
            return mx.sym.LeakyReLU(data, mx.sym.var('gamma'), act_type=act, name='op'), x, {
                'gamma': floats(pick(1, dims[1]))}
        return mx.sym.LeakyReLU(data, act_type=act, slope=pick(0.1, 0.3), name='op'), x
    if kind == 'hard_sigmoid':
        return mx.sym.hard_sigmoid(data, alpha=0.3, beta=0.4, name='op'), x
    if kind == 'SoftmaxActivation':
        return mx.sym.SoftmaxActivation(data, mode=pick('instance', 'channel'), name='op'), x
    if kind == 'SoftmaxOutput':
        return mx.sym.SoftmaxOutput(data, multi_output=len(dims) > 2 and flag(), name='op'), x
    if kind == 'smooth_l1':
        return mx.sym.smooth_l1(data, scalar=pick(1, 2), name='op'), x
    options = {'axis': pick(-1, 1, 0)}
    if flag():
        options['temperature'] = 2.0
    return getattr(mx.sym, kind)(data, name='op', **options), x


def products():
    kind = pick('fc', 'dot', 'batch_dot', 'gemm2')
    if kind == 'fc':
        flatten, bias = flag(), flag()
        dims = shape(pick(2, 3, 4), 2, 5)
        width = int(np.prod(dims[1:])) if flatten else dims[-1]
        sym = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, flatten=flatten, no_bias=not bias, name='op')
        parameters = {'op_weight': floats(4, width)}
        if bias:
            parameters['op_bias'] = floats(4)
        return sym, {'data': floats(*dims)}, parameters
    ta, tb = flag(), flag()
    n, k, m = 3, 4, 5
    a = (k, n) if ta else (n, k)
    b = (m, k) if tb else (k, m)
    options = {'transpose_a': ta, 'transpose_b': tb, 'name': 'op'}
    if kind == 'dot':
        if flag() and not ta and not tb:
            a, b = (2, 3, k), (k, 2, 5)
        return mx.sym.dot(mx.sym.var('a'), mx.sym.var('b'), **options), {'a': floats(*a), 'b': floats(*b)}
    a, b = (2,) + a, (2,) + b
    if kind == 'batch_dot':
        return mx.sym.batch_dot(mx.sym.var('a'), mx.sym.var('b'), **options), {'a': floats(*a), 'b': floats(*b)}
    return mx.sym.linalg.gemm2(mx.sym.var('a'), mx.sym.var('b'), alpha=0.5, **options), {
        'a': floats(*a), 'b': floats(*b)}


def reduction():
    name = pick('sum', 'mean', 'max', 'min', 'prod', 'norm', 'argmax', 'argmin', 'nansum')
    dims = shape(pick(2, 3, 4), 2, 5)
    options = {'keepdims': flag()}
    if name.startswith('arg'):
        if flag():
            options['axis'] = int(R.randint(-len(dims), len(dims)))
    elif name == 'norm':
        options['ord'] = pick(1, 2)
        if flag():
            options['axis'] = int(R.randint(0, len(dims)))
    else:
        if flag():
            options['axis'] = tuple(sorted(set(int(each) for each in R.randint(0, len(dims), pick(1, 2)))))
            if flag():
                options['exclude'] = True
    return getattr(mx.sym, name)(mx.sym.var('data'), name='op', **options), {'data': floats(*dims)}


def reshape():
    x = floats(2, 3, 4, 5)
    code = pick((4, 30), (0, -1), (0, 0, -1), (-2,), (0, -2), (-3, -2), (-3, -3), (0, -3, 0), (-4, 1, 2, -2),
                (0, -4, -1, 3, 0, 0), (6, 1, -1), (0, 0, -4, 2, -1, 0), (-1, 1))
    reverse = flag() and code in ((0, -1), (-3, -3), (0, 0, -1), (4, 30))
    return mx.sym.reshape(mx.sym.var('data'), shape=code, reverse=reverse, name='op'), {'data': x}


def shapes():
    data = mx.sym.var('data')
    x = floats(2, 3, 4, 5)
    kind = R.randint(17)
    sym = [lambda: mx.sym.Flatten(data, name='op'),
           lambda: mx.sym.transpose(data, axes=tuple(int(each) for each in R.permutation(4)), name='op'),
           lambda: mx.sym.transpose(data, name='op'),
           lambda: mx.sym.swapaxes(data, dim1=pick(0, 1), dim2=pick(2, 3), name='op'),
           lambda: mx.sym.expand_dims(data, axis=pick(0, 2, -1), name='op'),
           lambda: mx.sym.tile(data, reps=pick((2,), (1, 2), (2, 1, 1, 1, 2)), name='op'),
           lambda: mx.sym.repeat(data, repeats=2, **({'axis': pick(0, 1, -1)} if flag() else {}), name='op'),
           lambda: mx.sym.pad(data, mode=pick('constant', 'edge', 'reflect'), pad_width=(0, 0, 0, 0, 1, 2, 2, 1),
                              constant_value=1.5, name='op'),
           lambda: mx.sym.flip(data, axis=pick(0, 1, 3), name='op'),
           lambda: mx.sym.broadcast_axis(mx.sym.slice_axis(data, axis=1, begin=0, end=1), axis=1, size=4, name='op'),
           lambda: mx.sym.broadcast_to(mx.sym.slice_axis(data, axis=2, begin=0, end=1), shape=(0, 0, 3, 0), name='op'),
           lambda: mx.sym.UpSampling(data, scale=pick(2, 3), sample_type='nearest', num_args=1, name='op'),
           lambda: mx.sym.contrib.BilinearResize2D(data, height=7, width=6, align_corners=flag(), name='op'),
           lambda: mx.sym.contrib.AdaptiveAvgPooling2D(data, output_size=pick((2, 2), (1, 1), (3, 2)), name='op'),
           lambda: mx.sym.space_to_depth(mx.sym.slice(data, begin=(0, 0, 0, 0), end=(2, 3, 4, 4)), block_size=2,
                                         name='op'),
           lambda: mx.sym.squeeze(mx.sym.slice_axis(data, axis=1, begin=0, end=1), axis=1, name='op'),
           lambda: mx.sym.reshape_like(data, mx.sym.transpose(data), name='op')][kind]()
    return sym, {'data': x}


def joins():
    dims = shape(3, 2, 4)
    names = ['a', 'b', 'c']
    arrays = {each: floats(*dims) for each in names}
    variables = [mx.sym.var(each) for each in names]
    kind = pick('concat', 'stack', 'add_n', 'where', 'reshape')
    if kind == 'concat':
        return mx.sym.concat(*variables, dim=pick(0, 1, 2, -1), name='op'), arrays
    if kind == 'stack':
        return mx.sym.stack(*variables, axis=pick(0, 1, 3, -1), name='op'), arrays
    if kind == 'where':
        arrays['a'] = (arrays['a'] > 0).astype('float32')
        return mx.sym.where(*variables, name='op'), arrays
    return mx.sym.add_n(*variables, name='op'), arrays


def slices():
    data = mx.sym.var('data')
    x = floats(4, 6, 5, 7)
    kind = R.randint(9)
    if kind == 0:
        step = pick((1, 2, 1), (None, None, None), (1, -1, 2), ())
        begin = tuple(pick(5, None) if s == -1 else pick(0, 1, None) for s in (step or (1, 1, 1)))
        end = tuple(pick(0, None) if s == -1 else pick(3, 4, None, -1) for s in (step or (1, 1, 1)))
        return mx.sym.slice(data, begin=begin, end=end, step=step, name='op'), {'data': x}
    if kind == 1:
        return mx.sym.slice_axis(data, axis=pick(0, 1, -1, 2), begin=pick(0, 1, -3), end=pick(None, 4, -1),
                                 name='op'), {'data': x}
    if kind == 2:
        return mx.sym.slice_like(data, mx.sym.var('other'), axes=pick((), (0, 1), (-1,)), name='op'), {
            'data': x, 'other': floats(3, 5, 4, 6)}
    if kind == 3:
        return mx.sym.split(data, num_outputs=pick(2, 3, 6), axis=1, name='op'), {'data': x}
    if kind == 4:
        return mx.sym.split(data, num_outputs=5, axis=2, squeeze_axis=True, name='op'), {'data': x}
    if kind == 5:
        return mx.sym.Crop(data, mx.sym.var('other'), center_crop=flag(), num_args=2, name='op'), {
            'data': x, 'other': floats(4, 6, 3, 4)}
    if kind == 6:
        return mx.sym.Crop(data, offset=(1, 2), h_w=(3, 4), num_args=1, name='op'), {'data': x}
    if kind == 7:
        return mx.sym.split_v2(data, (1, 3), axis=1), {'data': x}
    return mx.sym.clip(data, a_min=-0.5, a_max=1.25, name='op'), {'data': x}


def indexing():
    kind = R.randint(7)
    data = mx.sym.var('data')
    if kind == 0:
        sym = mx.sym.Embedding(data, input_dim=10, output_dim=4, name='op')
        return sym, {'data': R.randint(0, 10, shape(pick(1, 2, 3))).astype('float32')}, {'op_weight': floats(10, 4)}
    index = mx.sym.var('index')
    if kind == 1:
        axis = pick(0, 1, 2, -1)
        mode = pick('clip', 'wrap')
        return mx.sym.take(data, index, axis=axis, mode=mode, name='op'), {
            'data': floats(4, 5, 6), 'index': R.randint(-3, 8, shape(pick(1, 2))).astype('float32')}
    if kind == 2:
        axis = pick(0, 1, -1)
        dims = [4, 5, 3]
        removed = list(dims)
        removed.pop(axis)
        return mx.sym.pick(data, index, axis=axis, keepdims=flag(), mode=pick('clip', 'wrap'), name='op'), {
            'data': floats(*dims), 'index': R.randint(0, 6, removed).astype('float32')}
    if kind == 3:
        return mx.sym.gather_nd(data, index, name='op'), {
            'data': floats(4, 5, 6), 'index': R.randint(0, 4, (2, 3)).astype('float32')}
    if kind == 4:
        return mx.sym.one_hot(data, depth=5, on_value=pick(1, 2.5), off_value=pick(0, -1), name='op'), {
            'data': R.randint(0, 5, shape(pick(1, 2))).astype('float32')}
    if kind == 5:
        return mx.sym.batch_take(data, index, name='op'), {
            'data': floats(4, 5), 'index': R.randint(0, 5, (4,)).astype('int32')}
    return mx.sym.where(mx.sym.var('c'), data, index, name='op'), {
        'c': R.randint(0, 2, (4,)).astype('float32'), 'data': floats(4, 3), 'index': floats(4, 3)}


def ordering():
    data = mx.sym.var('data')
    x = {'data': floats(4, 5, 6)}
    kind = pick('sort', 'argsort', 'topk', 'topk', 'cumsum')
    axis = pick(0, 1, -1, None)
    if kind == 'topk':
        return mx.sym.topk(data, k=pick(1, 3), axis=pick(0, 1, -1), ret_typ=pick('indices', 'value', 'both', 'mask'),
                           is_ascend=flag(), name='op'), x
    if kind == 'cumsum':
        return mx.sym.cumsum(data, axis=axis, name='op'), x
    return getattr(mx.sym, kind)(data, axis=axis, is_ascend=flag(), name='op'), x


def sequences():
    data = mx.sym.var('data')
    length = mx.sym.var('length')
    x = {'data': floats(5, 3, 4), 'length': R.randint(1, 6, (3,)).astype('float32')}
    kind = pick('SequenceMask', 'SequenceLast', 'SequenceReverse')
    uses = flag()
    options = {'use_sequence_length': uses, 'name': 'op'}
    if kind == 'SequenceMask':
        options['value'] = -1.5
    if kind != 'SequenceReverse' and flag():
        options['axis'] = 1
        x['length'] = R.randint(1, 4, (5,)).astype('float32')
    arguments = [data, length] if uses else [data]
    if not uses:
        del x['length']
    return getattr(mx.sym, kind)(*arguments, **options), x


def recurrent():
    mode = pick('lstm', 'gru', 'rnn_tanh', 'rnn_relu')
    layers, both = pick(1, 2, 3), flag()
    hidden, inner, steps, batch = 4, 3, 5, 2
    gates = {'lstm': 4, 'gru': 3}.get(mode, 1)
    directions = 2 if both else 1
    size = 0
    for layer in range(layers):
        width = inner if layer == 0 else hidden * directions
        size += directions * gates * hidden * (width + hidden + 2)
    states = flag()
    inputs = {'data': floats(steps, batch, inner), 'state': floats(layers * directions, batch, hidden)}
    arguments = [mx.sym.var('data'), mx.sym.var('weights'), mx.sym.var('state')]
    if mode == 'lstm':
        inputs['cell'] = floats(layers * directions, batch, hidden)
        arguments.append(mx.sym.var('cell'))
    sym = mx.sym.RNN(*arguments, state_size=hidden, num_layers=layers, bidirectional=both, mode=mode,
                     state_outputs=states, name='op')
    return sym, inputs, {'weights': floats(size, low=-0.5, high=0.5)}


def detection():
    kind = pick('prior', 'detection', 'nms', 'iou')
    if kind == 'prior':
        sizes = pick((0.3,), (0.2, 0.4), (0.5, 0.7, 0.9))
        ratios = pick((1.0,), (1.0, 2.0), (1.0, 2.0, 0.5))
        return mx.sym.contrib.MultiBoxPrior(mx.sym.var('data'), sizes=sizes, ratios=ratios, clip=flag(),
                                            name='op'), {'data': floats(1, 2, pick(3, 5), 4)}
    if kind == 'detection':
        boxes = 12
        anchors = np.sort(R.uniform(0, 1, (1, boxes, 2, 2)).astype('float32'), axis=2).reshape(1, boxes, 4)
        scores = R.uniform(0, 1, (2, 4, boxes)).astype('float32')
        scores /= scores.sum(axis=1, keepdims=True)
        sym = mx.sym.contrib.MultiBoxDetection(mx.sym.var('scores'), mx.sym.var('locations'), mx.sym.var('anchors'),
                                               nms_threshold=pick(0.3, 0.5), force_suppress=flag(),
                                               nms_topk=pick(-1, 5), threshold=pick(0.01, 0.3), clip=flag(), name='op')
        return sym, {'scores': scores, 'locations': floats(2, boxes * 4, low=-1, high=1), 'anchors': anchors}
    if kind == 'nms':
        rows = 10
        corners = np.sort(R.uniform(0, 1, (2, rows, 2, 2)).astype('float32'), axis=2).reshape(2, rows, 4)
        ids = R.randint(0, 3, (2, rows, 1)).astype('float32')
        x = np.concatenate([ids, R.uniform(0, 1, (2, rows, 1)).astype('float32'), corners], axis=2)
        sym = mx.sym.contrib.box_nms(mx.sym.var('data'), overlap_thresh=pick(0.2, 0.5), valid_thresh=pick(0, 0.3),
                                     topk=pick(-1, 6), id_index=pick(-1, 0), force_suppress=flag(),
                                     in_format=pick('corner', 'center'), out_format=pick('corner', 'center'),
                                     name='op')
        return sym, {'data': x}
    a = np.sort(R.uniform(0, 1, (3, 2, 2)).astype('float32'), axis=1).reshape(3, 4)
    b = np.sort(R.uniform(0, 1, (5, 2, 2)).astype('float32'), axis=1).reshape(5, 4)
    return mx.sym.contrib.box_iou(mx.sym.var('a'), mx.sym.var('b'), format=pick('corner', 'center'), name='op'), {
        'a': a, 'b': b}


def sampling():
    kind = pick('sampler', 'transformer', 'affine', 'warp')
    data, other = mx.sym.var('data'), mx.sym.var('other')
    x = floats(2, 3, 5, 6)
    if kind == 'sampler':
        return mx.sym.BilinearSampler(data, other, name='op'), {'data': x, 'other': floats(2, 2, 4, 3, low=-1.2,
                                                                                       high=1.2)}
    if kind == 'transformer':
        return mx.sym.SpatialTransformer(data, other, target_shape=(4, 3), transform_type='affine',
                                         sampler_type='bilinear', name='op'), {'data': x, 'other': floats(2, 6)}
    if kind == 'affine':
        return mx.sym.GridGenerator(data, transform_type='affine', target_shape=(4, 3), name='op'), {
            'data': floats(2, 6)}
    return mx.sym.GridGenerator(data, transform_type='warp', name='op'), {'data': floats(2, 2, 4, 5)}


def creation():
    data = mx.sym.var('data')
    x = {'data': floats(3, 4)}
    kind = R.randint(5)
    sym = [lambda: data + mx.sym.zeros((3, 4)), lambda: data * mx.sym.full((3, 1), 2.5) if hasattr(
        mx.sym, 'full') else data, lambda: mx.sym.broadcast_add(data, mx.sym.reshape(mx.sym.arange(1, 9, 2), (1, 4))),
        lambda: mx.sym.broadcast_mul(data, mx.sym.ones((1, 4)) * 3),
        lambda: mx.sym.contrib.arange_like(data, axis=pick(0, 1), start=1, step=2, name='op')][kind]()
    return sym, x


FAMILIES = [unary, positive, bounded, binary, scalar, convolution, deconvolution, pooling, batch_norm, normalisation,
            activation, products, reduction, reshape, shapes, joins, slices, indexing, ordering, sequences, recurrent,
            detection, creation, sampling]


# Families whose operators say how many dimensions their inputs have, or do not depend on it.
TYPED = [unary, positive, bounded, scalar, convolution, deconvolution, recurrent]


def main(folder, count=300, seed=1):
    R.seed(seed)
    written = refused = 0
    while written < count:
        family = FAMILIES[(written + refused) % len(FAMILIES)]
        made = family()
        symbol, inputs = made[0], made[1]
        parameters = {k: mx.nd.array(v) for k, v in (made[2] if len(made) > 2 else {}).items()}
        auxiliary = {k: mx.nd.array(v) for k, v in (made[3] if len(made) > 3 else {}).items()}
        name = '%s-%03d-%d' % (family.__name__, written, seed)
        # Files rarely have shapes, and single operators are too little to find them.
        if family not in TYPED or flag():
            declare(symbol, inputs, 'gather_nd' in symbol.tojson() or flag())
        try:
            write(folder, name, symbol, inputs, parameters, auxiliary)
            written += 1
        except mx.MXNetError as error:
            # A combination of attributes that MXNet does not take.
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
            refused += 1
            print('refused', name, str(error).splitlines()[-1][:150])
    print(written, 'cases')


if __name__ == '__main__':
    main(sys.argv[1], *map(int, sys.argv[2:]))
