"""Cases of whole networks, small enough to be committed, and with --zoo those of Gluon's model zoo:
networks.py FOLDER [--more | --zoo]."""
import json
import os
import sys

import mxnet as mx
import numpy as np
from mxnet import gluon
from mxnet.gluon import nn, rnn
from mxnet.gluon.model_zoo import vision

from case import write

R = np.random.RandomState(3)


def floats(*dims, low=-1.0, high=1.0):
    return R.uniform(low, high, dims).astype('float32')


def started(block):
    """Random weights, and statistics that are not those of a new network."""
    mx.random.seed(5)
    block.initialize(mx.init.Xavier(magnitude=2.0))
    return block


def settle(block):
    for name, parameter in block.collect_params().items():
        if name.endswith('running_mean'):
            parameter.set_data(mx.nd.random.uniform(-0.1, 0.1, shape=parameter.shape))
        if name.endswith('running_var'):
            parameter.set_data(mx.nd.random.uniform(0.5, 1.5, shape=parameter.shape))
        if name.endswith(('gamma', 'beta', 'bias')):
            parameter.set_data(mx.nd.random.uniform(0.5, 1.0, shape=parameter.shape))


def exported(folder, name, block, **inputs):
    """A block that Gluon exports. Its inputs are called data, data0, data1, ..."""
    block.hybridize()
    arrays = [mx.nd.array(each, dtype=each.dtype) for each in inputs.values()]
    block(*arrays)
    settle(block)
    block(*arrays)
    write(folder, name, None, inputs, export=lambda prefix: block.export(prefix))


class LanguageModel(gluon.HybridBlock):
    """Words to the next words, as in the examples of word language models."""

    def __init__(self, cell, words=30, width=8, hidden=8, layers=2, tied=False, **options):
        super().__init__()
        with self.name_scope():
            self.embedding = nn.Embedding(words, width)
            self.cell = cell(hidden, layers, input_size=width, **options)
            self.decoder = nn.Dense(words, flatten=False, in_units=hidden * (2 if options.get('bidirectional') else 1),
                                    **({'params': self.embedding.params} if tied else {}))

    def hybrid_forward(self, F, x):
        return self.decoder(self.cell(self.embedding(x)))


class Attention(gluon.HybridBlock):
    """A layer of a transformer's encoder over [length, batch, width]."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        with self.name_scope():
            self.qkv = nn.Dense(3 * width, flatten=False, in_units=width)
            self.out = nn.Dense(width, flatten=False, in_units=width)
            self.norm = nn.LayerNorm(in_channels=width)
            self.inner = nn.Dense(16, flatten=False, in_units=width)
            self.outer = nn.Dense(width, flatten=False, in_units=16)
            self.activation = nn.GELU()

    def hybrid_forward(self, F, x):
        joined = self.qkv(x)
        scores = F.contrib.interleaved_matmul_selfatt_qk(joined, heads=self.heads)
        values = F.contrib.interleaved_matmul_selfatt_valatt(joined, F.softmax(scores, axis=-1), heads=self.heads)
        x = self.norm(x + self.out(values))
        return x + self.outer(self.activation(self.inner(x)))


class Detector(gluon.HybridBlock):
    """The heads of an SSD over two feature maps."""

    def __init__(self, classes=3):
        super().__init__()
        self.classes = classes
        with self.name_scope():
            self.first = nn.Conv2D(4, 3, strides=2, padding=1, activation='relu', in_channels=3)
            self.second = nn.Conv2D(6, 3, strides=2, padding=1, activation='relu', in_channels=4)
            self.classify = [nn.Conv2D(4 * (classes + 1), 3, padding=1, in_channels=each) for each in (4, 6)]
            self.locate = [nn.Conv2D(16, 3, padding=1, in_channels=each) for each in (4, 6)]
            for each in self.classify + self.locate:
                self.register_child(each)

    def hybrid_forward(self, F, x):
        one = F.L2Normalization(self.first(x), mode='channel') * 10
        two = self.second(one)
        scores, boxes, anchors = [], [], []
        for i, each in enumerate((one, two)):
            scores.append(F.flatten(F.transpose(self.classify[i](each), axes=(0, 2, 3, 1))))
            boxes.append(F.flatten(F.transpose(self.locate[i](each), axes=(0, 2, 3, 1))))
            anchors.append(F.contrib.MultiBoxPrior(each, sizes=(0.2 + 0.3 * i, 0.3 + 0.3 * i), ratios=(1, 2, 0.5),
                                                   clip=True))
        score = F.reshape(F.concat(*scores, dim=1), shape=(0, -1, self.classes + 1))
        probability = F.softmax(F.transpose(score, axes=(0, 2, 1)), axis=1)
        return F.contrib.MultiBoxDetection(probability, F.concat(*boxes, dim=1), F.concat(*anchors, dim=1),
                                           nms_threshold=0.4, threshold=0.2, variances=(0.1, 0.1, 0.2, 0.2))


class Unrolled(gluon.HybridBlock):
    """A recurrent cell over three steps."""

    def __init__(self, cell):
        super().__init__()
        with self.name_scope():
            self.cell = cell()

    def hybrid_forward(self, F, x):
        return self.cell.unroll(3, x, merge_outputs=True, layout='NTC')[0]


class States(gluon.HybridBlock):
    """A language model whose states are inputs and outputs."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.embedding = nn.Embedding(20, 6)
            self.cell = rnn.LSTM(5, 2, input_size=6)
            self.decoder = nn.Dense(20, flatten=False, in_units=5)

    def hybrid_forward(self, F, x, h, c):
        x, states = self.cell(self.embedding(x), [h, c])
        return self.decoder(x), states[0], states[1]


class Suppressed(gluon.HybridBlock):
    """A detector that suppresses boxes as GluonCV's do."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.classify = nn.Conv2D(16, 3, padding=1, in_channels=3)
            self.locate = nn.Conv2D(16, 3, padding=1, in_channels=3)

    def hybrid_forward(self, F, x):
        classes = F.softmax(F.reshape(F.transpose(self.classify(x), (0, 2, 3, 1)), (0, -1, 4)), axis=-1)
        x, y, w, h = F.split(F.reshape(F.transpose(self.locate(x), (0, 2, 3, 1)), (0, -1, 4)), axis=-1, num_outputs=4)
        w, h = F.exp(w * 0.2) / 2, F.exp(h * 0.2) / 2
        boxes = F.concat(x - w, y - h, x + w, y + h, dim=-1)
        rows = []
        for i in range(3):
            score = F.slice_axis(classes, axis=-1, begin=i + 1, end=i + 2)
            known = score > 0.1
            ids = F.where(known, F.ones_like(score) * i, F.ones_like(score) * -1)
            rows.append(F.concat(ids, F.where(known, score, F.zeros_like(score)), boxes, dim=-1))
        kept = F.contrib.box_nms(F.concat(*rows, dim=1), overlap_thresh=0.45, topk=30, valid_thresh=0.01, id_index=0,
                                 score_index=1, coord_start=2, force_suppress=False)
        kept = kept.slice_axis(axis=1, begin=0, end=20)
        return (F.slice_axis(kept, axis=2, begin=0, end=1), F.slice_axis(kept, axis=2, begin=1, end=2),
                F.slice_axis(kept, axis=2, begin=2, end=6))


class Masked(gluon.HybridBlock):
    """Attention over sequences of different lengths."""

    def hybrid_forward(self, F, x, length):
        places = F.contrib.arange_like(x, axis=1)
        mask = F.broadcast_lesser(F.reshape(places, (1, -1)), F.reshape(length, (-1, 1)))
        mask = F.broadcast_like(F.expand_dims(mask, axis=1), x, lhs_axes=(1,), rhs_axes=(1,))
        weights = F.softmax(F.batch_dot(x, x, transpose_b=True), axis=-1) * mask
        return F.SequenceMask(F.swapaxes(weights, 0, 1), length, use_sequence_length=True), F.contrib.div_sqrt_dim(x)


def layers():
    """Most layers of Gluon, one after the other, for images, signals and volumes."""
    images = nn.HybridSequential()
    images.add(nn.Conv2D(8, 3, padding=1, in_channels=3), nn.Swish(), nn.InstanceNorm(in_channels=8), nn.ELU(),
               nn.SELU(), nn.LeakyReLU(0.1), nn.AvgPool2D(3, 2, 1, ceil_mode=True, count_include_pad=False),
               nn.ReflectionPad2D(1), nn.HybridLambda('tanh'), nn.GlobalMaxPool2D(), nn.Flatten(),
               nn.Dense(7, activation='softrelu', in_units=8))
    signals = nn.HybridSequential()
    signals.add(nn.Conv1D(4, 3, in_channels=3), nn.BatchNorm(), nn.Activation('relu'), nn.MaxPool1D(2),
                nn.Conv1DTranspose(3, 3, in_channels=4), nn.AvgPool1D(2), nn.GlobalAvgPool1D(), nn.Dense(2, in_units=3))
    volumes = nn.HybridSequential()
    volumes.add(nn.Conv3D(4, 3, in_channels=2), nn.BatchNorm(), nn.Activation('relu'), nn.MaxPool3D(2),
                nn.GlobalAvgPool3D(), nn.Dense(2, in_units=4))
    return (images, floats(2, 3, 9, 9)), (signals, floats(2, 3, 20)), (volumes, floats(1, 2, 8, 8, 8))


class Residual(gluon.HybridBlock):
    """A block with squeeze and excitation, a pyramid's lateral connection, and hard functions."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(6, 3, padding=1, groups=3, use_bias=False, in_channels=3), nn.BatchNorm(scale=False),
                          nn.PReLU(), nn.Conv2D(6, 1, in_channels=6), nn.BatchNorm(center=False))
            self.squeeze = nn.Dense(3, activation='relu', in_units=6)
            self.excite = nn.Dense(6, in_units=3)
            self.up = nn.Conv2DTranspose(2, 4, strides=2, padding=1, in_channels=6)

    def hybrid_forward(self, F, x):
        x = self.body(x)
        weights = F.clip(self.excite(self.squeeze(F.contrib.AdaptiveAvgPooling2D(x, output_size=1))) + 3, 0, 6) / 6
        x = F.broadcast_mul(x, F.reshape(weights, shape=(0, 0, 1, 1)))
        small = F.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type='max', pooling_convention='full')
        large = F.slice_like(F.UpSampling(small, scale=2, sample_type='nearest'), x, axes=(2, 3))
        return self.up(x + large), F.L2Normalization(F.flatten(small))


def lenet():
    """A symbol of the old interface, with a loss and a label."""
    x = mx.sym.var('data')
    x = mx.sym.Activation(mx.sym.Convolution(x, kernel=(5, 5), num_filter=4, name='conv1'), act_type='tanh')
    x = mx.sym.Pooling(x, pool_type='max', kernel=(2, 2), stride=(2, 2))
    x = mx.sym.BatchNorm(x, name='bn', fix_gamma=True)
    x = mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=10, name='fc')
    return mx.sym.SoftmaxOutput(x, name='softmax')


def version_0_8(text):
    """A symbol as version 0.8 wrote it: parameters of operators under param, no states, no version."""
    graph = json.loads(text)
    places, nodes = {}, []
    for index, node in enumerate(graph['nodes']):
        if node['name'].endswith(('moving_mean', 'moving_var')):
            continue
        places[index] = len(nodes)
        inputs = [[places[each[0]], each[1]] for each in node['inputs'] if each[0] in places]
        attributes = {k: v for k, v in node.get('attrs', {}).items() if node['op'] != 'null'}
        nodes.append({'op': node['op'], 'param': attributes, 'name': node['name'], 'inputs': inputs,
                      'backward_source_id': -1})
    return json.dumps({'nodes': nodes, 'arg_nodes': [i for i, each in enumerate(nodes) if each['op'] == 'null'],
                       'heads': [[places[each[0]], each[1]] for each in graph['heads']]}, indent=1)


def version_0_9(text):
    """A symbol as version 0.9.3 wrote it: attributes under attr."""
    graph = json.loads(text)
    for node in graph['nodes']:
        if 'attrs' in node:
            node['attr'] = node.pop('attrs')
    graph['attrs']['mxnet_version'] = ['int', 903]
    return json.dumps(graph, indent=1)


def module(folder, name, symbol, label, rewrite=None, **inputs):
    """A module that is bound, and saved as a checkpoint."""
    shapes = [(key, value.shape) for key, value in inputs.items()]
    bound = mx.mod.Module(symbol, data_names=list(inputs), label_names=['softmax_label'])
    bound.bind(shapes, [('softmax_label', label)], for_training=False)
    mx.random.seed(9)
    bound.init_params(mx.init.Mixed(['.*gamma', '.*var', '.*'], [mx.init.Constant(0.7), mx.init.Constant(1.3),
                                                               mx.init.Uniform(0.3)]))
    args, auxiliary = bound.get_params()
    write(folder, name, symbol, inputs, args, auxiliary, rewrite=rewrite,
          labels={'softmax_label': np.zeros(label, 'float32')})


def unrolled(cell, steps=4):
    """A language model of cells that are unrolled."""
    words = mx.sym.Embedding(mx.sym.var('data'), input_dim=20, output_dim=6, name='embed')
    outputs, _ = cell.unroll(steps, inputs=words, merge_outputs=True, layout='NTC')
    hidden = mx.sym.reshape(outputs, shape=(-3, 0))
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=20, name='pred'),
                                mx.sym.reshape(mx.sym.var('softmax_label'), shape=(-1,)), name='softmax')


def small(folder):
    words = R.randint(0, 30, (5, 2)).astype('float32')
    for name, cell in (('lstm', rnn.LSTM), ('gru', rnn.GRU)):
        exported(folder, 'words-' + name, started(LanguageModel(cell)), data=words)
        exported(folder, 'words-both-' + name, started(LanguageModel(cell, bidirectional=True, layers=1)), data=words)
    exported(folder, 'words-tied', started(LanguageModel(rnn.LSTM, tied=True)), data=words)
    exported(folder, 'words-batch-first', started(LanguageModel(rnn.RNN, layout='NTC')), data=words)
    exported(folder, 'attention', started(Attention()), data=floats(5, 2, 8))
    exported(folder, 'detector', started(Detector()), data=floats(2, 3, 16, 16))
    exported(folder, 'residual', started(Residual()), data=floats(2, 3, 10, 10))
    double = nn.HybridSequential()
    double.add(nn.Conv2D(4, 3, activation='relu', in_channels=3), nn.Flatten(), nn.Dense(5, in_units=4 * 36))
    double.cast('float64')
    exported(folder, 'double', started(double), data=floats(2, 3, 8, 8).astype('float64'))
    mlp = nn.HybridSequential()
    mlp.add(nn.Dense(8, activation='relu', in_units=6), nn.Dropout(0.5), nn.Dense(3, in_units=8))
    exported(folder, 'dense', started(mlp), data=floats(4, 6))
    for name, rewrite in (('', None), ('-0.8', version_0_8), ('-0.9', version_0_9)):
        module(folder, 'module-lenet' + name, lenet(), (2,), rewrite, data=floats(2, 1, 12, 12))
    for name, cell in (('lstm', mx.rnn.LSTMCell(5, 'l_')), ('gru', mx.rnn.GRUCell(5, 'g_')),
                       ('rnn', mx.rnn.RNNCell(5, prefix='r_'))):
        module(folder, 'unrolled-' + name, unrolled(cell), (3, 4),
           data=R.randint(0, 20, (3, 4)).astype('float32'))
    fused = mx.rnn.FusedRNNCell(5, num_layers=2, mode='lstm', bidirectional=True, prefix='f_', get_next_state=False)
    module(folder, 'fused-lstm', unrolled(fused), (3, 4),
           data=R.randint(0, 20, (3, 4)).astype('float32'))
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(5, prefix='s0_'))
    stack.add(mx.rnn.ResidualCell(mx.rnn.GRUCell(5, prefix='s1_')))
    module(folder, 'unrolled-stack', unrolled(stack), (3, 4),
           data=R.randint(0, 20, (3, 4)).astype('float32'))


def more(folder):
    """Networks that are not committed."""
    small(folder)
    for i, (block, x) in enumerate(layers()):
        exported(folder, 'layers-%d' % i, started(block), data=x)
    for name, cell in (('lstm', lambda: rnn.LSTMCell(5, input_size=4)), ('gru', lambda: rnn.GRUCell(5, input_size=4)),
                       ('both', lambda: rnn.BidirectionalCell(rnn.LSTMCell(5, input_size=4),
                                                              rnn.GRUCell(5, input_size=4)))):
        exported(folder, 'cell-' + name, started(Unrolled(cell)), data=floats(2, 3, 4))
    exported(folder, 'words-states', started(States()), data0=R.randint(0, 20, (4, 2)).astype('float32'),
             data1=floats(2, 2, 5), data2=floats(2, 2, 5))
    exported(folder, 'suppressed', started(Suppressed()), data=floats(2, 3, 6, 6))
    exported(folder, 'masked', started(Masked()), data0=floats(2, 5, 4), data1=np.array([3, 5], 'float32'))
    for loss in ('LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput', 'SVMOutput'):
        dense = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
        write(folder, 'loss-' + loss, getattr(mx.sym, loss)(dense, mx.sym.var('label'), name='out'),
              {'data': floats(2, 5)}, {'fc_weight': mx.nd.array(floats(3, 5)), 'fc_bias': mx.nd.array(floats(3))})
    for scale in (2, 3):
        size = 2 * scale - scale % 2
        write(folder, 'bilinear-%d' % scale, mx.sym.UpSampling(mx.sym.var('data'), scale=scale, num_filter=3,
                                                              sample_type='bilinear', num_args=2, name='up'),
              {'data': floats(1, 3, 4, 5)}, {'up_weight': mx.nd.array(floats(3, 1, size, size))})
    data = mx.sym.var('data')
    heads = [mx.sym.cast(data * 3, dtype='int32') + 2, mx.sym.cast(data > 0.2, dtype='uint8'), data,
             mx.sym.Dropout(data), mx.sym.sum(data), mx.sym.broadcast_add(data, mx.sym.sum(data, axis=1, keepdims=True))]
    write(folder, 'heads', mx.sym.Group(heads), {'data': floats(3, 4)})


def zoo(folder):
    for name in NAMES:
        size = 299 if name.startswith('inception') else 224
        exported(folder, 'zoo-' + name, started(vision.get_model(name)), data=floats(1, 3, size, size))
        print(name, flush=True)


NAMES = ['resnet18_v1', 'resnet34_v1', 'resnet50_v1', 'resnet101_v1', 'resnet152_v1', 'resnet18_v2', 'resnet34_v2',
         'resnet50_v2', 'resnet101_v2', 'resnet152_v2', 'vgg11', 'vgg13', 'vgg16', 'vgg19', 'vgg11_bn', 'vgg13_bn',
         'vgg16_bn', 'vgg19_bn', 'alexnet', 'densenet121', 'densenet161', 'densenet169', 'densenet201',
         'squeezenet1.0', 'squeezenet1.1', 'inceptionv3', 'mobilenet1.0', 'mobilenet0.75', 'mobilenet0.5',
         'mobilenet0.25', 'mobilenetv2_1.0', 'mobilenetv2_0.75', 'mobilenetv2_0.5', 'mobilenetv2_0.25']


if __name__ == '__main__':
    os.makedirs(sys.argv[1], exist_ok=True)
    (zoo if '--zoo' in sys.argv else more if '--more' in sys.argv else small)(sys.argv[1])
