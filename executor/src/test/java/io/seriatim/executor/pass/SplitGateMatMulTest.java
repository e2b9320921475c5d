package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
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
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Gates that are computed one by one are what the parts of their one product are. */
class SplitGateMatMulTest {
    private static final int STEPS = 5;
    private static final int WIDTH = 32;

    /** Networks whose gates are computed one by one, and others of which the pass must keep its hands off. */
    enum Cell {
        /** Four gates a step. */
        LSTM(true),
        /** Weights are the transpose of what is stored, and the bias is of two dimensions. */
        TRANSPOSED(true),
        /** One gate is used as it is. */
        PLAIN_GATE(false),
        /** One gate is read twice. */
        READ_TWICE(false),
        /** The sum is read whole too. */
        READ_WHOLE(false),
        /** What is added up is neither a product nor the same for each row. */
        RESIDUAL(false),
        /** Some columns are in two parts. */
        OVERLAPPING(false),
        /** The library's functions make a number of NaN. */
        RELU(false);

        private final boolean isDivided;

        Cell(boolean isDivided) {
            this.isDivided = isDivided;
        }

        private Value sum(Value x, Value h, Value input, Value state, Value bias) {
            boolean transposed = this == TRANSPOSED;
            Value sum = x.matmul(input, false, transposed).plus(h.matmul(state, false, transposed)).plus(bias);
            return this == RESIDUAL ? sum.plus(sum.tanh()) : sum;
        }

        private Value layers(Graph g, Value x) {
            boolean transposed = this == TRANSPOSED;
            Value input = transposed ? weights(g, 4 * WIDTH, WIDTH) : weights(g, WIDTH, 4 * WIDTH);
            Value state = transposed ? weights(g, 4 * WIDTH, WIDTH) : weights(g, WIDTH, 4 * WIDTH);
            Value bias = transposed ? weights(g, 1, 4 * WIDTH) : weights(g, 4 * WIDTH);
            Value h = x.get(0, 0).zerosLike();
            Value c = h;
            for (int t = 0; t < STEPS; t++) {
                Value sum = sum(x.get(0, t), h, input, state, bias);
                List<Value> gates = sum.split(4, 1);
                Value in = this == RELU ? gates.get(2).relu() : this == PLAIN_GATE ? gates.get(2) : gates.get(2).tanh();
                c = gates.get(1).sigmoid().times(c).plus(gates.get(0).sigmoid().times(in));
                h = gates.get(3).sigmoid().times(c.tanh());
                h = this == READ_TWICE ? h.plus(gates.get(3)) : h;
                h = this == OVERLAPPING ? h.plus(sum.slice(1, WIDTH / 2, WIDTH / 2 + WIDTH).tanh()) : h;
                h = this == READ_WHOLE ? h.plus(sum.meanKeeping(-1)) : h;
            }
            return h;
        }

        Network network() {
            return Network.define(3, g -> {
                Value x = g.data("x", DType.FLOAT32, STEPS, -1, WIDTH);
                Value loss = layers(g, x).square().mean();
                g.minimize(loss, Sgd.of(0.05));
                return Outputs.of("loss", loss);
            });
        }
    }

    private static Value weights(Graph g, long... dims) {
        return g.parameter(ParameterSpec.of(Initializer.normal(0, 0.2)), DType.FLOAT32, dims);
    }

    /** Batches of several sizes. */
    private static Tensor x(int run) {
        return x(run, 3 + run % 2);
    }

    private static Tensor x(int run, int batch) {
        return Bits.normal(run, STEPS, batch, WIDTH);
    }

    private static int count(Executor executor, Network network, int batch, Predicate<Computation> which) {
        executor.run(network.startup());
        Plan plan = RecurrentPasses.plan(executor, network);
        return (int) Task.stages(Internals.compiled(plan, executor.scope(), x(0, batch)).tasks())
                .filter(stage -> stage.computation() != null && which.test(Objects.requireNonNull(stage.computation())))
                .count();
    }

    private static boolean isGate(Computation computation) {
        return computation instanceof MatMul product && !product.postOps().isEmpty()
                && product.postOps().getLast() instanceof PostOp.Apply;
    }

    private static boolean isCopyOrFunction(Computation computation) {
        return computation instanceof Copy || computation instanceof Unary;
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void areProductsWithFunctions(Cell cell) {
        try (Executor with = Executor.builder().build();
                Executor without = Executor.builder().without(Pass.GATES).build()) {
            int copies = count(without, cell.network(), 3, SplitGateMatMulTest::isCopyOrFunction);
            assertEquals(0, count(without, cell.network(), 3, SplitGateMatMulTest::isGate));
            assertEquals(cell.isDivided ? 4 * STEPS : 0, count(with, cell.network(), 3, SplitGateMatMulTest::isGate));
            // Gone are a copy and a function of each gate.
            assertEquals(cell.isDivided ? copies - 8 * STEPS : copies,
                    count(with, cell.network(), 3, SplitGateMatMulTest::isCopyOrFunction));
        }
    }

    /** Parts of a single row lie as they should, and need no copies. */
    @ParameterizedTest
    @CsvSource({"1,0", "2,20", "256,20", "257,0"})
    void areOfFewRows(int batch, int gates) {
        try (Executor executor = Executor.builder().build()) {
            assertEquals(gates, count(executor, Cell.LSTM.network(), batch, SplitGateMatMulTest::isGate));
        }
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void equalTheParts(Cell cell) {
        Network network = cell.network();
        for (int options = 0; options < 8; options++) {
            Executor.Builder one = Executor.builder();
            Executor.Builder other = Executor.builder().without(Pass.GATES);
            for (Executor.Builder each : List.of(one, other)) {
                each.inPlace((options & 1) == 0);
                if ((options & 2) != 0) {
                    PlanProbe.eager(each.threads(2));
                }
                if ((options & 4) != 0) {
                    each.without(Pass.STACKING);
                }
            }
            RecurrentPasses.train(one, other, network.main(), network, List.of(RecurrentPasses.loss(network)), 4,
                    SplitGateMatMulTest::x,
                    cell + ", options " + options);
        }
    }

    @Test
    void equalThePartsOfProgramsThatOverwrite() {
        for (long seed = 0; seed < 12; seed++) {
            Network network = Cell.values()[(int) seed % Cell.values().length].network();
            Program program = RandomNetworks.overwritten(network.main(), seed, 6);
            RecurrentPasses.train(Executor.builder(), Executor.builder().without(Pass.GATES), program, network,
                    List.of(RecurrentPasses.loss(network)), 2, SplitGateMatMulTest::x, "seed " + seed);
        }
    }

    /** What is asked for is computed as a whole. */
    @Test
    void leaveWhatIsWanted() {
        Network network = Cell.LSTM.network();
        List<String> sums = network.main().global().ops().stream()
                .filter(op -> op.type().startsWith("elementwise_add") || op.type().equals("split"))
                .flatMap(op -> op.outputNames().stream()).toList();
        for (String sum : sums.subList(0, 12)) {
            RecurrentPasses.train(Executor.builder(), Executor.builder().without(Pass.GATES), network.main(), network,
                    List.of(sum), 1,
                    SplitGateMatMulTest::x, sum);
        }
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void waitForOneAnother(Cell cell) {
        RecurrentPasses.assertRight(cell.network(), x(0, 3), cell.name());
    }
}
