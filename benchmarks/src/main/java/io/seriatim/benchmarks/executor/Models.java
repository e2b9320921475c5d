package io.seriatim.benchmarks.executor;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Layer;
import io.seriatim.graph.MultiHeadAttention;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.DType;
import java.util.List;

/** The networks that are measured. Parameters are random: their values do not change how long a step takes. */
final class Models {
    private static final int WORDS = 1000;
    private static final int TAGS = 16;
    private static final int LENGTH = 64;

    private Models() {
    }

    static List<Model> all() {
        return List.of(mlp(), leNet(), Model.ofImages("ResNet-18, 4 × 64²", 4, 3, 64, Models::resNet18),
                Model.ofImages("MobileNetV2, 4 × 64²", 4, 3, 64, Models::mobileNetV2), bert(), tagger());
    }

    /** Returns the networks whose steps take a few milliseconds. */
    static List<Model> small() {
        return List.of(mlp(), leNet(), bert(), tagger());
    }

    /** Returns the networks that are measured with int8 products, of one image or sequence. */
    static List<Model> quantized() {
        return List.of(Model.ofImages("ResNet-50, 1 × 224²", 1, 3, 224, Models::resNet50),
                new Model("transformer, 6 layers of 384, 1 × 128", DType.FLOAT32, new long[]{1, 128, 384},
                        new long[]{1, 128, 1}, 10, Models::encoder, Adam.of(1e-4)));
    }

    private static Model mlp() {
        return Model.ofImages("MLP, batch 64", 64, 1, 28, Models::mlp);
    }

    private static Model leNet() {
        return Model.ofImages("LeNet, batch 32", 32, 1, 28, Models::leNet);
    }

    private static Model bert() {
        return Model.ofWords("BERT, 2 layers of 128, 4 × 64", 4, LENGTH, WORDS, Models::bert, Adam.of(1e-4));
    }

    private static Model tagger() {
        return Model.ofWords("LSTM of 64, 8 × 32", 8, 32, TAGS, Models::tagger, Adam.of(1e-4));
    }

    private static Value mlp(Graph g, Value x) {
        return g.linear(g.linear(g.linear(x.flatten(1), 256).relu(), 128).relu(), 10);
    }

    private static Value leNet(Graph g, Value x) {
        Value first = g.layers().conv2d(1, 6, 5).padding(2).apply(x).relu().maxPool2d(2, 2, 0);
        Value second = g.layers().conv2d(6, 16, 5).apply(first).relu().maxPool2d(2, 2, 0);
        return g.linear(g.linear(g.linear(second.flatten(1), 120).relu(), 84).relu(), 10);
    }

    private static Value normalised(Graph g, Value x, long filters, int kernel, int stride, int groups) {
        Value y = g.layers().conv2d(x.dim(1), filters, kernel).stride(stride).padding(kernel / 2).groups(groups)
                .noBias().apply(x);
        return g.layers().batchNorm(filters).apply(y);
    }

    /** He et al., 2016. */
    private static Value resNet18(Graph g, Value x) {
        Value y = normalised(g, x, 64, 7, 2, 1).relu().maxPool2d(3, 2, 1);
        for (int stage = 0; stage < 4; stage++) {
            int filters = 64 << stage;
            y = residual(g, y, filters, stage == 0 ? 1 : 2);
            y = residual(g, y, filters, 1);
        }
        return g.linear(y.globalAveragePool2d().flatten(1), 10);
    }

    private static Value residual(Graph g, Value x, int filters, int stride) {
        Value y = normalised(g, normalised(g, x, filters, 3, stride, 1).relu(), filters, 3, 1, 1);
        Value way = stride == 1 ? x : normalised(g, x, filters, 1, stride, 1);
        return y.plus(way).relu();
    }

    /** He et al., 2016: blocks of three convolutions. */
    private static Value resNet50(Graph g, Value x) {
        Value y = normalised(g, x, 64, 7, 2, 1).relu().maxPool2d(3, 2, 1);
        int[] blocks = {3, 4, 6, 3};
        for (int stage = 0; stage < blocks.length; stage++) {
            int filters = 64 << stage;
            for (int i = 0; i < blocks[stage]; i++) {
                int stride = i == 0 && stage > 0 ? 2 : 1;
                Value inside = normalised(g, normalised(g, y, filters, 1, 1, 1).relu(), filters, 3, stride, 1).relu();
                Value way = i == 0 ? normalised(g, y, 4L * filters, 1, stride, 1) : y;
                y = normalised(g, inside, 4L * filters, 1, 1, 1).plus(way).relu();
            }
        }
        return g.linear(y.globalAveragePool2d().flatten(1), 1000);
    }

    /**
     * Sandler et al., 2018: for each stage the expansion factor, channels, number of blocks, and the stride of the
     * first block.
     */
    private static final int[][] BOTTLENECKS = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2},
            {6, 96, 3, 1}, {6, 160, 3, 2},
            {6, 320, 1, 1}};

    private static Value mobileNetV2(Graph g, Value x) {
        Value y = normalised(g, x, 32, 3, 2, 1).relu6();
        for (int[] stage : BOTTLENECKS) {
            for (int i = 0; i < stage[2]; i++) {
                y = bottleneck(g, y, stage[0], stage[1], i == 0 ? stage[3] : 1);
            }
        }
        return g.linear(normalised(g, y, 1280, 1, 1, 1).relu6().globalAveragePool2d().flatten(1), 10);
    }

    private static Value bottleneck(Graph g, Value x, int factor, int channels, int stride) {
        int inside = Math.toIntExact(x.dim(1)) * factor;
        Value y = factor == 1 ? x : normalised(g, x, inside, 1, 1, 1).relu6();
        y = normalised(g, y, inside, 3, stride, inside).relu6();
        y = normalised(g, y, channels, 1, 1, 1);
        return stride == 1 && x.dim(1) == channels ? x.plus(y) : y;
    }

    /** Devlin et al., 2019. */
    private static Value bert(Graph g, Value words) {
        long width = 128;
        Value places = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, LENGTH, width);
        Value y = g.layers().layerNorm(width).apply(g.layers().embedding(WORDS, width).apply(words).plus(places));
        for (int i = 0; i < 2; i++) {
            y = layer(g, y, width, 4);
        }
        return g.layers().linear(width, WORDS).apply(y);
    }

    /** An encoder as large as MiniLM. */
    private static Value encoder(Graph g, Value x) {
        Value y = x;
        for (int i = 0; i < 6; i++) {
            y = layer(g, y, 384, 12);
        }
        return y;
    }

    private static Value layer(Graph g, Value x, long width, int heads) {
        MultiHeadAttention preemption = g.layers().multiHeadAttention(width, heads, 0);
        Layer afterAttention = g.layers().layerNorm(width);
        Layer afterBoth = g.layers().layerNorm(width);
        Value attended = afterAttention.apply(x.plus(preemption.apply(x)));
        Value wide = g.layers().linear(width, 4 * width).apply(attended).gelu();
        return afterBoth.apply(attended.plus(g.layers().linear(4 * width, width).apply(wide)));
    }

    private static Value tagger(Graph g, Value words) {
        Value sequence = g.layers().lstm(64, 64).apply(g.layers().embedding(WORDS, 64).apply(words));
        return g.layers().linear(64, TAGS).apply(sequence);
    }
}
