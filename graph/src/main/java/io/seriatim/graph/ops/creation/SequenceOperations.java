package io.seriatim.graph.ops.creation;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Range;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Evenly spaced numbers, and masks of sequences of given lengths. */
public final class SequenceOperations {
    private static final long EXACT = 1L << 53;

    private SequenceOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("range").in("Start", "End", "Step").out("Out").values("Start", "End", "Step")
                .shapeArithmetic().infer(SequenceOperations::range)
                .lower(SequenceOperations::range).register(registry);
        Operation.define("linspace").in("Start", "Stop", "Num").out("Out").required("dtype", Attribute.Int.class)
                .values("Num")
                .infer(SequenceOperations::linspace).lower(SequenceOperations::linspace).register(registry);
        Operation.define("logspace").in("Start", "Stop", "Num", "Base").out("Out")
                .required("dtype", Attribute.Int.class).values("Num").infer(inference -> {
                    long size = Inference.size(inference.dims("Base"));
                    inference.require(size == 1 || size < 0, "Base must have one element, but has %d", size);
                    linspace(inference);
                }).lower(SequenceOperations::logspace).register(registry);
        sequenceMask(registry);
    }

    /** Base to the power of numbers as linspace gives them. */
    private static void logspace(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        DType dtype = l.outType("Out", 0).dtype();
        long count = l.outType("Out", 0).dims()[0];
        Operand start = wide(l, "Start", dtype);
        Operand step = count == 1
                ? l.number(DType.FLOAT64, 0)
                : l.binary(Binary.Function.DIVIDE, l.binary(Binary.Function.SUBTRACT, wide(l, "Stop", dtype), start),
                        l.number(DType.FLOAT64, (double) (count - 1)));
        Operand exponents = l.temporary(TensorSpec.of(DType.FLOAT64, count));
        long half = count / 2;
        if (count == 1) {
            l.into(Copy.PLAIN, List.of(start.reshape(1)), List.of(exponents));
        } else {
            towards(l, start, step, 0, 1, exponents.slice(0, 0, half));
            towards(l, wide(l, "Stop", dtype), step, 1 + half - count, 1, exponents.slice(0, half, count));
        }
        l.out("Out", l.binary(Binary.Function.POWER, wide(l, "Base", dtype), exponents));
    }

    /** A number as it is in a type. */
    private static Operand wide(Lowering l, String slot, DType dtype) {
        return l.cast(l.cast(l.in(slot), dtype), DType.FLOAT64).reshape();
    }

    private static void range(Inference inference) {
        DType dtype = inference.dtype("Start");
        for (String slot : List.of("Start", "End", "Step")) {
            inference.require(inference.dtype(slot) == dtype,
                    "Start, End and Step must have one type, but %s is %s and Start is %s", slot,
                    inference.dtype(slot), dtype);
        }
        double @Nullable [] start = one(inference, "Start");
        double @Nullable [] end = one(inference, "End");
        double @Nullable [] step = one(inference, "Step");
        if (start == null || end == null || step == null) {
            inference.set("Out", dtype, -1);
            return;
        }
        double distance = end[0] - start[0];
        inference.require(Double.isFinite(distance) && step[0] != 0 && distance * step[0] >= 0,
                "Step must lead from Start to End, but they are %s, %s and %s", step[0], start[0], end[0]);
        double count = Math.ceil(Math.abs(distance / step[0]));
        inference.require(count <= Integer.MAX_VALUE, "there are too many numbers from %s to %s in steps of %s",
                start[0], end[0], step[0]);
        inference.set("Out", dtype, (long) count);
    }

    private static double @Nullable [] one(Inference inference, String slot) {
        long size = Inference.size(inference.dims(slot));
        inference.require(size == 1 || size < 0, "%s must have one element, but has %d", slot, size);
        return inference.numbers(slot);
    }

    private static void range(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand out = l.output("Out");
        long[] whole = l.values("Start");
        double[] start = l.numbers("Start");
        double[] step = l.numbers("Step");
        if (start == null || step == null || whole == null) {
            throw new IllegalStateException(
                    "Operation 'range' is lowered before the values of Start and Step are known");
        }
        if ((out.dtype() == DType.INT64 || out.dtype() == DType.UINT64)
                && (Math.abs(start[0]) >= EXACT || Math.abs(start[0] + step[0] * out.dim(0)) >= EXACT)) {
            Operand steps = l.temporary(out.spec());
            l.into(new Range(0, step[0]), List.of(), List.of(steps));
            l.into(Binary.of(Binary.Function.ADD), List.of(steps, l.constant(Tensor.of(out.dtype(), whole).reshape())),
                    List.of(out));
        } else {
            l.into(new Range(start[0], step[0]), List.of(), List.of(out));
        }
    }

    private static void linspace(Inference inference) {
        long[] count = inference.values("Num");
        if (count == null) {
            inference.set("Out", inference.dtype("Start"), -1);
            return;
        }
        inference.require(count.length == 1 && count[0] > 0 && count[0] <= Integer.MAX_VALUE,
                "Num must be one number of at least 1");
        for (String slot : List.of("Start", "Stop")) {
            inference.require(Inference.size(inference.dims(slot)) == 1, "%s must have one element", slot);
        }
        inference.set("Out", inference.attrs().getDType("dtype"), count[0]);
    }

    /** From both ends to the middle, so that the last number is Stop itself. */
    private static void linspace(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand out = l.output("Out");
        long count = out.dim(0);
        Operand start = l.cast(l.cast(l.in("Start"), out.dtype()), DType.FLOAT64).reshape();
        Operand stop = l.cast(l.cast(l.in("Stop"), out.dtype()), DType.FLOAT64).reshape();
        if (count == 1) {
            l.out("Out", start.reshape(1));
            return;
        }
        Operand step = l.binary(Binary.Function.DIVIDE, l.binary(Binary.Function.SUBTRACT, stop, start),
                l.number(DType.FLOAT64, (double) (count - 1)));
        long half = count / 2;
        towards(l, start, step, 0, 1, out.slice(0, 0, half));
        towards(l, stop, step, 1 + half - count, 1, out.slice(0, half, count));
    }

    private static void towards(Lowering l, Operand from, Operand step, long first, long by, Operand out) {
        Operand steps = l.temporary(TensorSpec.of(DType.FLOAT64, out.dim(0)));
        l.into(new Range(first, by), List.of(), List.of(steps));
        Operand values = l.binary(Binary.Function.ADD, from, l.binary(Binary.Function.MULTIPLY, step, steps));
        l.into(new Copy(out.dtype()), List.of(values), List.of(out));
    }

    /** For each length, that many ones, then zeros. */
    private static void sequenceMask(Operations registry) {
        Operation.define("sequence_mask").in("X", "MaxLenTensor?").out("Y").attr("maxlen", -1).attr("out_dtype", 3)
                .values("X", "MaxLenTensor").infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.set("Y", inference.attrs().getDType("out_dtype"),
                            Dims.inserted(dims, dims.length, longest(inference)));
                }).lower(l -> {
                    long[] dims = l.outType("Y", 0).dims();
                    long[] places = LongStream.range(0, l.arrayLength("its indexes", dims[dims.length - 1])).toArray();
                    Operand x = l.in("X");
                    Operand place = l.constant(Tensor.of(x.dtype(), places, places.length));
                    l.out("Y", l.cast(l.binary(Binary.Function.LESS, place, x.unsqueeze(x.rank())),
                            l.outType("Y", 0).dtype()));
                }).register(registry);
    }

    private static long longest(Inference inference) {
        long[] given = inference.values("MaxLenTensor");
        long attribute = inference.attrs().getInt("maxlen");
        if (given != null && given.length == 1) {
            return given[0];
        }
        if (inference.has("MaxLenTensor") || attribute > 0) {
            return inference.has("MaxLenTensor") ? -1 : attribute;
        }
        long[] lengths = inference.values("X");
        long longest = lengths == null ? -1 : Arrays.stream(lengths).max().orElse(0);
        inference.require(longest <= 1 << 26, "the longest sequence would have %d elements", longest);
        return longest;
    }
}
