package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.Permutation;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.RandomNumbers.Distribution;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.DoubleSupplier;

/** Operations that draw by given probabilities, in random order, with noise, or a seed for others. */
public final class SamplingOperations {
    /** Gumbel's noise is drawn from uniform numbers from here on, whose logarithms are finite. */
    private static final double LEAST_UNIFORM = 1e-5;

    private SamplingOperations() {
    }

    public static void register(Operations registry) {
        randperm(registry);
        bernoulli(registry);
        multinomial(registry);
        seed(registry);
        gumbel(registry);
    }

    private static void randperm(Operations registry) {
        Operation.define("randperm").out("Out").effect(Effect.RANDOM).required("n", Attribute.Int.class)
                .attr("dtype", 3).attr("seed", 0)
                .infer(inference -> {
                    long n = inference.attrs().getLong("n");
                    DType dtype = inference.attrs().getDType("dtype");
                    inference.require(n >= 0 && n <= Integer.MAX_VALUE, "n must be from 0 to %d, but is %d",
                            Integer.MAX_VALUE, n);
                    inference.require(dtype.isFloating() || dtype == DType.INT32 || dtype == DType.INT64,
                            "the type must be int32, int64 or a floating-point one, but is %s", dtype);
                    inference.set("Out", dtype, n);
                }).lower(l -> {
                    PaddleRandom shared = l.paddleRandom();
                    if (shared != null) {
                        // Paddle 2.6 does not read the seed here.
                        l.call("randperm",
                                (_, out) -> new PaddleDraws(shared).permutation(Objects.requireNonNull(out.getFirst())),
                                List.of(), List.of(l.output("Out")));
                    } else {
                        DType dtype = l.outType("Out", 0).dtype();
                        l.out("Out",
                                l.run(new Permutation(l.attrs().getInt("n"),
                                        dtype == DType.INT32 ? DType.INT32 : DType.INT64),
                                        l.randomKey()));
                    }
                }).register(registry);
    }

    private static void bernoulli(Operations registry) {
        Operation.define("bernoulli").in("X").out("Out").effect(Effect.RANDOM).infer(inference -> {
            inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                    inference.dtype("X"));
            inference.same("X", "Out");
        }).lower(l -> {
            Operand x = l.in("X");
            PaddleRandom shared = l.paddleRandom();
            l.call("bernoulli", (in, _) -> requireProbabilities(Objects.requireNonNull(in.getFirst())), List.of(x),
                    List.of());
            if (shared != null) {
                l.call("bernoulli",
                        (in, out) -> new PaddleDraws(shared).bernoulli(Objects.requireNonNull(in.getFirst()),
                                Objects.requireNonNull(out.getFirst())),
                        List.of(x), List.of(l.output("Out")));
            } else {
                Operand uniform = l.temporary(x.spec());
                l.into(new RandomNumbers(Distribution.UNIFORM, 0, 1, x.dtype()), List.of(l.randomKey()),
                        List.of(uniform));
                l.out("Out", l.cast(l.binary(Function.LESS, uniform, x), x.dtype()));
            }
        }).register(registry);
    }

    private static void requireProbabilities(Tensor x) {
        for (double probability : x.toDoubleArray()) {
            if (!(probability >= 0 && probability <= 1)) {
                throw new IllegalArgumentException(
                        "bernoulli: the probabilities in X must be from 0 to 1, but one is " + probability);
            }
        }
    }

    private static void multinomial(Operations registry) {
        Operation.define("multinomial").in("X").out("Out").effect(Effect.RANDOM).attr("num_samples", 1)
                .attr("replacement", false)
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    long samples = inference.attrs().getLong("num_samples");
                    inference.require(dims.length == 1 || dims.length == 2,
                            "X must have the shape [categories] or [n, categories], but has %s",
                            Numbers.text(dims));
                    inference.require(inference.dtype("X").isFloating(),
                            "X must be of a floating-point type, but is %s",
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
                Categories.sample(x, samples, replacement, () -> draws.unit(x.dtype()),
                        Objects.requireNonNull(out.getFirst()));
            }, List.of(l.in("X")), List.of(l.output("Out")));
        } else {
            Operand uniform = l.temporary(TensorSpec.of(DType.FLOAT64, l.outType("Out", 0).spec().shape()));
            l.into(new RandomNumbers(Distribution.UNIFORM, 0, 1, DType.FLOAT64), List.of(l.randomKey()),
                    List.of(uniform));
            l.call("multinomial", (in, out) -> {
                DoubleSupplier drawn = Arrays.stream(Objects.requireNonNull(in.get(1)).toDoubleArray())
                        .iterator()::nextDouble;
                Categories.sample(Objects.requireNonNull(in.getFirst()), samples, replacement, drawn,
                        Objects.requireNonNull(out.getFirst()));
            }, List.of(l.in("X"), uniform), List.of(l.output("Out")));
        }
    }

    private static void seed(Operations registry) {
        Operation.define("seed").out("Out").effect(Effect.RANDOM).attr("seed", 0).attr("deterministic", false)
                .attr("rng_name", "")
                .attr("force_cpu", false).infer(inference -> inference.set("Out", DType.INT32, 1)).lower(l -> {
                    int seed = l.attrs().getInt("seed");
                    if (seed != 0) {
                        l.out("Out", l.constant(Tensor.of(DType.INT32, new long[]{seed}, 1)));
                    } else {
                        // Paddle takes the seed from the system, so that it cannot be reproduced. It must not be 0,
                        // which means no seed.
                        Operand drawn = l.temporary(TensorSpec.of(DType.INT32, 1));
                        l.into(new RandomNumbers(Distribution.WHOLE, 1, Integer.MAX_VALUE, DType.INT32),
                                List.of(l.randomKey()),
                                List.of(drawn));
                        l.out("Out", drawn);
                    }
                }).register(registry);
    }

    /**
     * Softmax of logits with Gumbel's noise, −ln(−ln u), or a one at its largest element. As in Paddle, the gradient is
     * that of the softmax that is given out: it knows no temperature, and is 0 where the result is hard.
     */
    private static void gumbel(Operations registry) {
        Operation.define("gumbel_softmax").in("X").out("Out").effect(Effect.RANDOM).attr("temperature", 1f)
                .attr("hard", false)
                .attr("axis", -1).infer(inference -> {
                    DType dtype = inference.dtype("X");
                    inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64,
                            "X must be float32 or float64, but is %s", dtype);
                    float temperature = inference.attrs().getFloat("temperature");
                    inference.require(temperature > 0, "temperature must be above 0, but is %s", temperature);
                    inference.axis("X", inference.attrs().getInt("axis"));
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand logits = l.in("X");
                    Operand noisy = l.binary(Function.ADD, logits, noise(l, logits.spec().rowMajor()));
                    int axis = l.attrs().getInt("axis");
                    Operand temperature = l.number(logits.dtype(), l.attrs().getFloat("temperature"));
                    Operand soft = l.run(new Softmax(axis, false), l.binary(Function.DIVIDE, noisy, temperature));
                    l.out("Out", l.attrs().getBool("hard") ? largest(l, soft, axis) : soft);
                }).grad("gumbel_softmax_grad(Out, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD",
                                l.run(new SoftmaxGrad(l.attrs().getInt("axis"), false), l.in("Out"), l.in("Out@GRAD"))))
                .register(registry);
    }

    /** One after the other in double precision: for u near 1 fast logarithms have few right digits. */
    private static Operand noise(Lowering l, TensorSpec spec) {
        Operand noise = l.temporary(spec);
        PaddleRandom shared = l.paddleRandom();
        if (shared != null) {
            l.call("gumbel_softmax", (_, out) -> {
                Tensor to = Objects.requireNonNull(out.getFirst());
                new PaddleDraws(shared).uniform(LEAST_UNIFORM, 1, to);
                gumbel(to, to);
            }, List.of(), List.of(noise));
        } else {
            Operand uniform = l.temporary(spec);
            l.into(new RandomNumbers(Distribution.UNIFORM, LEAST_UNIFORM, 1, spec.dtype()), List.of(l.randomKey()),
                    List.of(uniform));
            l.call("gumbel_softmax",
                    (in, out) -> gumbel(Objects.requireNonNull(in.getFirst()), Objects.requireNonNull(out.getFirst())),
                    List.of(uniform), List.of(noise));
        }
        return noise;
    }

    private static void gumbel(Tensor uniform, Tensor to) {
        double[] values = uniform.toDoubleArray();
        Arrays.setAll(values, i -> {
            double once = -Math.log(values[i]);
            // A draw that was rounded to 1 counts as the number before it, in single precision: its noise is finite.
            return -Math.log(once > 0 ? once : 0x1p-24);
        });
        Elements.write(values, to);
    }

    private static Operand largest(Lowering l, Operand x, int axis) {
        Operand at = l.run(new ArgReduction(true, axis, true), x);
        Operand ones = l.fill(1, TensorSpec.of(x.dtype(), at.shape()));
        return l.run(new PutAlongAxis(axis, false), l.fill(0, x.spec()), at, ones);
    }
}
