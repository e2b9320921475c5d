package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Sums of parameters over training steps, for averages of the latest ones. */
public final class AverageOperations {
    private static final List<String> SUMS = List.of("_sum_1", "_sum_2", "_sum_3");
    private static final List<String> COUNTS = List.of("_num_accumulates", "_old_num_accumulates", "_num_updates");
    /** After so many steps a sum restarts from 0, so that additions are not lost to rounding. */
    private static final long MOST_ADDED = 16384;

    private AverageOperations() {
    }

    public static void register(Operations registry) {
        Operation.Builder builder = Operation.define("average_accumulates").in("param");
        for (String each : SUMS) {
            builder.in("in" + each).out("out" + each);
        }
        for (String each : COUNTS) {
            builder.in("in" + each).out("out" + each);
        }
        builder.attr("average_window", 0f).attr("max_average_window", Long.MAX_VALUE).attr("min_average_window", 10000L)
                .infer(AverageOperations::infer).lower(AverageOperations::lower).register(registry);
    }

    private static void infer(Inference inference) {
        DType dtype = inference.dtype("param");
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64,
                "param must be float32 or float64, but is %s", dtype);
        long[] dims = inference.dims("param");
        for (String each : SUMS) {
            String slot = "in" + each;
            long[] found = inference.dims(slot);
            inference.require(found.length == dims.length && inference.dtype(slot) == dtype,
                    "%s must have the type and the shape of param, %s %s, but is %s %s", slot, dtype,
                    Numbers.text(dims),
                    inference.dtype(slot), Numbers.text(found));
            inference.broadcast(found, dims);
            inference.same(slot, "out" + each);
        }
        for (String each : COUNTS) {
            String slot = "in" + each;
            long size = Inference.size(inference.dims(slot));
            inference.require(inference.dtype(slot) == DType.INT64 && (size == 1 || size < 0),
                    "%s must be one number of type int64, but is %s with %d elements", slot, inference.dtype(slot),
                    size);
            inference.same(slot, "out" + each);
        }
        Window window = Window.of(inference.attrs());
        inference.require(window.least() <= window.most(),
                "min_average_window %d must not be above max_average_window %d", window.least(),
                window.most());
    }

    private static void lower(Lowering l) {
        List<Operand> sums = SUMS.stream().map(each -> l.mutable("in" + each, "out" + each)).toList();
        List<Operand> counts = COUNTS.stream().map(each -> l.mutable("in" + each, "out" + each)).toList();
        l.into(Binary.of(Binary.Function.ADD), List.of(sums.getFirst(), l.in("param")), List.of(sums.getFirst()));
        Window window = Window.of(l.attrs());
        l.call("average_accumulates", (_, state) -> window.step(state), List.of(),
                List.of(sums.get(0), sums.get(1), sums.get(2), counts.get(0), counts.get(1), counts.get(2)));
    }

    /** The number of steps of an average: a share of all steps, within bounds. */
    private record Window(double share, long least, long most) {
        static Window of(Attrs attrs) {
            return new Window(attrs.getFloat("average_window"), attrs.getLong("min_average_window"),
                    attrs.getLong("max_average_window"));
        }

        /** The sums are seldom touched here: once in many steps, or when a window is full. */
        void step(List<@Nullable Tensor> state) {
            long updates = number(state, 5) + 1;
            long added = number(state, 3) + 1;
            if (updates % MOST_ADDED == 0) {
                add(state, 1);
            }
            // As Paddle does, in single precision: the product is compared as a whole number.
            if (added >= least && added >= Math.min(most, (long) ((float) updates * (float) share))) {
                add(state, 1);
                Elements.write(tensor(state, 1).toDoubleArray(), tensor(state, 2));
                clear(tensor(state, 1));
                set(state, 4, added);
                added = 0;
            }
            set(state, 3, added);
            set(state, 5, updates);
        }

        /** The first sum goes into another, and is 0 then. */
        private static void add(List<@Nullable Tensor> state, int to) {
            double[] sum = tensor(state, to).toDoubleArray();
            double[] first = tensor(state, 0).toDoubleArray();
            Arrays.setAll(sum, i -> sum[i] + first[i]);
            Elements.write(sum, tensor(state, to));
            clear(tensor(state, 0));
        }

        private static void clear(Tensor sum) {
            Elements.write(new double[WorkingMemory.length(sum.shape().size())], sum);
        }

        private static long number(List<@Nullable Tensor> state, int index) {
            return tensor(state, index).toLongArray()[0];
        }

        private static void set(List<@Nullable Tensor> state, int index, long value) {
            Elements.write(new long[]{value}, tensor(state, index));
        }

        private static Tensor tensor(List<@Nullable Tensor> state, int index) {
            return Objects.requireNonNull(state.get(index));
        }
    }
}
