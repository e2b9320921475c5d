package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanCheck;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Casts become part of the kernels before and behind them. */
class CastsTest {
    private static final long SEED = 20261122;
    private static final int STEPS = 12;
    private static final DType NARROW = DType.BFLOAT16;
    private static final DType WIDE = DType.FLOAT32;

    private static boolean isCast(Stage stage) {
        return stage.computation() instanceof Copy copy && copy.to() != null && stage.specs()[0] != null
                && copy.to() != Objects.requireNonNull(stage.specs()[0]).dtype();
    }

    /** Without AVX-512 the library has no kernels of 16 bits, so casts stay. */
    private static final boolean HAS_NARROW_KERNELS = OneDnn.status().hasAvx512();

    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(),
                () -> "oneDNN is not there: plain Java has no kernels that pay: " + OneDnn.status().problem());
    }

    private static List<Supplier<Executor.Builder>> executors() {
        return List.of(Executor::builder, () -> PlanProbe.eager(Executor.builder().threads(2)),
                () -> Executor.builder().without(Pass.CHAINS),
                () -> Executor.builder().without(Pass.EPILOGUES).inPlace(false));
    }

    private static Value narrow(Value x) {
        return x.cast(NARROW);
    }

    private static Value wide(Value x) {
        return x.cast(WIDE);
    }

    private record Found(List<Tensor> results, List<Stage> stages) {
        /** Of operations, whose parts threads may do side by side. */
        long count(Predicate<Stage> which) {
            return stages.stream().filter(which).map(Stage::access).distinct().count();
        }
    }

    private static Found run(Executor.Builder builder, Network network, Program main, int runs, Tensor... feeds) {
        List<Tensor> results = new ArrayList<>();
        List<String> fetched = network.outputs().values().values().stream().map(Value::name).toList();
        try (Executor executor = builder.build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(main,
                    Executor.feeds(feeds.length == 1 ? new String[]{"x"} : new String[]{"x", "target"}),
                    new Fetches(fetched));
            CompiledPlan specialisation = Internals.compiled(plan, executor.scope(), feeds);
            PlanCheck.assertRight(specialisation, Internals.options(executor).inOrder(), "");
            for (int i = 0; i < runs; i++) {
                Results each = plan.run(feeds);
                fetched.forEach(name -> results.add(Bits.copy(each.get(name))));
            }
            return new Found(results, Task.stages(specialisation.tasks()).toList());
        }
    }

    private static void assertSame(Network network, Tensor x, long casts) {
        Found plain = run(Executor.builder().without(Pass.CHAINS), network, network.main(), 1, x);
        if (HAS_NARROW_KERNELS) {
            assertEquals(casts, plain.count(CastsTest::isCast), () -> plain.stages().toString());
        } else {
            assertTrue(plain.count(CastsTest::isCast) >= casts, "no cast goes where plain Java computes");
        }
        for (Supplier<Executor.Builder> executor : executors()) {
            Found expected = run(executor.get().without(Pass.CASTS), network, network.main(), 2, x);
            Found found = run(executor.get(), network, network.main(), 2, x);
            for (int i = 0; i < expected.results().size(); i++) {
                Bits.assertSame(expected.results().get(i), found.results().get(i), "result " + i);
            }
        }
    }

    @Test
    void whatIsElementwiseWorksOnNarrowValues() {
        Network network = Network.define(SEED, g -> {
            Value x = narrow(g.data("x", WIDE, 8, 96));
            return Outputs.of("gelu", narrow(wide(x).gelu()).abs(), "sum",
                    narrow(wide(x).plus(wide(narrow(wide(x).tanh())))).abs());
        });
        assertSame(network, Bits.normal(1, 8, 96), 1);
    }

    @Test
    void normalisationsReadAndWriteNarrowValues() {
        Network network = Network.define(SEED, g -> {
            Value x = narrow(g.data("x", WIDE, 8, 96));
            return Outputs.of("norm", narrow(g.layerNorm(wide(x))).abs(), "softmax", narrow(wide(x).softmax(-1)).abs(),
                    "wide",
                    wide(x).softmax(-1));
        });
        assertSame(network, Bits.normal(2, 8, 96), 1);
    }

    @Test
    void whatIsWantedOrReadOtherwiseIsNotNarrowed() {
        Network network = Network.define(SEED, g -> {
            Value x = narrow(g.data("x", WIDE, 8, 96));
            Value wanted = g.layerNorm(wide(x));
            Value read = wide(x).gelu();
            return Outputs.of("wanted", wanted, "narrow", narrow(wanted), "both",
                    read.sum().plus(wide(narrow(read)).sum()));
        });
        // All but the one before the normalisation.
        assertSame(network, Bits.normal(3, 8, 96), 5);
    }

    /** One layer of a transformer. */
    private static Network training(@Nullable MixedPrecision precision) {
        return Network.define(SEED, g -> {
            Value x = g.data("x", WIDE, 2, 32, 64);
            Value target = g.data("target", DType.INT64, 2, 32, 1);
            List<Value> qkv = g.linear(g.layerNorm(x), 192).reshape(2, 32, 3, 2, 32).transpose(2, 0, 3, 1, 4)
                    .unstack(0);
            Value mask = g.constant(Bits.floats(-1e9)).expand(32, 32).triangle(false, 1);
            Value weights = qkv.get(0).times(0.25).matmul(qkv.get(1), false, true).plus(mask).softmax(-1);
            Value y = x.plus(g.linear(weights.matmul(qkv.get(2)).transpose(0, 2, 1, 3).reshape(2, 32, 64), 64));
            Value z = y.plus(g.linear(g.linear(g.layerNorm(y), 256).gelu(), 64));
            Value loss = g.softmaxCrossEntropy(g.linear(g.layerNorm(z), 10), target).mean();
            g.minimize(loss, precision == null ? Adam.of(1e-3) : Adam.of(1e-3).precision(precision));
            return Outputs.of("loss", loss);
        });
    }

    private static double[] losses(Found found) {
        return found.results().stream().mapToDouble(loss -> loss.toDoubleArray()[0]).toArray();
    }

    @Test
    void aMixedTrainingKeepsItsLoss() {
        Tensor[] feeds = {Bits.normal(4, 2, 32, 64), Bits.below(10, 5, 2, 32, 1)};
        Network plain = training(null);
        double[] expected = losses(run(Executor.builder(), plain, plain.main(), STEPS, feeds));
        assertTrue(expected[STEPS - 1] < 0.9 * expected[0], () -> "the loss falls: " + Arrays.toString(expected));
        for (MixedPrecision precision : List.of(MixedPrecision.bfloat16(), MixedPrecision.float16())) {
            Network network = training(precision);
            for (Supplier<Executor.Builder> executor : executors()) {
                Found without = run(executor.get().without(Pass.CASTS), network, network.main(), STEPS, feeds);
                Found found = run(executor.get(), network, network.main(), STEPS, feeds);
                for (int i = 0; i < STEPS; i++) {
                    assertEquals(expected[i], losses(without)[i], 0.02 * expected[i],
                            "loss " + i + " in " + precision.dtype());
                    assertEquals(expected[i], losses(found)[i], 0.02 * expected[i],
                            "loss " + i + " in " + precision.dtype());
                }
                if (precision.dtype() == DType.BFLOAT16 && HAS_NARROW_KERNELS) {
                    assertTrue(2 * found.count(CastsTest::isCast) < without.count(CastsTest::isCast),
                            found.count(CastsTest::isCast) + " casts of " + without.count(CastsTest::isCast));
                    assertEquals(1,
                            found.count(stage -> stage.computation() instanceof UnaryGrad && stage.specs()[0] != null
                                    && Objects.requireNonNull(stage.specs()[0]).dtype() == NARROW),
                            "the gradient of GELU is narrow");
                }
            }
        }
    }

    private static Value next(Graph g, Random random, List<Value> values) {
        Value a = values.get(random.nextInt(values.size()));
        Value b = values.get(random.nextInt(values.size()));
        boolean alike = a.dtype() == b.dtype();
        return switch (random.nextInt(9)) {
            case 0, 1 -> a.dtype() == WIDE ? narrow(a) : wide(a);
            case 2 -> narrow(wide(a).gelu());
            case 3 -> alike ? a.plus(b) : narrow(wide(a).times(wide(b)));
            case 4 -> narrow(wide(a).softmax(-1));
            case 5 -> narrow(g.layerNorm(wide(a)));
            case 6 -> wide(a).softmax(-1);
            case 7 -> a.tanh();
            default -> alike ? a.max(b) : wide(a).tanh();
        };
    }

    /** Some operations write variables of before once more. */
    private static Program overwritten(Program program, Random random, int count) {
        Program copy = program.copy();
        Block block = copy.global();
        for (int i = 0; i < count; i++) {
            int at = 1 + random.nextInt(block.ops().size());
            List<String> known = block.ops().subList(0, at).stream().flatMap(op -> op.outputNames().stream()).distinct()
                    .filter(name -> block.get(name).type() instanceof VarType.Dense
                            && block.get(name).tensor().shape().length == 2)
                    .toList();
            if (!known.isEmpty()) {
                String to = known.get(random.nextInt(known.size()));
                block.add(at, random.nextBoolean()
                        ? OpDesc.of("tanh").in("X", to).out("Out", to).build()
                        : OpDesc.of("scale").in("X", to).out("Out", to).attr("scale", 0.5f).attr("bias", 0.25f)
                                .attr("bias_after_scale", true)
                                .build());
            }
        }
        return copy;
    }

    @Test
    void randomProgramsGiveTheSameBits() {
        for (long seed = SEED; seed < SEED + 60; seed++) {
            Random random = new Random(seed);
            Network network = Network.define(seed, g -> {
                List<Value> values = new ArrayList<>(List.of(g.data("x", WIDE, 4, 64)));
                for (int i = 0; i < 24; i++) {
                    values.add(next(g, random, values));
                }
                return Outputs.of("last", values.getLast(), "any", values.get(random.nextInt(values.size())), "other",
                        values.get(random.nextInt(values.size())));
            });
            Program main = overwritten(network.main(), random, random.nextInt(6));
            Tensor x = Bits.normal(seed, 4, 64);
            Executor.Builder builder =
                    seed % 2 == 0 ? Executor.builder() : PlanProbe.eager(Executor.builder().threads(2));
            Found expected = run(Executor.builder().without(Pass.values()), network, main, 2, x);
            Found found = run(builder.without(Pass.CHAINS), network, main, 2, x);
            for (int i = 0; i < expected.results().size(); i++) {
                Bits.assertSame(expected.results().get(i), found.results().get(i), "seed " + seed + ", result " + i);
            }
        }
    }
}
