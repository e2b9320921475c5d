package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Operations on sequences of single numbers, and on the elements of sequences. */
public final class SequenceElementOperations {
    private SequenceElementOperations() {
    }

    public static void register(Operations registry) {
        softmax(registry);
        enumerate(registry);
        erase(registry);
        scatter(registry);
        positions(registry);
        Operation.define("is_empty").in("X").out("Out").shapesOnly("X").sharesNoLod()
                .infer(inference -> inference.set("Out", DType.BOOL)).lower(l -> l.out("Out", l.constant(
                        Tensor.of(DType.BOOL, new long[]{l.in("X").shape().size() == 0 ? 1 : 0}).reshape())))
                .register(registry);
    }

    /** A column of numbers, or a vector. */
    private static void requireColumn(Inference inference, String slot) {
        long[] dims = inference.dims(slot);
        inference.require(dims.length == 1 || (dims.length == 2 && (dims[1] == 1 || dims[1] < 0)),
                "%s must have the shape [n, 1] or [n], but has %s", slot, Numbers.text(dims));
    }

    private static void softmax(Operations registry) {
        Operation.define("sequence_softmax").in("X").out("Out").attr("use_cudnn", false).readsLod("X")
                .sharesLod("X", "Out").infer(inference -> {
                    DType dtype = inference.dtype("X");
                    inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64,
                            "X must be float32 or float64, but is %s", dtype);
                    if (inference.isForRun()) {
                        requireColumn(inference, "X");
                        inference.sequences("X");
                    }
                    inference.same("X", "Out");
                }).lower(l -> l.call("sequence_softmax", (in, out) -> {
                    double[] x = Objects.requireNonNull(in.get(0)).toDoubleArray();
                    long[] offsets = SequenceOffsets.of("sequence_softmax", "X", in.get(1), x.length);
                    for (int i = 0; i + 1 < offsets.length; i++) {
                        softmax(x, (int) offsets[i], (int) offsets[i + 1]);
                    }
                    Elements.write(x, Objects.requireNonNull(out.getFirst()));
                }, List.of(l.in("X"), l.lod("X")), List.of(l.output("Out"))))
                .grad("sequence_softmax_grad(X, Out, Out@GRAD) -> X@GRAD", l -> {
                    Operand y = l.in("Out");
                    Operand gradient = l.in("Out@GRAD");
                    long rows = y.dim(0);
                    Operand numbers = SequenceRows.indexes(l, "X", rows, SequenceRows::numbers);
                    // There are more offsets than sequences.
                    long[] dims = y.shape().with(0, l.lod("X").dim(0)).dims();
                    Operand sums = SequenceRows.add(l, l.binary(Binary.Function.MULTIPLY, y, gradient), numbers, dims);
                    l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, y, l.binary(Binary.Function.SUBTRACT, gradient,
                            SequenceRows.take(l, sums, numbers))));
                }).register(registry);
    }

    private static void softmax(double[] x, int from, int to) {
        double most = Double.NEGATIVE_INFINITY;
        for (int k = from; k < to; k++) {
            most = Math.max(most, x[k]);
        }
        double sum = 0;
        for (int k = from; k < to; k++) {
            x[k] = Math.exp(x[k] - most);
            sum += x[k];
        }
        for (int k = from; k < to; k++) {
            x[k] /= sum;
        }
    }

    /** For each number itself and those after it in its sequence. */
    private static void enumerate(Operations registry) {
        Operation.define("sequence_enumerate").in("X").out("Out").required("win_size", Attribute.Int.class)
                .attr("pad_value", 0).readsLod("X").sharesLod("X", "Out")
                .refuse((_, attrs) -> attrs.getInt("win_size") >= 2
                        ? null
                        : "win_size must be 2 or more, but is " + attrs.getInt("win_size"))
                .infer(inference -> {
                    Indexes.require(inference, "X");
                    int window = inference.attrs().getInt("win_size");
                    long rows = inference.dims("X").length == 0 ? -1 : inference.dims("X")[0];
                    if (inference.isForRun()) {
                        requireColumn(inference, "X");
                        inference.sequences("X");
                        inference.require(rows * window <= Integer.MAX_VALUE / 2,
                                "%d windows of win_size %d are too many", rows, window);
                    }
                    inference.set("Out", inference.dtype("X"), rows, window);
                }).lower(l -> {
                    int window = l.attrs().getInt("win_size");
                    int padding = l.attrs().getInt("pad_value");
                    l.call("sequence_enumerate", (in, out) -> {
                        long[] x = Objects.requireNonNull(in.get(0)).toLongArray();
                        long[] offsets = SequenceOffsets.of("sequence_enumerate", "X", in.get(1), x.length);
                        long[] windows = new long[WorkingMemory.length(x.length, window)];
                        Arrays.fill(windows, padding);
                        for (int i = 0; i + 1 < offsets.length; i++) {
                            for (int row = (int) offsets[i]; row < offsets[i + 1]; row++) {
                                int count = Math.min(window, (int) offsets[i + 1] - row);
                                System.arraycopy(x, row, windows, row * window, count);
                            }
                        }
                        Elements.write(windows, Objects.requireNonNull(out.getFirst()));
                    }, List.of(l.in("X"), l.lod("X")), List.of(l.output("Out")));
                }).register(registry);
    }

    /** What is left of sequences when some numbers are taken out. */
    private static void erase(Operations registry) {
        Operation.define("sequence_erase").in("X").out("Out").required("tokens", Attribute.Ints.class).readsLod("X")
                .makesLod("Out").values("X", LodSlot.of("X")).infer(inference -> {
                    Indexes.require(inference, "X");
                    long[] dims = inference.dims("X");
                    long[] x = inference.values("X");
                    Lod lod = inference.lod("X");
                    if (inference.isForRun() && x != null && lod != null) {
                        requireColumn(inference, "X");
                        SequenceOffsets.of("sequence_erase", "X", lod, dims[0]);
                        Lod kept = kept(x, lod, inference.attrs().getLongs("tokens"));
                        dims[0] = kept.rows();
                        inference.setLod("Out", kept);
                    }
                    inference.set("Out", inference.dtype("X"), dims);
                }).lower(l -> {
                    long[] x = Objects.requireNonNull(l.values("X"));
                    long[] tokens = l.attrs().getLongs("tokens");
                    long[] left = Arrays.stream(x).filter(each -> !isIn(tokens, each)).toArray();
                    Operand out = l.output("Out");
                    l.out("Out", l.constant(Tensor.of(out.dtype(), left, out.shape().dims())));
                    l.outLod("Out", kept(x, l.lodValue("X"), tokens));
                }).register(registry);
    }

    private static boolean isIn(long[] tokens, long number) {
        return Arrays.stream(tokens).anyMatch(each -> each == number);
    }

    private static Lod kept(long[] x, Lod lod, long[] tokens) {
        long[] offsets = lod.last();
        int[] before = new int[x.length + 1];
        for (int i = 0; i < x.length; i++) {
            before[i + 1] = before[i] + (isIn(tokens, x[i]) ? 0 : 1);
        }
        return lod.withLast(Arrays.stream(offsets).map(each -> before[(int) each]).toArray());
    }

    /** Row i of X with the updates of sequence i added at its indexes. */
    private static void scatter(Operations registry) {
        Operation.define("sequence_scatter").in("X", "Ids", "Updates").out("Out").readsLod("Ids", "Updates")
                .sharesNoLod().infer(inference -> {
                    long[] x = inference.dims("X");
                    Indexes.require(inference, "Ids");
                    inference.require(x.length == 2, "X must have two dimensions, but has %s", Numbers.text(x));
                    inference.require(inference.dtype("Updates") == inference.dtype("X"),
                            "Updates must have the type of X, %s, but has %s", inference.dtype("X"),
                            inference.dtype("Updates"));
                    if (inference.isForRun()) {
                        long ids = Inference.size(inference.dims("Ids"));
                        long updates = Inference.size(inference.dims("Updates"));
                        long sequences = inference.sequences("Ids");
                        inference.require(ids == updates, "there must be an update for each of the %d Ids, but are %d",
                                ids, updates);
                        inference.require(sequences == x[0],
                                "Ids must have a sequence for each of the %d rows of X, but has %d", x[0], sequences);
                    }
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand x = l.in("X");
                    Operand updates = SequenceRows.add(l, flat(l, l.in("Updates")), places(l, x.dim(1)),
                            x.shape().size());
                    l.out("Out", l.binary(Binary.Function.ADD, x, updates.reshape(x.shape().dims())));
                }).grad("sequence_scatter_grad(Ids, Updates, Out@GRAD) -> X@GRAD, Updates@GRAD", l -> {
                    Operand gradient = l.in("Out@GRAD");
                    l.out("X@GRAD", l.run(Copy.PLAIN, gradient));
                    if (l.wants("Updates@GRAD")) {
                        l.out("Updates@GRAD", SequenceRows.take(l, flat(l, gradient), places(l, gradient.dim(1)))
                                .reshape(l.in("Updates").shape().dims()));
                    }
                }).register(registry);
    }

    private static Operand flat(Lowering l, Operand operand) {
        return l.reshape(operand, operand.shape().size());
    }

    private static Operand places(Lowering l, long width) {
        return SequenceRows.indexes(l, l.in("Ids").shape().size(), List.of(l.in("Ids"), l.lod("Ids")),
                (in, indexes) -> {
                    long[] places = places(l.type(), in.get(0), in.get(1), width);
                    System.arraycopy(places, 0, indexes, 0, places.length);
                });
    }

    private static long[] places(String type, @Nullable Tensor ids,
            @Nullable Tensor lod, long width) {
        long[] places = Objects.requireNonNull(ids).toLongArray();
        long[] offsets = SequenceOffsets.of(type, "Ids", lod, places.length);
        for (int i = 0; i + 1 < offsets.length; i++) {
            for (int k = (int) offsets[i]; k < offsets[i + 1]; k++) {
                if (places[k] < 0 || places[k] >= width) {
                    throw new IndexRangeException("Operation '" + type + "': Ids must be from 0 to "
                            + (width - 1) + ", but there is " + places[k]);
                }
                places[k] += i * width;
            }
        }
        return places;
    }

    /** Adds sines and cosines of the position of each row in its sequence. */
    private static void positions(Operations registry) {
        Operation.define("add_position_encoding").in("X").out("Out").attr("alpha", 1f).attr("beta", 1f).readsLod("X")
                .sharesLod("X", "Out")
                .refuse((_, attrs) -> attrs.getFloat("alpha") >= 0 && attrs.getFloat("beta") >= 0
                        ? null
                        : "alpha and beta must be 0 or more, but are " + attrs.getFloat("alpha") + " and "
                                + attrs.getFloat("beta"))
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    if (inference.isForRun()) {
                        boolean divided = inference.hasLod("X");
                        inference.require(dims.length == (divided ? 2 : 3),
                                "X must have the shape [batch, rows, width], or [rows, width] and a LoD, but has %s",
                                Numbers.text(dims));
                        inference.require(dims[dims.length - 1] % 2 == 0, "the width of X must be even, but is %d",
                                dims[dims.length - 1]);
                    }
                    inference.same("X", "Out");
                }).lower(SequenceElementOperations::encode)
                .grad("add_position_encoding_grad(Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.linear(l.in("Out@GRAD"), l.attrs().getFloat("alpha"), 0)))
                .register(registry);
    }

    private static void encode(Lowering l) {
        Operand x = l.in("X");
        float alpha = l.attrs().getFloat("alpha");
        float beta = l.attrs().getFloat("beta");
        int width = Math.toIntExact(x.dim(-1));
        Operand encoding = l.temporary(x.spec());
        l.call("add_position_encoding", (in, out) -> {
            Tensor to = Objects.requireNonNull(out.getFirst());
            double[] values = new double[WorkingMemory.length(to.shape().size())];
            if (x.rank() == 3) {
                for (int row = 0; row < x.dim(0) * x.dim(1); row++) {
                    encode(values, row * width, row % (int) x.dim(1), width, beta);
                }
            } else {
                long[] offsets = SequenceOffsets.of("add_position_encoding", "X", in.getFirst(), x.dim(0));
                for (int i = 0; i + 1 < offsets.length; i++) {
                    for (int row = (int) offsets[i]; row < offsets[i + 1]; row++) {
                        encode(values, row * width, row - offsets[i], width, beta);
                    }
                }
            }
            Elements.write(values, to);
        }, List.of(l.lod("X")), List.of(encoding));
        l.out("Out", l.binary(Binary.Function.ADD, l.linear(x, alpha, 0), encoding));
    }

    private static void encode(double[] values, int at, long position, int width, float beta) {
        int half = width / 2;
        for (int k = 0; k < half; k++) {
            double angle = half > 1
                    ? position / Math.pow(10000, (double) k / (half - 1))
                    : position / 10000.0;
            values[at + k] = Math.sin(angle) * beta;
            values[at + half + k] = Math.cos(angle) * beta;
        }
    }
}
