package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.RandomNetworks;
import io.seriatim.executor.RecurrentPasses;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.MatMul;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Products of the steps of recurrent networks that have become one give what the steps would give, but for rounding.
 */
@Tag("slow")
class BatchTimeStepsTest {
    private static final int STEPS = 9;
    private static final int WIDTH = 8;

    /**
     * Networks that train, and how many products of matrices a step of the training has with the pass: counted by hand.
     */
    enum Cell {
        /**
         * Forwards 1 for the input and one a step for the state, backwards one a step but the first, and 2 gradients.
         */
        LSTM(1 + STEPS + (STEPS - 1) + 2),
        /** As LSTM, three times; but one of the products with the state has a gradient in the first step too. */
        GRU(3 * (1 + STEPS + (STEPS - 1) + 2) + 1),
        /** The second layer reads all of the first before it begins, and its gradient is known before the first's. */
        LAYERS(2 * (1 + STEPS + (STEPS - 1) + 2) + 1),
        /** Each input is multiplied with the same weights twice: in its order and in the other one. */
        BOTH_DIRECTIONS(2 * (1 + STEPS + (STEPS - 1) + 2)),
        /** The input's weights are used for all steps at once too. */
        ANOTHER_SHAPE(1 + STEPS + (STEPS - 1) + 2 + 2),
        /** Without a step in the middle: two that are added up, and two forwards. */
        GAP(2 + (STEPS - 1) + (STEPS - 2) + 2 + 2),
        /**
         * Every second step only: the inputs do not lie one after the other, so that only the gradient of the state's
         * weights is one.
         */
        GAPS(4 * ((STEPS + 1) / 2));

        private final int products;

        Cell(int products) {
            this.products = products;
        }

        private Value layers(Graph g, Value x) {
            return switch (this) {
                case LSTM -> lstm(g, x, weights(g, 4), weights(g, 4), false).getLast();
                case GRU -> gru(g, x);
                case LAYERS ->
                    simple(g, simple(g, steps(x), weights(g, 1), weights(g, 1)), weights(g, 1), weights(g, 1))
                            .getLast();
                case BOTH_DIRECTIONS -> bothDirections(g, x);
                case ANOTHER_SHAPE -> anotherShape(g, x);
                case GAP -> simple(g, without(STEPS / 2, steps(x)), weights(g, 1), weights(g, 1)).getLast();
                case GAPS -> simple(g, every(2, steps(x)), weights(g, 1), weights(g, 1)).getLast();
            };
        }

        Network network() {
            return Network.define(7, g -> {
                Value x = g.data("x", DType.FLOAT32, STEPS, -1, WIDTH);
                Value loss = layers(g, x).square().mean();
                g.minimize(loss, Sgd.of(0.5));
                return Outputs.of("loss", loss);
            });
        }
    }

    private static Value weights(Graph g, int gates) {
        return g.parameter(ParameterSpec.of(Initializer.normal(0, 0.5)), DType.FLOAT32, WIDTH, (long) gates * WIDTH);
    }

    private static Value bias(Graph g, int gates) {
        return g.parameter(ParameterSpec.of(Initializer.constant(0.1)), DType.FLOAT32, (long) gates * WIDTH);
    }

    private static List<Value> steps(Value x) {
        List<Value> steps = new ArrayList<>();
        for (int t = 0; t < STEPS; t++) {
            steps.add(x.get(0, t));
        }
        return steps;
    }

    private static List<Value> every(int nth, List<Value> steps) {
        List<Value> left = new ArrayList<>();
        for (int t = 0; t < steps.size(); t += nth) {
            left.add(steps.get(t));
        }
        return left;
    }

    private static List<Value> without(int step, List<Value> steps) {
        List<Value> left = new ArrayList<>(steps);
        left.remove(step);
        return left;
    }

    private static List<Value> lstm(Graph g, Value x, Value input, Value state, boolean backwards) {
        Value bias = bias(g, 4);
        Value h = x.get(0, 0).zerosLike();
        Value c = h;
        List<Value> all = new ArrayList<>();
        for (Value step : backwards ? steps(x).reversed() : steps(x)) {
            List<Value> gates = step.matmul(input).plus(h.matmul(state)).plus(bias).split(4, 1);
            c = gates.get(1).sigmoid().times(c).plus(gates.get(0).sigmoid().times(gates.get(2).tanh()));
            h = gates.get(3).sigmoid().times(c.tanh());
            all.add(h);
        }
        return all;
    }

    private static Value gru(Graph g, Value x) {
        List<Value> w = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            w.add(weights(g, 1));
        }
        List<Value> b = List.of(bias(g, 1), bias(g, 1), bias(g, 1));
        Value h = x.get(0, 0).zerosLike();
        for (Value step : steps(x)) {
            Value z = step.matmul(w.get(0)).plus(h.matmul(w.get(1))).plus(b.get(0)).sigmoid();
            Value r = step.matmul(w.get(2)).plus(h.matmul(w.get(3))).plus(b.get(1)).sigmoid();
            Value n = step.matmul(w.get(4)).plus(r.times(h).matmul(w.get(5))).plus(b.get(2)).tanh();
            h = z.negate().plus(1).times(n).plus(z.times(h));
        }
        return h;
    }

    private static List<Value> simple(Graph g, List<Value> x, Value input, Value state) {
        Value bias = bias(g, 1);
        Value h = x.getFirst().zerosLike();
        List<Value> all = new ArrayList<>();
        for (Value step : x) {
            h = step.matmul(input).plus(h.matmul(state)).plus(bias).tanh();
            all.add(h);
        }
        return all;
    }

    private static Value bothDirections(Graph g, Value x) {
        Value input = weights(g, 4);
        Value forwards = lstm(g, x, input, weights(g, 4), false).getLast();
        return forwards.plus(lstm(g, x, input, weights(g, 4), true).getLast());
    }

    private static Value anotherShape(Graph g, Value x) {
        Value input = weights(g, 1);
        Value last = simple(g, steps(x), input, weights(g, 1)).getLast();
        return last.plus(x.reshape(-1, WIDTH).matmul(input).tanh().reshape(STEPS, -1, WIDTH).mean(0));
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void becomeOne(Cell cell) {
        Network network = cell.network();
        try (Executor with = Executor.builder().build();
                Executor without = Executor.builder().without(Pass.STACKING).build()) {
            int found = products(with, network, 3);
            assertTrue(products(without, network, 3) > found,
                    "products without the pass " + products(without, network, 3));
            assertEquals(cell.products, found);
        }
    }

    /** The bias of all steps is added to the one product of their inputs. */
    @ParameterizedTest
    @CsvSource({"LSTM,1", "GRU,3", "LAYERS,2", "BOTH_DIRECTIONS,2", "ANOTHER_SHAPE,1", "GAP,2", "GAPS,0"})
    void haveTheBiasOfAllSteps(Cell cell, int biased) {
        Network network = cell.network();
        try (Executor with = Executor.builder().build();
                Executor without = Executor.builder().without(Pass.STACKING).build()) {
            assertEquals(biased, products(with, network, 3, product -> product.bias()));
            assertEquals(0, products(without, network, 3, product -> product.bias()));
        }
    }

    @Test
    void keepTheBiasOfOneStep() {
        Network network = Network.define(7, g -> {
            Value x = g.data("x", DType.FLOAT32, STEPS, -1, WIDTH);
            Value input = weights(g, 1);
            Value state = weights(g, 1);
            List<Value> bias = List.of(bias(g, 1), bias(g, 1));
            Value h = x.get(0, 0).zerosLike();
            for (int t = 0; t < STEPS; t++) {
                h = x.get(0, t).matmul(input).plus(h.matmul(state)).plus(bias.get(t == 3 ? 1 : 0)).tanh();
            }
            return Outputs.of("loss", h.square().mean());
        });
        try (Executor executor = Executor.builder().build()) {
            assertEquals(0, products(executor, network, 3, product -> product.bias()));
        }
        RecurrentPasses.train(Executor.builder(), Executor.builder().without(Pass.STACKING), network.main(), network,
                List.of(RecurrentPasses.loss(network)), 2, BatchTimeStepsTest::x, "two biases");
    }

    private static int products(Executor executor, Network network, int batch) {
        return products(executor, network, batch, _ -> true);
    }

    private static int products(Executor executor, Network network, int batch, Predicate<MatMul> which) {
        executor.run(network.startup());
        return (int) Task
                .stages(Internals.compiled(RecurrentPasses.plan(executor, network), executor.scope(), x(0, batch))
                        .tasks())
                .filter(stage -> stage.computation() instanceof MatMul product && which.test(product)).count();
    }

    /** Batches of several sizes. */
    private static Tensor x(int run) {
        return x(run, 3 + run % 2);
    }

    private static Tensor x(int run, int batch) {
        return Bits.normal(run, STEPS, batch, WIDTH);
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void equalTheSteps(Cell cell) {
        Network network = cell.network();
        for (int options = 0; options < 8; options++) {
            Executor.Builder one = Executor.builder();
            Executor.Builder other = Executor.builder().without(Pass.STACKING);
            for (Executor.Builder each : List.of(one, other)) {
                each.inPlace((options & 1) == 0).memoryPlan((options & 2) == 0);
                if ((options & 4) != 0) {
                    PlanProbe.eager(each.threads(2));
                }
            }
            RecurrentPasses.train(one, other, network.main(), network, List.of(RecurrentPasses.loss(network)), 6,
                    BatchTimeStepsTest::x,
                    cell + ", options " + options);
        }
    }

    /**
     * What is asked for keeps its name and memory: gradients of steps, states, and one of the products that are added
     * up.
     */
    @Test
    void leaveWhatIsWanted() {
        Network network = Cell.LSTM.network();
        List<String> all = network.main().global().ops().stream().flatMap(op -> op.outputNames().stream()).distinct()
                .filter(name -> name.contains("@GRAD") || name.startsWith("tmp_") || name.startsWith("matmul"))
                .toList();
        for (int i = 0; i < all.size(); i += 9) {
            List<String> wanted = all.subList(i, Math.min(i + 2, all.size()));
            Executor.Builder one = Executor.builder();
            if (i % 2 == 0) {
                PlanProbe.eager(one.threads(2));
            }
            RecurrentPasses.train(one, Executor.builder().without(Pass.STACKING), network.main(), network, wanted, 3,
                    BatchTimeStepsTest::x,
                    "fetched " + wanted);
        }
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void waitForOneAnother(Cell cell) {
        RecurrentPasses.assertRight(cell.network(), x(0, 3), cell.name());
    }

    @Test
    void equalTheStepsOfProgramsThatOverwrite() {
        for (long seed = 0; seed < 28; seed++) {
            Network network = Cell.values()[(int) seed % Cell.values().length].network();
            Program program = RandomNetworks.overwritten(network.main(), seed, 6);
            List<String> fetched = new ArrayList<>(List.of(RecurrentPasses.loss(network)));
            Executor.Builder one = Executor.builder();
            if (seed % 3 == 0) {
                PlanProbe.eager(one.threads(2));
            }
            RecurrentPasses.train(one, Executor.builder().without(Pass.STACKING), program, network, fetched, 2,
                    BatchTimeStepsTest::x,
                    "seed " + seed);
        }
    }
}
