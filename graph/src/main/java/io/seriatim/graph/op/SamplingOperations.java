package io.seriatim.graph.op;

import io.seriatim.graph.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Binary.Function;
import io.seriatim.tensor.kernel.Permutation;
import io.seriatim.tensor.kernel.RandomNumbers;
import io.seriatim.tensor.kernel.RandomNumbers.Distribution;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Operations that draw by given probabilities, in random order, or a seed for others. */
final class SamplingOperations {
    private SamplingOperations() {
    }

    static void register(Operations registry) {
        randperm(registry);
        bernoulli(registry);
        multinomial(registry);
        seed(registry);
    }

    private static void randperm(Operations registry) {
        Operation.define("randperm").out("Out").effect(Effect.RANDOM).required("n", Attribute.Int.class).attr("dtype", 3).attr("seed", 0)
                .infer(inference -> {
                    long n = inference.attrs().getLong("n");
                    DType dtype = inference.attrs().getDType("dtype");
                    inference.require(n >= 0 && n <= Integer.MAX_VALUE, "n must be from 0 to %d, but is %d", Integer.MAX_VALUE, n);
                    inference.require(dtype.isFloating() || dtype == DType.INT32 || dtype == DType.INT64,
                            "the type must be int32, int64 or a floating-point one, but is %s", dtype);
                    inference.set("Out", dtype, n);
                }).lower(l -> {
                    PaddleRandom shared = l.paddleRandom();
                    if (shared != null) {
                        // Paddle 2.6 does not read the seed here.
                        l.call("randperm", (_, out) -> new PaddleDraws(shared).permutation(Objects.requireNonNull(out.getFirst())),
                                List.of(), List.of(l.output("Out")));
                    } else {
                        DType dtype = l.outType("Out", 0).dtype();
                        l.out("Out", l.run(new Permutation(l.attrs().getInt("n"), dtype == DType.INT32 ? DType.INT32 : DType.INT64),
                                l.randomKey()));
                    }
                }).register(registry);
    }

    private static void bernoulli(Operations registry) {
        Operation.define("bernoulli").in("X").out("Out").effect(Effect.RANDOM).infer(inference -> {
            inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s", inference.dtype("X"));
            inference.same("X", "Out");
        }).lower(l -> {
            Operand x = l.in("X");
            PaddleRandom shared = l.paddleRandom();
            l.call("bernoulli", (in, _) -> requireProbabilities(Objects.requireNonNull(in.getFirst())), List.of(x), List.of());
            if (shared != null) {
                l.call("bernoulli", (in, out) -> new PaddleDraws(shared).bernoulli(Objects.requireNonNull(in.getFirst()),
                        Objects.requireNonNull(out.getFirst())), List.of(x), List.of(l.output("Out")));
            } else {
                Operand uniform = l.temporary(x.spec());
                l.into(new RandomNumbers(Distribution.UNIFORM, 0, 1, x.dtype()), List.of(l.randomKey()), List.of(uniform));
                l.out("Out", l.cast(l.binary(Function.LESS, uniform, x), x.dtype()));
            }
        }).register(registry);
    }

    private static void requireProbabilities(Tensor x) {
        for (double probability : x.toDoubleArray()) {
            if (!(probability >= 0 && probability <= 1)) {
                throw new IllegalArgumentException("bernoulli: the probabilities in X must be from 0 to 1, but one is " + probability);
            }
        }
    }

    private static void multinomial(Operations registry) {
        Operation.define("multinomial").in("X").out("Out").effect(Effect.RANDOM).attr("num_samples", 1).attr("replacement", false)
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    long samples = inference.attrs().getLong("num_samples");
                    inference.require(dims.length == 1 || dims.length == 2,
                            "X must have the shape [categories] or [n, categories], but has %s",
                            Arrays.toString(dims));
                    inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                            inference.dtype("X"));
                    inference.require(samples > 0, "num_samples must be 1 or more, but is %d", samples);
                    dims[dims.length - 1] = samples;
                    inference.set("Out", DType.INT64, dims);
                }).lower(SamplingOperations::multinomial).register(registry);
    }

    private static void multinomial(Lowering l) {
        int samples = l.attrs().getInt("num_samples");
        boolean replacement = l.attrs().getBool("replacement");
        PaddleRandom shared = l.paddleRandom();
        if (shared != null) {
            l.call("multinomial", (in, out) -> {
                Tensor x = Objects.requireNonNull(in.getFirst());
                PaddleDraws draws = new PaddleDraws(shared);
                Categories.sample(x, samples, replacement, () -> draws.unit(x.dtype()), Objects.requireNonNull(out.getFirst()));
            }, List.of(l.in("X")), List.of(l.output("Out")));
        } else {
            Operand uniform = l.temporary(TensorSpec.of(DType.FLOAT64, l.outType("Out", 0).spec().shape()));
            l.into(new RandomNumbers(Distribution.UNIFORM, 0, 1, DType.FLOAT64), List.of(l.randomKey()), List.of(uniform));
            l.call("multinomial", (in, out) -> {
                DoubleSupplier drawn = Arrays.stream(Objects.requireNonNull(in.get(1)).toDoubleArray()).iterator()::nextDouble;
                Categories.sample(Objects.requireNonNull(in.getFirst()), samples, replacement, drawn,
                        Objects.requireNonNull(out.getFirst()));
            }, List.of(l.in("X"), uniform), List.of(l.output("Out")));
        }
    }

    private static void seed(Operations registry) {
        Operation.define("seed").out("Out").effect(Effect.RANDOM).attr("seed", 0).attr("deterministic", false).attr("rng_name", "")
                .attr("force_cpu", false).infer(inference -> inference.set("Out", DType.INT32, 1)).lower(l -> {
                    int seed = l.attrs().getInt("seed");
                    if (seed != 0) {
                        l.out("Out", l.constant(Tensor.of(DType.INT32, new long[]{seed}, 1)));
                    } else {
                        // Paddle asks the system: there is nothing to be the same as. 0 would mean none to its reader.
                        Operand drawn = l.temporary(TensorSpec.of(DType.INT32, 1));
                        l.into(new RandomNumbers(Distribution.WHOLE, 1, Integer.MAX_VALUE, DType.INT32), List.of(l.randomKey()),
                                List.of(drawn));
                        l.out("Out", drawn);
                    }
                }).register(registry);
    }
}
