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
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Operations that join sequences, and that convert between sequences and padded batches. */
public final class SequenceJoinOperations {
    private SequenceJoinOperations() {
    }

    public static void register(Operations registry) {
        concat(registry);
        pad(registry);
        unpad(registry);
        reshape(registry);
    }

    /** Rows of several operands one after the other. */
    private static Operand stacked(Lowering l, List<Operand> parts) {
        long rows = parts.stream().mapToLong(each -> each.dim(0)).sum();
        Operand all = l.temporary(TensorSpec.of(parts.getFirst().dtype(), parts.getFirst().shape().with(0, rows)));
        long from = 0;
        for (Operand part : parts) {
            l.into(Copy.PLAIN, List.of(part), List.of(all.slice(0, from, from + part.dim(0))));
            from += part.dim(0);
        }
        return all;
    }

    /** Sequence i of the result is sequence i of each input, one after the other. */
    private static void concat(Operations registry) {
        Operation.define("sequence_concat").in("X*").out("Out").readsLod("X").makesLod("Out")
                .infer(SequenceJoinOperations::concatenated).lower(l -> {
                    List<Operand> parts = l.ins("X");
                    Operand all = stacked(l, parts);
                    Operand places = SequenceRows.indexes(l, all.dim(0), lods(l), (in, indexes) -> {
                        List<long[]> offsets = offsets(l.type(), in, parts);
                        long base = 0;
                        for (int p = 0; p < parts.size(); p++) {
                            long[] to = places(offsets, p);
                            for (int row = 0; row < to.length; row++) {
                                indexes[(int) to[row]] = base + row;
                            }
                            base += to.length;
                        }
                    });
                    l.out("Out", SequenceRows.take(l, all, places));
                    if (l.wantsLod("Out")) {
                        l.call("sequence_concat offsets", (in, out) -> Elements.write(
                                sums(offsets(l.type(), in, parts)), Objects.requireNonNull(out.getFirst())),
                                lods(l), List.of(l.output(LodSlot.of("Out"))));
                    }
                }).grad("sequence_concat_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    List<Operand> parts = l.ins("X");
                    for (int p = 0; p < parts.size(); p++) {
                        if (l.wants("X@GRAD", p)) {
                            int part = p;
                            Operand places = SequenceRows.indexes(l, parts.get(p).dim(0), lods(l), (in, indexes) -> {
                                long[] to = places(offsets(l.type(), in, parts), part);
                                System.arraycopy(to, 0, indexes, 0, to.length);
                            });
                            l.out("X@GRAD", p, SequenceRows.take(l, l.in("Out@GRAD"), places));
                        }
                    }
                }).register(registry);
    }

    private static void concatenated(Inference inference) {
        long[] dims = inference.dims("X");
        inference.require(dims.length > 0, "X must have at least one dimension");
        long rows = 0;
        for (int i = 0; i < inference.count("X"); i++) {
            long[] part = inference.in("X", i).dims();
            inference.require(part.length == dims.length && inference.in("X", i).dtype() == inference.dtype("X"),
                    "all parts of X must have one type and number of dimensions, but are %s and %s",
                    inference.in("X"), inference.in("X", i));
            for (int k = 1; k < dims.length; k++) {
                inference.require(part[k] == dims[k] || part[k] < 0 || dims[k] < 0,
                        "all parts of X must have rows of one shape, but are %s and %s", inference.in("X"),
                        inference.in("X", i));
            }
            rows = part[0] < 0 || rows < 0 ? -1 : rows + part[0];
        }
        dims[0] = rows;
        inference.set("Out", inference.dtype("X"), dims);
        inference.setLod("Out", inference.sequences("X"));
    }

    private static List<Operand> lods(Lowering l) {
        List<Operand> lods = new ArrayList<>();
        for (int i = 0; i < l.count("X"); i++) {
            lods.add(l.lod("X", i));
        }
        return lods;
    }

    private static List<long[]> offsets(String type, List<@Nullable Tensor> lods, List<Operand> parts) {
        List<long[]> all = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            long[] offsets = SequenceOffsets.of(type, "X", lods.get(i), parts.get(i).dim(0));
            if (!all.isEmpty() && offsets.length != all.getFirst().length) {
                throw new IllegalArgumentException("Operation '" + type + "': all parts of X must have as many "
                        + "sequences, but have " + (all.getFirst().length - 1) + " and " + (offsets.length - 1));
            }
            all.add(offsets);
        }
        return all;
    }

    private static long[] sums(List<long[]> offsets) {
        long[] sums = new long[offsets.getFirst().length];
        for (long[] part : offsets) {
            for (int i = 0; i < sums.length; i++) {
                sums[i] += part[i];
            }
        }
        return sums;
    }

    /** For each row of a part, its row in the result. */
    private static long[] places(List<long[]> offsets, int part) {
        long[] own = offsets.get(part);
        long[] places = new long[WorkingMemory.length(own[own.length - 1])];
        long[] sums = sums(offsets);
        for (int i = 0; i + 1 < own.length; i++) {
            long at = sums[i];
            for (int before = 0; before < part; before++) {
                at += offsets.get(before)[i + 1] - offsets.get(before)[i];
            }
            for (long row = own[i]; row < own[i + 1]; row++) {
                places[(int) row] = at++;
            }
        }
        return places;
    }

    private static void pad(Operations registry) {
        Operation.define("sequence_pad").in("X", "PadValue").out("Out", "Length").attr("padded_length", -1)
                .readsLod("X").sharesNoLod().values(LodSlot.of("X")).infer(SequenceJoinOperations::padded).lower(l -> {
                    Operand x = l.in("X");
                    long[] dims = l.outType("Out", 0).dims();
                    // The padding is one more row.
                    Operand padding = l.in("PadValue").reshape(l.in("PadValue").shape().size() == 1
                            ? ones(x.rank())
                            : x.shape().with(0, 1).dims());
                    Operand all = stacked(l, List.of(x, padding.expand(x.shape().with(0, 1))));
                    long rows = x.dim(0);
                    Operand indexes = SequenceRows.indexes(l, "X", dims[0] * dims[1],
                            (offsets, to) -> batch(offsets, to, dims[1], rows));
                    l.out("Out", SequenceRows.take(l, all, indexes).reshape(dims));
                    if (l.wants("Length")) {
                        l.call("sequence_pad lengths", (in, out) -> {
                            long[] offsets = SequenceOffsets.of(l.type(), "X", in.getFirst(), rows);
                            long[] lengths = new long[offsets.length - 1];
                            Arrays.setAll(lengths, i -> offsets[i + 1] - offsets[i]);
                            Elements.write(lengths, Objects.requireNonNull(out.getFirst()));
                        }, List.of(l.lod("X")), List.of(l.output("Length")));
                    }
                }).grad("sequence_pad_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    Operand x = l.in("X");
                    Operand gradient = l.in("Out@GRAD");
                    long longest = gradient.dim(1);
                    Operand rows = l.reshape(gradient, x.shape().with(0, gradient.dim(0) * longest).dims());
                    Operand indexes = SequenceRows.indexes(l, "X", x.dim(0),
                            (offsets, to) -> places(l.type(), offsets, to, longest));
                    l.out("X@GRAD", SequenceRows.take(l, rows, indexes));
                }).register(registry);
    }

    private static long[] ones(int rank) {
        long[] ones = new long[rank];
        Arrays.fill(ones, 1);
        return ones;
    }

    private static void padded(Inference inference) {
        long[] dims = inference.dims("X");
        int length = inference.attrs().getInt("padded_length");
        inference.require(dims.length > 1, "X must have at least two dimensions, but has %s", Numbers.text(dims));
        inference.require(length > 0 || length == -1,
                "the attribute padded_length must be −1 or more than 0, but is %d",
                length);
        long[] padding = inference.dims("PadValue");
        long[] row = Arrays.copyOfRange(dims, 1, dims.length);
        inference.require(Inference.size(padding) == 1 || Inference.size(padding) < 0 || Inference.size(row) < 0
                || Arrays.equals(padding, row),
                "PadValue must have one element or the shape of a row, %s, but has %s", Numbers.text(row),
                Numbers.text(padding));
        inference.require(inference.dtype("PadValue") == inference.dtype("X"),
                "PadValue must have the type of X, %s, but has %s", inference.dtype("X"), inference.dtype("PadValue"));
        long sequences = inference.sequences("X");
        Lod lod = inference.isForRun() ? inference.lod("X") : null;
        // Paddle infers 1 where the attribute does not say.
        long longest = Math.max(length, 1);
        if (lod != null) {
            long[] offsets = SequenceOffsets.of("sequence_pad", "X", lod, dims[0]).last();
            long most = 0;
            for (int i = 0; i + 1 < offsets.length; i++) {
                most = Math.max(most, offsets[i + 1] - offsets[i]);
            }
            longest = length < 0 ? most : length;
            inference.require(longest >= most,
                    "the attribute padded_length must be at least that of the longest sequence, %d, but is %d", most,
                    longest);
        }
        long[] out = new long[dims.length + 1];
        out[0] = sequences;
        out[1] = longest;
        System.arraycopy(row, 0, out, 2, row.length);
        inference.set("Out", inference.dtype("X"), out);
        inference.set("Length", DType.INT64, sequences);
    }

    /** For each place of a padded batch its row, and for padding the given index. */
    private static void batch(long[] offsets, long[] indexes, long longest, long padding) {
        for (int i = 0; i + 1 < offsets.length; i++) {
            for (long k = 0; k < longest; k++) {
                long row = offsets[i] + k;
                indexes[(int) (i * longest + k)] = row < offsets[i + 1] ? row : padding;
            }
        }
    }

    /** For each row its place in a padded batch. */
    private static void places(String type, long[] offsets, long[] indexes, long longest) {
        for (int i = 0; i + 1 < offsets.length; i++) {
            if (offsets[i + 1] - offsets[i] > longest) {
                throw new IllegalArgumentException("Operation '" + type + "': sequence " + i + " has "
                        + (offsets[i + 1] - offsets[i]) + " rows, more than the padded length " + longest);
            }
            for (long row = offsets[i]; row < offsets[i + 1]; row++) {
                indexes[(int) row] = i * longest + row - offsets[i];
            }
        }
    }

    private static void unpad(Operations registry) {
        Operation.Builder unpad = Operation.define("sequence_unpad").in("X", "Length").out("Out").makesLod("Out")
                .values("Length").infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(dims.length > 1, "X must have at least two dimensions, but has %s",
                            Numbers.text(dims));
                    Indexes.requireVector(inference, "Length");
                    long[] out = dims.length == 2
                            ? new long[]{-1, 1}
                            : Arrays.copyOfRange(dims, 1, dims.length);
                    out[0] = -1;
                    long[] lengths = inference.values("Length");
                    if (inference.isForRun() && lengths != null) {
                        inference.require(lengths.length == dims[0],
                                "there must be a length for each of the %d sequences, but are %d", dims[0],
                                lengths.length);
                        for (long length : lengths) {
                            inference.require(length >= 0 && length <= dims[1],
                                    "a length must be from 0 to the padded length %d, but is %d", dims[1], length);
                        }
                        Lod lod = Lod.ofLengths(lengths);
                        out[0] = Math.max(lod.rows(), 0);
                        inference.setLod("Out", lod);
                    }
                    inference.set("Out", inference.dtype("X"), out);
                }).lower(l -> {
                    Operand x = l.in("X");
                    long[] dims = l.outType("Out", 0).dims();
                    long longest = x.dim(1);
                    Lod lod = Lod.ofLengths(Objects.requireNonNull(l.values("Length")));
                    long[] indexes = new long[WorkingMemory.length(dims[0])];
                    if (!lod.isEmpty()) {
                        places(l.type(), lod.last(), indexes, longest);
                    }
                    long[] rows = dims.clone();
                    rows[0] = x.dim(0) * longest;
                    l.out("Out", SequenceRows.take(l, x.reshape(rows),
                            l.constant(Tensor.of(indexes, indexes.length))));
                    l.outLod("Out", lod);
                });
        String gradient = "sequence_unpad_grad(X, Out@GRAD) -> X@GRAD";
        unpad.gradOperation(gradient, null).readsLod("Out@GRAD").lower(l -> {
            Operand x = l.in("X");
            Operand rows = l.in("Out@GRAD");
            long longest = x.dim(1);
            long[] dims = rows.shape().with(0, x.dim(0) * longest).dims();
            Operand places = SequenceRows.indexes(l, "Out@GRAD", rows.dim(0), (offsets, indexes) -> {
                if (offsets.length - 1 > x.dim(0)) {
                    throw new IllegalArgumentException("Operation '" + l.type() + "': Out@GRAD must have no more "
                            + "sequences than X, " + x.dim(0) + ", but has " + (offsets.length - 1));
                }
                places(l.type(), offsets, indexes, longest);
            });
            l.out("X@GRAD", SequenceRows.add(l, rows, places, dims).reshape(x.shape().dims()));
        }).register(registry);
        unpad.grad(gradient).register(registry);
    }

    /** The elements of each sequence, in rows of another width. */
    private static void reshape(Operations registry) {
        Operation.define("sequence_reshape").in("X").out("Out")
                .required("new_dim", Attribute.Int.class).readsLod("X").makesLod("Out")
                .refuse((_, attrs) -> attrs.getInt("new_dim") > 0
                        ? null
                        : "new_dim must be more than 0, but is " + attrs.getInt("new_dim"))
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    long width = inference.attrs().getInt("new_dim");
                    inference.require(dims.length == 2, "X must have two dimensions, but has %s",
                            Numbers.text(dims));
                    long size = Inference.size(dims);
                    inference.require(size < 0 || !inference.isForRun() || size % width == 0,
                            "the %d elements of X must divide into rows of new_dim %d", size, width);
                    inference.set("Out", inference.dtype("X"), inference.isForRun() ? size / width : -1, width);
                    inference.setLod("Out", inference.sequences("X"));
                }).lower(l -> {
                    Operand x = l.in("X");
                    long[] dims = l.outType("Out", 0).dims();
                    l.out("Out", l.run(Copy.PLAIN, x.reshape(dims)));
                    Operand made = l.wantsLod("Out")
                            ? l.output(LodSlot.of("Out"))
                            : l.temporary(TensorSpec.of(DType.INT64, l.lod("X").shape()));
                    l.call("sequence_reshape offsets", (in, out) -> {
                        long[] offsets = SequenceOffsets.of(l.type(), "X", in.getFirst(), x.dim(0));
                        for (int i = 0; i < offsets.length; i++) {
                            if (offsets[i] * x.dim(1) % dims[1] != 0) {
                                throw new IllegalArgumentException("Operation 'sequence_reshape': the elements of "
                                        + "each sequence must divide into rows of new_dim " + dims[1]
                                        + ", but sequence " + (i - 1) + " ends after " + offsets[i] * x.dim(1));
                            }
                            offsets[i] = offsets[i] * x.dim(1) / dims[1];
                        }
                        Tensor to = Objects.requireNonNull(out.getFirst());
                        if (to.shape().rank() == 1) {
                            Elements.write(offsets, to);
                        }
                    }, List.of(l.lod("X")), List.of(made));
                }).grad("sequence_reshape_grad(X, Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD",
                        l.run(Copy.PLAIN, l.in("Out@GRAD").reshape(l.in("X").shape().dims()))))
                .register(registry);
    }
}
