package io.seriatim.graph.ops.control;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** The operation check_numerics: it counts what is not finite in a tensor, and stops the run or prints the counts. */
final class NumberChecks {
    /** At this level a run stops at the first tensor with a NaN or an infinity; at others it is printed. */
    private static final int STOPS = 0;
    /** From this level on all tensors are printed. */
    private static final int PRINTS_ALL = 3;

    private NumberChecks() {
    }

    static void register(Operations registry) {
        Operation.define("check_numerics").in("tensor").out("stats", "values").effect(Effect.HOST).attr("op_type", "")
                .attr("var_name", "").attr("check_nan_inf_level", 0).attr("stack_height_limit", -1)
                .attr("output_dir", "")
                .refuse((_, attrs) -> attrs.getText("output_dir").isEmpty()
                        ? null
                        : "it prints, and writes no files: leave output_dir empty")
                .infer(inference -> {
                    inference.require(inference.dtype("tensor").isFloating(),
                            "the tensor must be of a floating-point type, but is %s", inference.dtype("tensor"));
                    inference.require(Inference.size(inference.dims("tensor")) != 0, "the tensor must have elements");
                    inference.set("stats", DType.INT64, 3);
                    inference.set("values", DType.FLOAT32, 3);
                }).lower(l -> {
                    Attrs attrs = l.attrs();
                    Operand counts = l.temporary(TensorSpec.of(DType.INT64, 3));
                    Operand values = l.temporary(TensorSpec.of(DType.FLOAT32, 3));
                    l.call("check_numerics", (in, out) -> {
                        Tensor tensor = Objects.requireNonNull(in.getFirst());
                        Numbers numbers = Numbers.of(tensor.toDoubleArray());
                        report(attrs, tensor, numbers);
                        Elements.write(new long[]{numbers.nans, numbers.infinities, numbers.zeros},
                                Objects.requireNonNull(out.get(0)));
                        Elements.write(new double[]{numbers.most, numbers.least, numbers.mean},
                                Objects.requireNonNull(out.get(1)));
                    }, List.of(l.in("tensor")), List.of(counts, values));
                    l.out("stats", counts);
                    l.out("values", values);
                }).register(registry);
    }

    private static void report(Attrs attrs, Tensor tensor, Numbers numbers) {
        int level = attrs.getInt("check_nan_inf_level");
        boolean bad = numbers.nans + numbers.infinities > 0;
        if (!bad && level < PRINTS_ALL) {
            return;
        }
        String text = String.format(Locale.ROOT,
                "%s in [device=cpu, op=%s, tensor=%s, dtype=%s], numel=%d, num_nan=%d, num_inf=%d, num_zero=%d, max=%e, "
                        + "min=%e, mean=%e",
                bad ? "[PRECISION] [ERROR]" : "[PRECISION]", Printable.of(attrs.getText("op_type")),
                Printable.of(attrs.getText("var_name")), tensor.dtype(), tensor.shape().size(), numbers.nans,
                numbers.infinities, numbers.zeros, numbers.most, numbers.least, numbers.mean);
        if (level == STOPS) {
            throw new IllegalStateException("Operation 'check_numerics': there are NaN or infinite numbers: " + text);
        }
        System.out.println(text);
    }

    /** What is counted. A NaN is the largest and the smallest only if it comes first, as in Paddle. */
    private record Numbers(long nans, long infinities, long zeros, double most, double least, double mean) {
        static Numbers of(double[] values) {
            long nans = 0;
            long infinities = 0;
            long zeros = 0;
            double most = values[0];
            double least = values[0];
            double sum = 0;
            for (double value : values) {
                nans += Double.isNaN(value) ? 1 : 0;
                infinities += Double.isInfinite(value) ? 1 : 0;
                zeros += value == 0 ? 1 : 0;
                most = value > most ? value : most;
                least = value < least ? value : least;
                sum += value / values.length;
            }
            return new Numbers(nans, infinities, zeros, most, least, sum);
        }
    }
}
