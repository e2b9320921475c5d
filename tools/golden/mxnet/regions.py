"""Cases of regions, boxes, deformable convolutions, matrices and elements written at indexes: regions.py FOLDER."""
import os
import sys

import mxnet as mx
import numpy as np

from case import declare, write

S = mx.sym
C = mx.sym.contrib
I = mx.sym._internal
L = mx.sym.linalg
R = np.random.RandomState(17)


def floats(*dims):
    return R.uniform(-1, 1, dims).astype('float32')


def case(folder, name, outputs, known=True, **inputs):
    """Outputs are functions of the variables."""
    symbols = {key: S.var(key) for key in inputs}
    group = S.Group([each(**symbols) for each in outputs])
    declare(group, inputs, known)
    write(folder, name, group, inputs)


def main(folder):
    # Regions of images in any order, and of one image.
    regions = np.array([[1, 0, 0, 15, 15], [0, 1, 2, 9, 8], [1, 3, 3, 4, 4], [0, -3, -2, 30, 5]], 'float32')
    pools = [
        lambda x, r: C.ROIAlign(x, r, pooled_size=(3, 2), spatial_scale=0.5, sample_ratio=2, name='align'),
        lambda x, r: C.ROIAlign(x, r, pooled_size=(2, 2), spatial_scale=0.5, aligned=True, name='aligned'),
        lambda x, r: S.ROIPooling(x, r, pooled_size=(3, 2), spatial_scale=0.5, name='pool'),
        lambda x, r: C.PSROIPooling(x, r, spatial_scale=0.5, output_dim=2, pooled_size=2, name='position')]
    case(folder, 'regions', pools, known=False, x=floats(2, 8, 8, 9), r=regions)
    case(folder, 'regions_of_one', pools, x=floats(1, 8, 8, 9), r=regions * np.array([0, 1, 1, 1, 1], 'float32'))
    ignored = np.concatenate([regions[:2], [[-1, 0, 0, 5, 5]]]).astype('float32')
    case(folder, 'regions_ignored', [pools[2]], known=False, x=floats(2, 3, 8, 9), r=ignored)
    anchors = np.sort(floats(1, 5, 2, 2), axis=2).reshape(1, 5, 4)
    case(folder, 'boxes', [
        lambda x, a: C.box_decode(x, a, name='center'),
        lambda x, a: C.box_decode(x, a, 0.1, 0.1, 0.2, 0.2, clip=0.05, format='corner', name='corner'),
        lambda x, a: C.box_decode(x, a, 0.1, 0.3, 0.2, 0.4, format='corner', name='uneven')], known=False,
        x=floats(2, 5, 4), a=anchors)
    options = dict(kernel=(3, 3), pad=(1, 1), num_filter=6, num_deformable_group=2)
    case(folder, 'deformable', [
        lambda x, o, m, w, b: C.DeformableConvolution(x, o, w, b, name='first', **options),
        lambda x, o, m, w, b: C.ModulatedDeformableConvolution(x, o, m, w, b, name='second', **options)], known=False,
        x=floats(2, 4, 6, 5), o=2 * floats(2, 36, 6, 5), m=floats(2, 18, 6, 5), w=floats(6, 4, 3, 3), b=floats(6))
    case(folder, 'deformable_strides', [
        lambda x, o, w: C.DeformableConvolution(x, o, w, kernel=(3, 2), stride=(2, 1), dilate=(1, 2), num_filter=4,
                                                num_group=2, no_bias=True, name='first')],
         x=floats(1, 4, 7, 6), o=2 * floats(1, 12, 3, 4), w=floats(4, 2, 3, 2))
    case(folder, 'reshaped_like', [
        lambda x, y: S.reshape_like(x, y, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2, name='first'),
        lambda x, y: S.reshape_like(x, y, lhs_begin=-2, lhs_end=-1, rhs_begin=2, rhs_end=3, name='second'),
        lambda x, y: S.reshape_like(x, y, lhs_begin=1, rhs_begin=1, rhs_end=None, name='rest')], known=False,
        x=floats(6, 4, 3), y=floats(2, 3, 4))
    case(folder, 'patches', [
        lambda x: S.im2col(x, kernel=(3, 2), stride=(2, 1), pad=(1, 0), name='columns'),
        lambda x: S.col2im(S.im2col(x, kernel=(3, 2), stride=(2, 1)), output_size=(6, 5), kernel=(3, 2), stride=(2, 1),
                           name='image')], x=floats(2, 3, 6, 5))
    case(folder, 'indexes', [
        lambda x, p, i, c, y: C.index_array(x, name='all'),
        lambda x, p, i, c, y: C.index_array(x, axes=(1, 0), name='some'),
        lambda x, p, i, c, y: S.ravel_multi_index(c, shape=(4, 5), name='ravel'),
        lambda x, p, i, c, y: S.unravel_index(i, shape=(4, 5), name='unravel'),
        lambda x, p, i, c, y: S.scatter_nd(p, c, shape=(4, 5), name='scatter'),
        lambda x, p, i, c, y: C.index_copy(x, S.slice_axis(i, axis=0, begin=0, end=2), y, name='copy'),
        lambda x, p, i, c, y: I._slice_assign(x, y, begin=(2, 0), end=(4, 5), name='assign'),
        lambda x, p, i, c, y: I._slice_assign_scalar(x, scalar=2.5, begin=(1, None), end=(None, 3), step=(2, 1),
                                                     name='number')], known=False,
        x=floats(4, 5), p=floats(3), i=np.array([3, 1, 2], 'float32'), c=np.array([[1, 2, 3], [0, 4, 2]], 'float32'),
        y=floats(2, 5))
    square = floats(2, 4, 4)
    positive = square @ square.transpose(0, 2, 1) + 2 * np.eye(4, dtype='float32')
    case(folder, 'matrices', [
        lambda a, b, v: S.diag(a, k=1, axis1=1, axis2=2, name='diag'),
        lambda a, b, v: S.diag(v, k=-1, name='matrix'),
        lambda a, b, v: L.extractdiag(a, offset=1, name='extract'),
        lambda a, b, v: L.makediag(v, offset=-1, name='make'),
        lambda a, b, v: L.sumlogdiag(a, name='sum'),
        lambda a, b, v: L.potrf(a, name='potrf'),
        lambda a, b, v: L.inverse(a, name='inverse'),
        lambda a, b, v: L.det(a, name='det'),
        lambda a, b, v: L.slogdet(a, name='slogdet'),
        lambda a, b, v: L.trsm(L.potrf(a), b, alpha=0.5, name='solve'),
        lambda a, b, v: L.trsm(L.potrf(a), b, transpose=True, name='solve_t'),
        lambda a, b, v: L.trsm(L.potrf(a), S.transpose(b, (0, 2, 1)), rightside=True, name='solve_r'),
        lambda a, b, v: L.trmm(a, b, name='multiply'),
        lambda a, b, v: L.trmm(a, S.transpose(b, (0, 2, 1)), transpose=True, rightside=True, lower=False,
                               name='multiply_r')], known=False, a=positive, b=floats(2, 4, 3), v=floats(4))
    # The states of zoneout begin as constants of which the batch is not known.
    cell = mx.gluon.rnn.ZoneoutCell(mx.gluon.rnn.LSTMCell(4, input_size=3), 0.1, 0.1)
    cell.initialize(mx.init.Uniform(0.5))
    outputs, _ = cell.unroll(3, S.var('x'), layout='NTC', merge_outputs=True)
    x = floats(2, 3, 3)
    write(folder, 'zoneout', outputs, {'x': x},
          {key: value.data() for key, value in cell.collect_params().items()})


if __name__ == '__main__':
    mx.random.seed(5)
    os.makedirs(sys.argv[1], exist_ok=True)
    main(sys.argv[1])
