package io.seriatim.graph.parallel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The programs that several places run: names, places, order, and what cannot be made such a program. */
class DataParallelTest {
    private static final List<Place> TWO = List.of(Place.sim(0), Place.sim(1));

    private static Network network(UnaryOperator<Value> body) {
        return network((_, x) -> body.apply(x));
    }

    private static Network network(BiFunction<Graph, Value, Value> body) {
        return Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 4);
            Value loss = g.linear(body.apply(g, g.linear(x, 6)), 1).square().mean();
            g.minimize(loss, Momentum.of(0.1).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss);
        });
    }

    private static DataParallel parallel(Network network, List<Place> places, String... fetches) {
        return DataParallel.of(network.main(), network.startup(), List.of("x"), network.outputs().get("loss").name(),
                List.of(fetches),
                places);
    }

    private static String refused(Runnable made) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, made::run).getMessage());
    }

    /** Why the program is refused after a change. */
    private static String refused(Consumer<Program> change) {
        Network network = network(Value::tanh);
        Program main = network.main().copy();
        change.accept(main);
        return refused(() -> DataParallel.of(main, network.startup(), List.of("x"),
                network.outputs().get("loss").name(), List.of(), TWO));
    }

    private static String device(OpDesc op) {
        return op.attribute("op_device") instanceof Attribute.Text(String text) ? text : "";
    }

    @Test
    void eachOperationIsAtEachPlaceWithVariablesOfItsOwn() {
        Network network = network(Value::tanh);
        DataParallel parallel = parallel(network, TWO);
        List<OpDesc> ops = parallel.main().global().ops();
        for (OpDesc op : network.main().global().ops()) {
            assertEquals(1,
                    ops.stream().filter(each -> device(each).equals("sim:0") && each.outputs().equals(op.outputs()))
                            .count(),
                    op.toString());
            UnaryOperator<String> rename = name -> ReplicaNames.suffixed(name, "@sim:1");
            OpDesc other = op.renamed(rename, rename);
            assertEquals(1,
                    ops.stream().filter(each -> device(each).equals("sim:1") && each.outputs().equals(other.outputs()))
                            .count(),
                    other.toString());
        }
        ops.forEach(
                op -> op.outputNames().forEach(name -> assertTrue(parallel.main().global().var(name) != null, name)));
        assertEquals(List.of(List.of("x"), List.of("x@sim:1")), parallel.feeds());
        assertEquals(List.of("x", "x@sim:1"), parallel.feedNames());
        assertTrue(network.main().global().ops().stream().allMatch(op -> device(op).isEmpty()),
                "the original is as it was");
        assertTrue(ops.stream().filter(op -> op.type().equals("momentum"))
                .allMatch(op -> op.input("LearningRate").getFirst().startsWith("learning_rate")
                        && !op.input("LearningRate").getFirst().contains("@")));
    }

    @Test
    void allPlacesReadTheMeanUntilTheyOverwriteIt() {
        DataParallel parallel = parallel(network(Value::tanh), TWO);
        for (OpDesc op : parallel.main().global().ops()) {
            String suffix = device(op).equals("sim:1") ? "@sim:1" : "";
            if (op.type().equals("squared_l2_norm")) {
                assertTrue(op.input("X").getFirst().endsWith("@GRAD@mean"), op.toString());
            } else if (op.type().equals("elementwise_mul") && op.output("Out").getFirst().contains("@GRAD")) {
                assertTrue(
                        op.input("X").getFirst().endsWith("@GRAD@mean")
                                && op.output("Out").getFirst().endsWith(suffix + "@GRAD"),
                        op.toString());
            } else if (op.type().equals("momentum")) {
                assertTrue(op.input("Grad").getFirst().endsWith(suffix + "@GRAD"), op.toString());
            }
        }
    }

    @Test
    void updatesComeInTheOrderOfTheirGradients() {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 4);
            for (int i = 0; i < 12; i++) {
                x = g.linear(x, 4).tanh();
            }
            Value loss = x.square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        List<String> updated = new ArrayList<>();
        List<String> reduced = new ArrayList<>();
        for (OpDesc op : parallel(network, TWO).main().global().ops()) {
            if (op.type().equals("sgd") && device(op).equals("sim:0")) {
                updated.add(op.input("Grad").getFirst());
            } else if (op.outputNames().stream().anyMatch(name -> name.endsWith("@GRAD@mean"))) {
                reduced.add(op.output("Out").getFirst());
            }
        }
        assertEquals(24, reduced.size());
        assertEquals(reduced, updated);
    }

    @Test
    void placesThatAreOneShareParametersAndTheOptimizer() {
        Network network = network(Value::tanh);
        DataParallel parallel = parallel(network, List.of(Place.CPU, Place.CPU, Place.CPU));
        assertEquals(List.of("x", "x@cpu#2", "x@cpu#3"), parallel.feedNames());
        assertEquals(network.main().persistables(), parallel.main().persistables());
        assertEquals(4, parallel.main().global().ops().stream().filter(op -> op.type().equals("momentum")).count());
        assertEquals(network.startup().toString(), parallel.startup().toString());
        assertEquals(0, parallel.broadcast().global().ops().size());
    }

    @Test
    void aProgramOfOnePlaceStaysAsItIs() {
        Network network = network(Value::tanh);
        String loss = network.outputs().get("loss").name();
        DataParallel parallel = parallel(network, List.of(Place.sim(0)), loss);
        assertEquals(List.of(loss), parallel.fetches());
        assertEquals(network.main().global().ops().stream().map(op -> op.with("op_device", "sim:0")).toList(),
                parallel.main().global().ops());
        Tensor batch = Tensor.allocate(DType.FLOAT32, 3, 4);
        assertEquals(batch.shape(), parallel.split(batch)[0].shape());
    }

    @Test
    void randomOperationsHaveSeedsOfTheirOwn() {
        Network network = Network.define(5, g -> {
            Value loss = g.dropout(g.linear(g.data("x", DType.FLOAT32, -1, 4), 3), 0.5).square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        List<Integer> seeds = parallel(network, List.of(Place.sim(0), Place.sim(1), Place.sim(2))).main().global().ops()
                .stream()
                .filter(op -> op.type().equals("dropout"))
                .map(op -> op.attribute("seed") instanceof Attribute.Int(int seed) ? seed : 0)
                .toList();
        assertEquals(3, seeds.stream().filter(seed -> seed != 0).distinct().count(), seeds.toString());
        assertEquals(0, Replicas.seed(0, 2));
        for (int replica = 1; replica < 64; replica++) {
            assertNotEquals(7, Replicas.seed(7, replica));
        }
    }

    @Test
    void theProgramIsTheSameEachTime() {
        Network network = network(Value::tanh);
        assertEquals(ProgramFiles.hash(parallel(network, TWO).main()),
                ProgramFiles.hash(parallel(network, TWO).main()));
    }

    @Test
    void batchesAreSplitByRowsAndWhatHasNoneIsGivenWhole() {
        Network network = Network.define(g -> {
            Value scale = g.data("scale", DType.FLOAT32, 1);
            Value loss = g.linear(g.data("x", DType.FLOAT32, -1, 2), 1).times(scale).square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        DataParallel parallel = DataParallel.of(network.main(), network.startup(), List.of("scale", "x"),
                network.outputs().get("loss").name(), List.of(), TWO);
        assertEquals(List.of("scale", "x", "x@sim:1"), parallel.feedNames());
        Tensor scale = Tensor.of(new float[]{2}, 1);
        Tensor x = Tensor.of(new float[]{0, 1, 2, 3, 4, 5, 6, 7}, 4, 2);
        Tensor[] parts = parallel.split(scale, x);
        assertEquals(3, parts.length);
        assertArrayEquals(new double[]{0, 1, 2, 3}, parts[1].toDoubleArray());
        assertArrayEquals(new double[]{4, 5, 6, 7}, parts[2].toDoubleArray());
        assertEquals(
                "The rows of a batch are split evenly among 2 places, but feed 'x' is float32 [3, 2]; choose a "
                        + "batch size that 2 divides, "
                        + "and leave the rest of an epoch out",
                refused(() -> parallel.split(scale, Tensor.allocate(DType.FLOAT32, 3, 2))));
        assertEquals("The feeds are [scale, x], but there are 1 tensors to split", refused(() -> parallel.split(x)));
    }

    private static Consumer<Program> inBlock(OpDesc op) {
        return main -> {
            Block inner = main.addBlock(0, null);
            inner.add(op);
            main.global().add(0,
                    OpDesc.of("while").in("X").in("Condition", "c").out("Out").out("StepScopes")
                            .attr("sub_block", inner).attr("op_role", 0).build());
        };
    }

    /** A place that occurs twice has its parameters once, so that gradients in blocks keep their names. */
    @Test
    void eachPlaceHasBlocksOfItsOwn() {
        Network network = network((g, x) -> g.whileLoop(v -> List.of(v.getFirst().lessThan(3)),
                v -> List.of(v.getFirst().plus(1), g.linear(v.get(1), 6).tanh()), g.full(DType.INT64, 0, 1), x)
                .get(1));
        Program main = network.main();
        int count = main.blocks().size();
        assertEquals(3, count, "the loop's block and that of its gradient");
        for (String other : List.of("cpu", "sim:0")) {
            Program parallel = parallel(network, List.of(Place.CPU, Place.parse(other))).main();
            String suffix = other.equals("cpu") ? "@cpu#2" : "@sim:0";
            assertEquals(2 * count - 1, parallel.blocks().size());
            Set<Integer> run = new TreeSet<>();
            parallel.blocks().forEach(block -> block.ops()
                    .forEach(op -> op.attributes().forEach(each -> run.addAll(each.value().blocks()))));
            assertEquals(Set.of(1, 2, 3, 4), run);
            Set<String> shared = new TreeSet<>();
            for (int i = 1; i < count; i++) {
                Block first = parallel.block(i);
                Block second = parallel.block(i + count - 1);
                assertEquals(first.ops().size(), second.ops().size());
                assertEquals(first.vars().size(), second.vars().size());
                for (int k = 0; k < first.ops().size(); k++) {
                    assertEquals(other, device(second.ops().get(k)));
                    List<String> before = new ArrayList<>(first.ops().get(k).inputNames());
                    before.addAll(first.ops().get(k).outputNames());
                    List<String> names = new ArrayList<>(second.ops().get(k).inputNames());
                    names.addAll(second.ops().get(k).outputNames());
                    for (int m = 0; m < names.size(); m++) {
                        if (names.get(m).equals(before.get(m))) {
                            shared.add(names.get(m).replace("@GRAD", ""));
                        } else {
                            assertTrue(names.get(m).contains(suffix), names.get(m));
                        }
                    }
                }
            }
            shared.remove("@EMPTY@");
            Set<String> parameters = new TreeSet<>(main.parameters().stream().map(VarDesc::name).toList());
            assertTrue(other.equals("cpu") ? parameters.containsAll(shared) : shared.isEmpty(), shared.toString());
            OpDesc gradient = parallel.global().ops().stream()
                    .filter(op -> op.type().equals("while_grad") && device(op).equals(other)).reduce((a, b) -> b)
                    .orElseThrow();
            assertTrue(gradient.attribute("original_output_grad") instanceof Attribute.Texts(List<String> texts)
                    && !texts.isEmpty() && texts.stream().allMatch(text -> text.endsWith(suffix + "@GRAD")),
                    gradient.toString());
        }
    }

    @Test
    void whatCannotBeReplicatedIsRefused() {
        String collective = refused(inBlock(OpDesc.of("c_allreduce_sum").in("X", "x").out("Out", "x").build()));
        assertTrue(collective.startsWith("A program of several places has each operation at each, but "
                + "'c_allreduce_sum' (outputs [x]) in block 1, which 'while' runs, communicates already"), collective);
        assertTrue(collective.contains("no collective in loops and branches"), collective);
        String update = refused(inBlock(OpDesc.of("sgd").in("Param", "w").in("Grad", "g").in("LearningRate", "r")
                .out("ParamOut", "w").attr("op_role", 2).build()));
        assertTrue(update.contains("'sgd' (outputs [w]) in block 1, which 'while' runs, belongs to the optimizer"),
                update);
        assertTrue(update.contains("move it behind the loop or branch"), update);
        assertTrue(
                refused(main -> main.global().add(0, OpDesc.of("c_allreduce_sum").in("X", "x").out("Out", "x").build()))
                        .contains("'c_allreduce_sum' (outputs [x]) communicates already"));
        assertTrue(refused(main -> main.global().set(1, main.global().ops().get(1).with("op_device", "gpu:1")))
                .contains("has a place already, 'gpu:1'"));
        assertTrue(refused(main -> main.global()
                .setOps(main.global().ops().stream().filter(op -> !Replication.isUpdate(op)).toList()))
                .contains("has no optimizer"));
        assertTrue(refused(main -> main.global().put(main.global().get("x").with(VarType.dense(DType.FLOAT32, 8, 4))))
                .contains("of [x] none is; declare one with -1 rows"));
        Network network = network(Value::tanh);
        assertTrue(refused(
                () -> parallel(new Network(parallel(network, TWO).main(), network.startup(), network.outputs(),
                        network.schedules()), TWO))
                .contains("has a place already"));
        assertEquals("A program runs on one place or more, but there is none",
                refused(() -> parallel(network, List.of())));
    }

    /** Each place would add its own gradients to what only it has, and the replicas would part. */
    @Test
    void gradientsAreNotAccumulatedInWhatOutlivesRuns() {
        String message = refused(main -> {
            Block block = main.global();
            List<OpDesc> ops = new ArrayList<>(block.ops());
            int update = 0;
            while (!Replication.isUpdate(ops.get(update))) {
                update++;
            }
            String gradient = ops.get(update - 1).outputNames().getFirst();
            block.put(VarDesc.of("merged", block.get(gradient).type()).persistent());
            block.put(VarDesc.of("mean", block.get(gradient).type()));
            ops.add(update, OpDesc.of("sum").in("X", gradient, "merged").out("Out", "merged")
                    .attr(Roles.ATTRIBUTE, Roles.BACKWARD).build());
            ops.add(update + 1, OpDesc.of("scale").in("X", "merged").out("Out", "mean").attr("scale", 0.5f)
                    .attr(Roles.ATTRIBUTE, Roles.OPTIMIZE).build());
            block.setOps(ops);
        });
        assertTrue(message.contains("'sum' of backward writes 'merged', which outlives runs and which 'scale'"),
                message);
    }

    @Test
    void aTruthValueIsNotFetched() {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 4);
            Value loss = g.linear(x, 6).square().mean();
            Value small = loss.lessThan(1);
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss, "small", small);
        });
        assertTrue(refused(() -> parallel(network, TWO, network.outputs().get("small").name()))
                .contains("is a truth value; cast it"));
    }
}
