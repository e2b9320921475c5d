package io.seriatim.benchmarks.cluster;

import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.model.CharacterTransformer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** The networks whose training is measured. */
enum TrainedNetwork {
    /** That of {@code seriatim train names}: 0.2 million parameters. */
    NAMES(28, 96, 2),
    /** A larger one of the same kind: 3.2 million parameters. */
    WIDE(64, 256, 4);

    private static final long STEPS = 100_000;

    private static final int CONTEXT = 64;
    private static final int HEADS = 8;

    private final int vocabulary;
    private final int width;
    private final int blocks;

    TrainedNetwork(int vocabulary, int width, int blocks) {
        this.vocabulary = vocabulary;
        this.width = width;
        this.blocks = blocks;
    }

    Model model() {
        CharacterTransformer architecture = new CharacterTransformer(vocabulary, CONTEXT, width, HEADS, blocks);
        return architecture.build(architecture.recipe(), STEPS);
    }

    /** Returns the vocabulary, the width and the number of blocks, for {@code gloo.py}. */
    String sizes() {
        return vocabulary + " " + width + " " + blocks;
    }

    /** Returns random texts. */
    Tensor[] data(Model model, int batch, long seed) {
        Random random = new Random(seed);
        return model.feeds().stream().map(feed -> {
            long[] dims = dims(model.main(), feed);
            dims[0] = batch;
            long size = Arrays.stream(dims).reduce(1, Math::multiplyExact);
            return Tensor.of(DType.INT64, random.longs(size, 0, vocabulary).toArray(), dims);
        }).toArray(Tensor[]::new);
    }

    private static long[] dims(Program main, String name) {
        return main.global().get(name).tensor().dims().stream().mapToLong(Long::longValue).toArray();
    }

    /** Returns the sizes of all sums over ranks, in the order of a program. */
    static List<Long> exchanged(Program main) {
        return main.global().ops().stream().filter(op -> op.type().startsWith("c_allreduce"))
                .map(op -> bytes(main.global().get(op.input("X").getFirst()))).toList();
    }

    private static long bytes(VarDesc variable) {
        return variable.tensor().dims().stream().reduce((long) variable.tensor().dtype().bytes(), (a, b) -> a * b);
    }
}
