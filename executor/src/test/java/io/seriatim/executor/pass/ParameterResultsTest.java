package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.executor.RandomImages;
import io.seriatim.executor.Scope;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What depends only on parameters is no task of a plan, and follows the parameters nevertheless. */
class ParameterResultsTest {
    private static final Tensor X = Bits.normal(1, 4, 8);

    /** A product with a function of a matrix, and a function of another parameter and of that matrix. */
    private static Network network() {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 8);
            Value v = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 8, 8);
            Value w = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 8);
            Value matrix = v.plus(v.square()).times(-1).exp();
            return Outputs.of("y", x.matmul(matrix).plus(w.sigmoid().plus(matrix.tanh().sum())));
        });
    }

    private static Plan plan(Executor executor, Network network) {
        return executor.compile(network.main(), Executor.feeds("x"),
                Executor.fetches(ImagePasses.names(network).getFirst()));
    }

    private static Tensor run(Plan plan, Scope scope, Network network, Tensor x) {
        return Bits.copy(plan.run(scope, x).get(ImagePasses.names(network).getFirst()));
    }

    private static Tensor expected(Network network, long seed, Tensor x) {
        try (Executor executor = Executor.builder().threads(1).without(Pass.LAYOUTS).build()) {
            executor.run(network.startup());
            RandomImages.fill(executor.scope(), network.main(), seed);
            return run(plan(executor, network), executor.scope(), network, x);
        }
    }

    @Test
    void noTaskComputesThem() {
        Network network = network();
        assertEquals(1, ImagePasses.count(network, network.main(), stage -> stage.computation() != null, X),
                "only the product");
        assertTrue(
                ImagePasses.count(network, network.main(), stage -> stage.computation() != null, X, Pass.LAYOUTS) > 3);
    }

    /** Each part of a concatenation is written by a task of its own. */
    private static Network concatenated(boolean ofInputs) {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 8);
            Value w = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 8, 3);
            Value v = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 8, 2);
            Value last = ofInputs ? x.matmul(w).sum().plus(v.exp()) : v.exp();
            Value all = g.concat(1, g.op("sin").in("X", w).one("Out"), last, w.exp());
            return Outputs.of("y", x.matmul(all).plus(all.tanh().sum()));
        });
    }

    @Test
    void partsOfConcatenationsAreKept() {
        Network network = concatenated(false);
        assertEquals(1, ImagePasses.count(network, network.main(), stage -> stage.computation() != null, X),
                "only the product");
        Network mixed = concatenated(true);
        assertTrue(ImagePasses.count(mixed, mixed.main(), stage -> stage.computation() != null, X) > 3,
                "one part depends on the input");
    }

    @Test
    void keptConcatenationsFollowTheParameters() {
        requireFollowing(concatenated(false));
        requireFollowing(concatenated(true));
    }

    @Test
    void theyFollowTheParameters() {
        requireFollowing(network());
    }

    /** New tensors, changes in place and sizes that alternate. */
    private static void requireFollowing(Network network) {
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            for (int change = 0; change < 6; change++) {
                long seed = change / 2;
                if (change % 2 == 0) {
                    RandomImages.fill(executor.scope(), network.main(), seed);
                }
                Tensor x = change % 3 == 0 ? Bits.normal(2, 3, 8) : X;
                Bits.assertSame(expected(network, seed, x), run(plan, executor.scope(), network, x),
                        "change " + change);
            }
        }
    }

    /** A plan that trains changes them in place. */
    @Test
    void theyFollowATraining() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 8);
            Value w = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 8, 8);
            Value y = x.matmul(w.tanh());
            g.minimize(y.square().mean(), Sgd.of(0.5));
            return Outputs.of("y", y);
        });
        Program test = network.main().copyForTest();
        String name = ImagePasses.names(network).getFirst();
        VarDesc parameter = network.main().parameters().getFirst();
        try (Executor executor = Executor.builder().threads(1).build();
                Executor plain = Executor.builder().threads(1).without(Pass.LAYOUTS).build()) {
            executor.run(network.startup());
            Plan train = executor.compile(network.main(), Executor.feeds("x"), Executor.fetches(name));
            Plan plan = executor.compile(test, Executor.feeds("x"), Executor.fetches(name));
            Plan check = plain.compile(test, Executor.feeds("x"), Executor.fetches(name));
            Tensor before = Bits.copy(plan.run(X).get(name));
            for (int step = 0; step < 4; step++) {
                train.run(X);
                Scope copy = new Scope();
                copy.setCopy(parameter.name(), executor.scope().get(parameter.name()));
                Tensor now = Bits.copy(plan.run(X).get(name));
                Bits.assertSame(Bits.copy(check.run(copy, X).get(name)), now, "step " + step);
                assertFalse(Bits.same(before, now), "step " + step);
                before = now;
            }
        }
    }

    /** A wrong parameter fails as in a task, and a right one works afterwards. */
    @Test
    void failuresNameTheOperation() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 8);
            Value table = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 4, 8);
            Value row = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 1).cast(DType.INT64);
            return Outputs.of("y", x.plus(g.op("gather").in("X", table).in("Index", row).one("Out")));
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            for (boolean right : new boolean[]{false, true, false, true}) {
                executor.scope().set(network.main().parameters().getLast().name(),
                        Tensor.of(new float[]{right ? 3 : 4}, 1));
                if (right) {
                    run(plan, executor.scope(), network, X);
                } else {
                    String message = String.valueOf(assertThrows(ProgramFailedException.class,
                            () -> run(plan, executor.scope(), network, X)).getMessage());
                    assertTrue(message.contains("(gather, inputs Index=") && message.contains("float32[4, 8]")
                            && message.contains("but is 4"), message);
                }
            }
        }
    }

    /** Results of constants alone are computed by the first run, and stay as they are. */
    @Test
    void resultsOfConstants() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 8);
            Value half = g.constant(Bits.normal(5, 8, 2)).exp();
            return Outputs.of("y", x.matmul(g.concat(1, half, g.op("sin").in("X", half).one("Out"))));
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            for (int i = 0; i < 6; i++) {
                Tensor x = i % 3 == 0 ? Bits.normal(2, 3, 8) : X;
                Bits.assertSame(expected(network, 1, x), run(plan, executor.scope(), network, x), "run " + i);
            }
        }
    }

    /** A run that fails keeps nothing. */
    @Test
    void wrongConstantsFailInEachRun() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 8);
            Value row = g.constant(Tensor.of(new long[]{4}, 1));
            return Outputs.of("y", x.plus(
                    g.op("gather").in("X", g.constant(Bits.normal(5, 4, 8))).in("Index", row).one("Out")));
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            for (int i = 0; i < 3; i++) {
                String message = String.valueOf(assertThrows(ProgramFailedException.class,
                        () -> run(plan, executor.scope(), network, X)).getMessage());
                assertTrue(message.contains("but is 4"), message);
            }
        }
    }

    /** Runs of several threads on scopes of their own do not get the results of others. */
    @Test
    void scopesHaveTheirOwn() throws Exception {
        Network network = network();
        List<Tensor> expected = IntStream.range(0, 3).mapToObj(seed -> expected(network, seed, X)).toList();
        try (Executor executor = Executor.builder().threads(1).build();
                ExecutorService threads = Executors.newFixedThreadPool(3)) {
            Plan plan = plan(executor, network);
            List<Scope> scopes = IntStream.range(0, 3).mapToObj(seed -> {
                Scope scope = new Scope();
                RandomImages.fill(scope, network.main(), seed);
                return scope;
            }).toList();
            List<Future<?>> all = IntStream.range(0, 3).<Future<?>>mapToObj(thread -> threads.submit(() -> {
                for (int i = 0; i < 60; i++) {
                    int seed = (thread + i) % 3;
                    Bits.assertSame(expected.get(seed), run(plan, scopes.get(seed), network, X),
                            "thread " + thread + ", run " + i);
                }
            })).toList();
            for (Future<?> each : all) {
                each.get();
            }
        }
    }
}
