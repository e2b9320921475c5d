package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.RandomNumbers.Distribution;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Operations that draw tensors of random numbers. */
public final class RandomOperations {
    /** The slots and attributes that give an operation's shape. */
    private enum Form {
        PLAIN(""), BATCH_SIZE_LIKE("_batch_size_like");

        private final String suffix;

        Form(String suffix) {
            this.suffix = suffix;
        }

        Operation.Builder define(String type) {
            Operation.Builder builder = Operation.define(type + suffix).out("Out").effect(Effect.RANDOM).attr("seed", 0)
                    .attr("dtype", 5);
            if (this == BATCH_SIZE_LIKE) {
                return builder.in("Input").shapesOnly("Input").required("shape", Attribute.Ints.class)
                        .attr("input_dim_idx", 0)
                        .attr("output_dim_idx", 0);
            }
            return builder.in("ShapeTensor?", "ShapeTensorList*?").values(RequestedShape.TENSOR, RequestedShape.LIST)
                    .attr("shape",
                            new long[0]);
        }

        long[] dims(Inference inference) {
            return this == BATCH_SIZE_LIKE ? RequestedShape.batchSizeLike(inference) : RequestedShape.infer(inference);
        }
    }

    private RandomOperations() {
    }

    public static void register(Operations registry) {
        for (Form form : Form.values()) {
            uniform(registry, form);
            gaussian(registry, form);
        }
        truncatedGaussian(registry);
        randint(registry);
    }

    private static void uniform(Operations registry, Form form) {
        form.define("uniform_random").attr("min", -1f).attr("max", 1f).attr("diag_num", 0).attr("diag_step", 0)
                .attr("diag_val", 1f)
                .infer(inference -> {
                    long[] dims = form.dims(inference);
                    requireDiagonal(inference, dims);
                    floating(inference, dims);
                }).lower(l -> {
                    float least = l.attrs().getFloat("min");
                    float end = l.attrs().getFloat("max");
                    Operand numbers = draw(l, Distribution.UNIFORM, Math.min(least, end), Math.max(least, end),
                            (draws, out) -> draws.uniform(least, end, out));
                    diagonal(l, numbers);
                    l.out("Out", numbers);
                }).register(registry);
    }

    private static void requireDiagonal(Inference inference, long[] dims) {
        long count = inference.attrs().getLong("diag_num");
        long step = inference.attrs().getLong("diag_step");
        long size = Inference.size(dims);
        inference.require(count <= 0 || size < 0 || (step >= 0 && size > (count - 1) * (step + 1)),
                "diag_num %d and diag_step %d need more than %d elements, but there are %d", count, step,
                (count - 1) * (step + 1), size);
    }

    /** Sets every (diag_step + 1)-th element. */
    private static void diagonal(Lowering l, Operand numbers) {
        long count = l.attrs().getLong("diag_num");
        if (count > 0) {
            Operand places = numbers.reshape(numbers.shape().size()).slice(0, 0, l.attrs().getLong("diag_step") + 1,
                    count);
            l.into(Copy.PLAIN, List.of(l.fill(l.attrs().getDouble("diag_val"), TensorSpec.of(numbers.dtype(), count))),
                    List.of(places));
        }
    }

    private static void gaussian(Operations registry, Form form) {
        form.define("gaussian_random").attr("mean", 0f).attr("std", 1f).infer(inference -> {
            long[] dims = form.dims(inference);
            long[] attribute = inference.attrs().getLongs("shape");
            // Paddle infers the shape of the attribute until the tensors are known.
            boolean known = inference.count(RequestedShape.LIST) == 0 || inference.values(RequestedShape.LIST) != null;
            floating(inference, known || attribute.length == 0 ? dims : attribute);
        }).lower(l -> {
            float mean = l.attrs().getFloat("mean");
            float deviation = l.attrs().getFloat("std");
            l.out("Out", draw(l, Distribution.NORMAL, mean, Math.abs(deviation),
                    (draws, out) -> draws.normal(mean, deviation, out)));
        }).register(registry);
    }

    private static void truncatedGaussian(Operations registry) {
        Operation.define("truncated_gaussian_random").out("Out").effect(Effect.RANDOM)
                .required("shape", Attribute.Ints.class)
                .attr("mean", 0f).attr("std", 1f).attr("seed", 0).attr("dtype", 5)
                .infer(inference -> floating(inference, RequestedShape.infer(inference))).lower(l -> {
                    float mean = l.attrs().getFloat("mean");
                    float deviation = l.attrs().getFloat("std");
                    l.out("Out", draw(l, Distribution.TRUNCATED_NORMAL, mean, Math.abs(deviation),
                            (draws, out) -> draws.truncatedNormal(mean, deviation, out)));
                }).register(registry);
    }

    private static void randint(Operations registry) {
        Form.PLAIN.define("randint").attr("dtype", 3).required("low", Attribute.Int.class)
                .required("high", Attribute.Int.class)
                .infer(inference -> {
                    long low = inference.attrs().getLong("low");
                    long high = inference.attrs().getLong("high");
                    inference.require(low < high, "low must be less than high, but they are %d and %d", low, high);
                    DType dtype = inference.attrs().getDType("dtype");
                    inference.require(dtype == DType.INT32 || dtype == DType.INT64,
                            "the type must be int32 or int64, but is %s", dtype);
                    inference.set("Out", dtype, RequestedShape.infer(inference));
                }).lower(l -> {
                    long low = l.attrs().getLong("low");
                    long high = l.attrs().getLong("high");
                    // Paddle 2.6 takes the number of the type for the seed where one is given.
                    int seed = l.attrs().getInt("seed") == 0 ? 0 : l.attrs().getInt("dtype");
                    l.out("Out",
                            draw(l, "Out", Distribution.WHOLE, (double) low, (double) high, seed,
                                    (draws, out) -> draws.whole(low, high, out)));
                }).register(registry);
    }

    private static void floating(Inference inference, long[] dims) {
        DType dtype = inference.attrs().getDType("dtype");
        inference.require(dtype.isFloating(), "the type must be a floating-point one, but is %s", dtype);
        inference.set("Out", dtype, dims);
    }

    private static Operand draw(Lowering l, Distribution distribution, double a, double b,
            BiConsumer<PaddleDraws, Tensor> asPaddle) {
        return draw(l, "Out", distribution, a, b, asPaddle);
    }

    /** As many numbers as an output has, with the seed that is an attribute. */
    static Operand draw(Lowering l, String output, Distribution distribution, double a, double b,
            BiConsumer<PaddleDraws, Tensor> asPaddle) {
        return draw(l, output, distribution, a, b, l.attrs().getInt("seed"), asPaddle);
    }

    private static Operand draw(Lowering l, String output, Distribution distribution, double a, double b, int seed,
            BiConsumer<PaddleDraws, Tensor> asPaddle) {
        TensorSpec spec = l.outType(output, 0).spec();
        Operand numbers = l.temporary(spec);
        PaddleRandom shared = l.paddleRandom();
        if (shared != null) {
            l.call(l.type(), (_, out) -> asPaddle.accept(draws(shared, seed), Objects.requireNonNull(out.getFirst())),
                    List.of(),
                    List.of(numbers));
        } else {
            l.into(new RandomNumbers(distribution, a, b, spec.dtype()), List.of(l.randomKey()), List.of(numbers));
        }
        return numbers;
    }

    /** The generator of the seed, the same in every run; without a seed that of the process. */
    public static PaddleDraws draws(@Nullable PaddleRandom shared, long seed) {
        return new PaddleDraws(seed != 0 ? new PaddleRandom(seed) : Objects.requireNonNull(shared));
    }
}
