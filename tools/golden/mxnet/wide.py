"""Cases of operators with numbers as attributes, on inputs whose type the file declares: wide.py FOLDER."""
import os
import sys

import mxnet as mx
import numpy as np

from case import declare, write

S = mx.sym
I = mx.sym._internal
R = np.random.RandomState(42)


def case(folder, name, outputs, **inputs):
    """Outputs are functions of the variables; the types of inputs are those of their arrays."""
    symbols = {key: S.var(key, dtype=value.dtype) for key, value in inputs.items()}
    group = S.Group([each(**symbols) for each in outputs])
    used = {key: value for key, value in inputs.items() if key in group.list_arguments()}
    auxiliary = {key: mx.nd.array(inputs[key], dtype=inputs[key].dtype) for key in group.list_auxiliary_states()}
    declare(group, used, True)
    write(folder, name, group, used, auxiliary=auxiliary)


def scalars(value):
    names = ('_plus_scalar', '_minus_scalar', '_rminus_scalar', '_mul_scalar', '_div_scalar', '_rdiv_scalar',
             '_mod_scalar', '_rmod_scalar', '_power_scalar', '_rpower_scalar', '_maximum_scalar', '_minimum_scalar',
             '_equal_scalar', '_not_equal_scalar', '_greater_scalar', '_greater_equal_scalar', '_lesser_scalar',
             '_lesser_equal_scalar', '_logical_and_scalar', '_logical_or_scalar', '_logical_xor_scalar',
             '_hypot_scalar')
    return [lambda x, name=name: getattr(I, name)(x, scalar=value, name=name.strip('_')) for name in names]


def main(folder):
    x = np.concatenate([R.uniform(-3, 3, 10), [0.1, float(np.float32(0.1))]]).reshape(3, 4)
    positive = np.abs(x) + 0.1
    square = R.uniform(-1, 1, (3, 3))
    images = R.uniform(-1, 1, (2, 4, 3, 3))
    four = R.uniform(0.5, 1.5, 4)
    for value in (0.1, 1 / 3, 2.1):
        case(folder, 'scalars_%.1f' % value, scalars(value), x=positive)
    case(folder, 'scalars_of_int64', scalars(9007199254740991.0)[:3], x=np.array([[1, -5, 1 << 40]]))
    case(folder, 'scalars_of_int32', scalars(16777217.0)[:4], x=np.array([[1, -5, 77]], 'int32'))
    case(folder, 'activations', [
        lambda x: S.LeakyReLU(x, slope=0.1, name='leaky'),
        lambda x: S.LeakyReLU(x, act_type='elu', slope=0.1, name='elu'),
        lambda x: S.LeakyReLU(x, act_type='selu', name='selu'),
        lambda x: S.hard_sigmoid(x, alpha=0.1, beta=0.3, name='hard'),
        lambda x: S.clip(x, a_min=-0.7, a_max=2.1, name='clip'),
        lambda x: S.smooth_l1(x, scalar=0.7, name='smooth'),
        lambda x: S.contrib.quadratic(x, a=0.1, b=0.2, c=0.3, name='quadratic'),
        lambda x: S.contrib.div_sqrt_dim(x, name='divided'),
        lambda x: S.radians(x, name='radians'),
        lambda x: S.degrees(x, name='degrees'),
        lambda x: S.cbrt(x, name='cbrt'),
        lambda x: S.softmax(x, temperature=0.7, name='softmax'),
        lambda x: S.log_softmax(x, temperature=0.7, name='log_softmax'),
        lambda x: S.softmin(x, temperature=0.7, name='softmin'),
        lambda x: S.Activation(x, act_type='softrelu', name='softrelu')], x=x)
    case(folder, 'roots', [lambda x: S.rcbrt(x, name='rcbrt')], x=positive)
    case(folder, 'prelu', [lambda x, gamma: S.LeakyReLU(x, gamma, act_type='prelu', name='prelu')], x=x, gamma=four)
    case(folder, 'products', [
        lambda a, b, c: S.linalg.gemm2(a, b, alpha=0.1, name='gemm2'),
        lambda a, b, c: S.linalg.gemm2(a, b, transpose_b=True, alpha=1 / 3, name='gemm2_t'),
        lambda a, b, c: S.linalg.gemm(a, b, c, alpha=0.1, beta=0.3, name='gemm'),
        lambda a, b, c: S.linalg.syrk(a, alpha=0.1, name='syrk')],
        a=square, b=R.uniform(-1, 1, (3, 3)), c=R.uniform(-1, 1, (3, 3)))
    case(folder, 'normalisations', [
        lambda x, gamma, beta, mean, variance: S.BatchNorm(
            x, gamma, beta, mean, variance, eps=0.1, fix_gamma=False, use_global_stats=True, name='batch'),
        lambda x, gamma, beta, mean, variance: S.BatchNorm(
            S.transpose(x, (0, 2, 3, 1)), gamma, beta, mean, variance, eps=0.001, axis=3, name='last'),
        lambda x, gamma, beta, mean, variance: S.LayerNorm(x, gamma, beta, axis=1, eps=0.1, name='layer'),
        lambda x, gamma, beta, mean, variance: S.L2Normalization(x, eps=0.1, name='length')],
        x=images, gamma=four, beta=R.uniform(-1, 1, 4), mean=R.uniform(-1, 1, 4), variance=R.uniform(0.5, 2, 4))
    case(folder, 'groups', [lambda x, gamma, beta: S.GroupNorm(x, gamma, beta, num_groups=2, eps=0.1, name='group')],
         x=images, gamma=R.uniform(0.5, 1.5, 2), beta=R.uniform(-1, 1, 2))
    case(folder, 'fillings', [
        lambda x, i, images: I._full(shape=(2, 3), value=0.1, dtype='float64', name='full'),
        lambda x, i, images: S.arange(0.1, 1, 0.1, dtype='float64', name='arange'),
        lambda x, i, images: S.contrib.arange_like(x, start=0.1, step=0.7, name='arange_like'),
        lambda x, i, images: S.one_hot(i, depth=4, on_value=0.1, off_value=0.7, dtype='float64', name='hot'),
        lambda x, i, images: S.pad(images, mode='constant', pad_width=(0, 0, 0, 0, 1, 2, 0, 1), constant_value=0.1,
                                   name='pad'),
        lambda x, i, images: S.SequenceMask(x, S.slice_axis(i, axis=0, begin=0, end=4), use_sequence_length=True,
                                            value=0.1, name='mask')],
        x=x, i=np.array([0, 3, 1, 2, 0], 'int32'), images=images)
    for name in ('float16', 'float64', 'int8', 'uint8', 'int32', 'int64'):
        y = (R.uniform(0, 9, (2, 3))).astype(name)
        case(folder, 'declared_' + name, [
            lambda x: S.Cast(x, dtype='float32', name='cast'),
            lambda x: S.BlockGrad(x, name='same'),
            lambda x: S.shape_array(x, name='shape')], x=y)
    case(folder, 'declared_and_inferred', [lambda x, w: S.broadcast_mul(x, S.exp(w), name='product')],
         x=R.uniform(-1, 1, (2, 3)), w=R.uniform(-1, 1, (1, 3)))


if __name__ == '__main__':
    os.makedirs(sys.argv[1], exist_ok=True)
    main(sys.argv[1])
