package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanCheck;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.PlanView;
import io.seriatim.executor.RandomNetworks;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transposes, splits, slices, stacks and concatenations cost nothing, and results stay the same to the bit. */
class ViewsTest {
    private static final int STEPS = 2;

    private static List<Supplier<Executor.Builder>> executors() {
        return List.of(Executor::builder, () -> PlanProbe.eager(Executor.builder().threads(2)),
                () -> PlanProbe.eager(Executor.builder().threads(3)).inPlace(false),
                () -> PlanProbe.eager(Executor.builder().threads(2)).memoryPlan(false));
    }

    /** What is copied by the plan: the types of the operations. What only repeats elements is no view. */
    private static List<String> copies(CompiledPlan plan) {
        return plan.tasks().stream()
                .flatMap(task -> task instanceof Task.Compute compute
                        ? compute.stages().stream()
                        : List.<Stage>of().stream())
                .filter(stage -> stage.computation() instanceof Copy
                        && isMove(stage.inputs().getFirst(), stage.outputs().getFirst()))
                .map(stage -> stage.access().op().type()).toList();
    }

    private static boolean isMove(@Nullable Arg in, @Nullable Arg out) {
        return in != null && in.spec().dtype() == Objects.requireNonNull(out).spec().dtype()
                && Arrays.stream(in.spec().strides()).noneMatch(stride -> stride == 0);
    }

    private static List<Tensor> run(Executor.Builder builder, Program startup, Program main, Map<String, Tensor> fed,
            List<String> fetched,
            List<String> copies, String where) {
        List<Tensor> found = new ArrayList<>();
        try (Executor executor = builder.build()) {
            executor.run(startup);
            Plan plan = executor.compile(main, new Feeds(List.copyOf(fed.keySet())), new Fetches(fetched));
            Tensor[] values = fed.values().toArray(Tensor[]::new);
            CompiledPlan specialisation = Internals.compiled(plan, executor.scope(), values);
            PlanCheck.assertRight(specialisation,
                    specialisation.streams().isHostOnly() && Internals.options(executor).inOrder(),
                    where);
            copies.addAll(copies(specialisation));
            for (int i = 0; i < STEPS; i++) {
                Results results = plan.run(values);
                fetched.forEach(name -> found.add(Bits.copy(Bits.onHost(results.get(name)))));
            }
            main.persistables()
                    .forEach(each -> found
                            .add(Bits.copy(Bits.onHost(Objects.requireNonNull(executor.scope().get(each.name()))))));
        }
        return found;
    }

    /** Runs with and without views, compares, and returns what one thread still copies. */
    private static List<String> copiesLeft(Program startup, Program main, Map<String, Tensor> fed, List<String> fetched,
            String where) {
        List<String> left = new ArrayList<>();
        for (int i = 0; i < executors().size(); i++) {
            Supplier<Executor.Builder> executor = executors().get(i);
            List<String> before = new ArrayList<>();
            List<String> own = new ArrayList<>();
            List<Tensor> expected = run(executor.get().without(Pass.VIEWS), startup, main, fed, fetched, before, where);
            List<Tensor> found = run(executor.get(), startup, main, fed, fetched, own, where);
            for (int k = 0; k < expected.size(); k++) {
                Bits.assertSame(expected.get(k), found.get(k), where + ", executor " + i + ", result " + k);
            }
            left = i == 0 ? own : left;
            assertTrue(i > 0 || own.size() <= before.size(), where);
        }
        return left;
    }

    private static List<String> copiesLeft(Network network, Map<String, Tensor> fed) {
        return copiesLeft(network.startup(), network.main(), fed,
                network.outputs().values().values().stream().map(Value::name).toList(),
                "");
    }

    private static Tensor doubles(long seed, long... dims) {
        Random random = new Random(seed);
        long size = Arrays.stream(dims).reduce(1, (a, b) -> a * b);
        return Tensor.of(DType.FLOAT64, random.doubles(size, -1, 1).toArray(), dims);
    }

    private static Value linear(Graph g, Value x, int width) {
        Value weights = g.parameter(ParameterSpec.of(Initializer.uniform(-0.1, 0.1)), x.dtype(), x.dim(-1), width);
        return x.matmul(weights);
    }

    private static Network of(Function<Graph, Outputs> graph) {
        return Network.define(3, graph);
    }

    private static Value attention(Graph g, Value x, int heads, boolean masked, boolean sliced) {
        int batch = (int) x.dim(0);
        int length = (int) x.dim(1);
        int width = (int) x.dim(2);
        Value all = g.linear(x, 3L * width).reshape(batch, length, 3, heads, width / heads).transpose(2, 0, 3, 1, 4);
        List<Value> qkv = sliced ? List.of(all.get(0, 0), all.get(0, 1), all.get(0, 2)) : all.unstack(0);
        Value scores = qkv.get(0).times(0.5).matmul(qkv.get(1), false, true);
        Value mask = g.constant(Bits.floats(-1)).expand(length, length).triangle(false, 1).times(1e9);
        Value weights = (masked ? scores.plus(mask) : scores).softmax(-1);
        return g.linear(weights.matmul(qkv.get(2)).transpose(0, 2, 1, 3).reshape(batch, length, width), width);
    }

    @Test
    void attentionCopiesNothingForwardsOrBackwards() {
        for (int i = 0; i < 4; i++) {
            boolean masked = i % 2 == 1;
            boolean sliced = i >= 2;
            Network network = of(g -> {
                Value y = attention(g, g.data("x", DType.FLOAT32, 3, 16, 64), 4, masked, sliced);
                Value loss = attention(g, y, 2, masked, sliced).square().mean();
                g.minimize(loss, Sgd.of(0.1));
                return Outputs.of("loss", loss, "y", y);
            });
            assertEquals(List.of(), copiesLeft(network, Map.of("x", Bits.normal(1, 3, 16, 64))));
        }
    }

    private static Value mixed(Value... parts) {
        Value sum = parts[0].tanh();
        for (int i = 1; i < parts.length; i++) {
            sum = sum.times(parts[i].sigmoid());
        }
        return sum;
    }

    /** The tasks that add up gradients. */
    private static long sums(Program program, Set<Pass> without, List<String> fetched) {
        Executor.Builder builder = Executor.builder().threads(1);
        without.forEach(builder::without);
        try (Executor executor = builder.build()) {
            return Internals.compiled(PlanView.of(executor, program, 1, fetched)).tasks().stream()
                    .filter(task -> task.operations().stream().allMatch(access -> access.op().type().equals("sum")))
                    .count();
        }
    }

    @Test
    void gradientsOfSlicesAreWrittenIntoTheirSum() {
        Map<String, Function<Value, Value>> cuts = Map.of("all of it",
                x -> mixed(x.get(1, 0), x.get(1, 1), x.get(1, 2)), "a part",
                x -> mixed(x.get(1, 2), x.get(1, 0)), "twice the same",
                x -> mixed(x.get(1, 1), x.get(1, 2), x.get(1, 1)), "overlapping",
                x -> mixed(x.slice(1, 0, 2), x.slice(1, 1, 3)));
        cuts.forEach((name, cut) -> {
            Network network = of(g -> {
                Value loss = cut.apply(linear(g, g.data("x", DType.FLOAT32, 4, 64), 192).reshape(4, 3, 64)).mean();
                g.minimize(loss, Sgd.of(0.1));
                return Outputs.of("loss", loss);
            });
            List<String> fetched = network.outputs().values().values().stream().map(Value::name).toList();
            copiesLeft(network.startup(), network.main(), Map.of("x", Bits.normal(1, 4, 64)), fetched, name);
            boolean apart = name.equals("all of it") || name.equals("a part");
            assertEquals(1, sums(network.main(), Set.of(Pass.VIEWS), fetched), name);
            assertEquals(apart ? 0 : 1, sums(network.main(), Set.of(), fetched), name);
        });
    }

    @Test
    void aRecurrentCellReadsItsGatesWhereTheyAreAndWritesTheirGradientsThere() {
        Network network = of(g -> {
            Value x = g.data("x", DType.FLOAT64, 4, 8, 32);
            Value h = x.get(0, 0);
            Value c = h;
            for (Value step : x.unstack(0)) {
                List<Value> gates = linear(g, g.concat(1, step, h), 128).split(4, 1);
                c = c.times(gates.get(0).sigmoid()).plus(gates.get(1).sigmoid().times(gates.get(2).tanh()));
                h = gates.get(3).sigmoid().times(c.tanh());
            }
            Value loss = h.mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss, "c", c);
        });
        copiesLeft(network, Map.of("x", doubles(1, 4, 8, 32)));
        Network wide = of(g -> {
            List<Value> gates = linear(g, g.data("x", DType.FLOAT64, 4, 8), 256).split(4, 1);
            Value c = gates.get(0).sigmoid().times(gates.get(1).tanh());
            Value loss = gates.get(2).sigmoid().times(c).times(gates.get(3)).mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        assertEquals(List.of(), copiesLeft(wide, Map.of("x", doubles(1, 4, 8))));
    }

    @Test
    void partsAreReadWhereTheyAre() {
        Network network = of(g -> {
            Value x = g.data("x", DType.FLOAT64, 4, 6, 80);
            Value y = g.data("y", DType.FLOAT64, 4, 3, 80);
            Value last = x.slice(1, 3, 6);
            List<Value> halves = x.transpose(1, 0, 2).split(2, 0);
            Value both = x.get(1, 2).tanh().sum()
                    .plus(x.transpose(1, 0, 2).slice(0, 1, 3).transpose(1, 0, 2).slice(1, 1, 2).tanh().sum());
            return Outputs.of("a", last.times(y), "b", halves.get(0).plus(halves.get(1)), "both", both);
        });
        assertEquals(List.of(), copiesLeft(network, Map.of("x", doubles(1, 4, 6, 80), "y", doubles(2, 4, 3, 80))));
    }

    @Test
    void partsAreWrittenWhereTheyGo() {
        Network network = of(g -> {
            Value x = g.data("x", DType.FLOAT32, 8, 16);
            Value a = g.linear(x, 24);
            Value joined = g.concat(1, a, g.linear(x.tanh(), 40), x.matmul(g.linear(x, 16), false, true));
            Value stacked = g.stack(0, g.linear(x, 16), g.linear(x, 16), g.linear(x, 16));
            Value turned = x.reshape(8, 4, 4).matmul(g.linear(x, 32).reshape(8, 4, 8)).transpose(1, 0, 2);
            return Outputs.of("a", joined.matmul(joined, false, true), "b", stacked.softmax(0), "c",
                    turned.softmax(-1));
        });
        assertEquals(List.of(), copiesLeft(network, Map.of("x", Bits.normal(1, 8, 16))));
    }

    @Test
    void whatIsWantedOrReadByOthersIsCopied() {
        Network network = of(g -> {
            Value x = g.data("x", DType.FLOAT64, 4, 160);
            List<Value> halves = x.tanh().split(2, 1);
            Value sums = linear(g, halves.get(0), 64);
            Value joined = g.concat(1, sums, linear(g, halves.get(1), 64));
            return Outputs.of("half", halves.get(0), "sums", sums, "y",
                    joined.tanh().sum().plus(halves.get(1).exp().sum()));
        });
        List<String> left = copiesLeft(network, Map.of("x", doubles(1, 4, 160)));
        assertTrue(left.contains("split") && left.contains("concat"), left::toString);
    }

    @Test
    void anOriginalThatIsChangedWhereItIsIsCopied() {
        Network network = of(g -> {
            Value original = g.data("x", DType.FLOAT32, 4, 160).tanh();
            List<Value> halves = original.split(2, 1);
            return Outputs.of("later", halves.get(0).matmul(halves.get(1), false, true), "original", original.exp());
        });
        List<String> fetched = network.outputs().values().values().stream().map(Value::name).toList();
        Map<String, Tensor> fed = Map.of("x", Bits.normal(1, 4, 160));
        assertEquals(List.of(), copiesLeft(network.startup(), network.main(), fed, fetched, "as it is"));
        Program main = network.main().copy();
        Block block = main.global();
        int split = types(block).indexOf("split");
        block.add(split + 1, changing(block.ops().get(split - 1).outputNames().getFirst()));
        assertEquals(List.of("split", "split"),
                copiesLeft(network.startup(), main, fed, fetched, "changed before it is read"));
    }

    /** An operation that is not in place copies its input, and then writes a part of the copy. */
    @ParameterizedTest
    @EnumSource(names = {"VIEWS", "SIMPLIFICATION", "CHANNELS_LAST"})
    void aCopyThatIsChangedIsNone(Pass without) {
        Network network = of(g -> {
            Value x = g.data("x", DType.FLOAT32, 3, 160);
            Value turned = x.reshape(160, 3).transpose(1, 0);
            List<Value> changed = Stream.of(x, x.tanh(), turned)
                    .map(each -> g.op("set_value").in("Input", each).attr("axes", new long[]{0})
                            .attr("starts", new long[]{0}).attr("ends", new long[]{1}).attr("steps", new long[]{1})
                            .attr("shape", new long[]{1})
                            .attr("dtype", 5)
                            .attr("values", new Attribute.Scalars(List.of(new Attribute.ScalarNumber.OfDouble(0.25))))
                            .one("Out"))
                    .toList();
            return Outputs.of("product", changed.get(1).matmul(changed.get(0), false, true), "turned",
                    changed.get(2).reshape(6, 80).transpose(1, 0), "tanh", changed.get(2).tanh());
        });
        List<String> fetched = network.outputs().values().values().stream().map(Value::name).toList();
        Map<String, Tensor> fed = Map.of("x", Bits.normal(1, 3, 160));
        Map<String, Tensor> expected = Interpreter.of(Kernels.system()).run(network.main(), fed, fetched);
        for (Supplier<Executor.Builder> executor : executors()) {
            List<Tensor> found = run(executor.get().without(without), network.startup(), network.main(), fed, fetched,
                    new ArrayList<>(),
                    "");
            for (int i = 0; i < found.size(); i++) {
                String name = fetched.get(i % fetched.size());
                Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(i), name);
            }
        }
    }

    /** Its first row becomes something else. */
    private static OpDesc changing(String name) {
        return OpDesc.of("set_value").in("Input", name).out("Out", name).attr("axes", new long[]{0})
                .attr("starts", new long[]{0})
                .attr("ends", new long[]{1}).attr("steps", new long[]{1}).attr("decrease_axes", new long[0])
                .attr("none_axes", new long[0])
                .attr("shape", new long[]{1}).attr("dtype", 5).attr("fp32_values", new float[]{0.25f}).build();
    }

    private static List<String> types(Block block) {
        return block.ops().stream().map(OpDesc::type).toList();
    }

    @Test
    void partsWithoutElementsChangeNothing() {
        Network network = of(g -> {
            Value x = g.data("x", DType.FLOAT64, -1, 160);
            Value whole = x.tanh();
            List<Value> halves = whole.split(2, 1);
            Value joined = g.concat(0, halves.get(0), halves.get(1).exp());
            return Outputs.of("y", joined.tanh(), "z", g.concat(0, x, x.exp()).transpose(1, 0).exp(), "whole", whole);
        });
        for (int rows : new int[]{0, 1, 3}) {
            copiesLeft(network, Map.of("x", doubles(1, rows, 160)));
        }
    }

    @Test
    void onOtherPlacesTheResultsAreTheSame() {
        Network network = of(g -> {
            Value y = attention(g, g.data("x", DType.FLOAT32, 3, 8, 64), 4, true, false);
            Value loss = y.mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss, "y", y);
        });
        List<String> fetched = network.outputs().values().values().stream().map(Value::name).toList();
        Map<String, Tensor> fed = Map.of("x", Bits.normal(1, 3, 8, 64));
        for (Program main : List.of(network.main(), RandomNetworks.placed(network.main(), 5, "cpu", "sim:0"))) {
            for (Place place : List.of(Place.CPU, Place.sim(0))) {
                String where = place.toString();
                List<Tensor> expected = run(Executor.builder().place(place).without(Pass.VIEWS), network.startup(),
                        main, fed, fetched,
                        new ArrayList<>(), where);
                List<Tensor> found = run(Executor.builder().place(place), network.startup(), main, fed, fetched,
                        new ArrayList<>(), where);
                for (int i = 0; i < expected.size(); i++) {
                    Bits.assertSame(expected.get(i), found.get(i), where);
                }
            }
        }
    }

    private static Value next(Graph g, Random random, List<Value> values) {
        Value a = values.get(random.nextInt(values.size()));
        Value b = values.get(random.nextInt(values.size()));
        // All values are of [4, 6, 64].
        return switch (random.nextInt(14)) {
            case 0 -> a.plus(b);
            case 1 -> a.times(b).tanh();
            case 2 -> a.transpose(1, 0, 2).plus(b.transpose(1, 0, 2)).transpose(1, 0, 2);
            case 3 -> g.concat(1, a.slice(1, 0, 2), b.slice(1, 2, 6));
            case 4 -> g.concat(0, a.slice(0, 3, 4), b.slice(0, 0, 3)).sigmoid();
            case 5 -> g.concat(2, a.split(2, 2).get(random.nextInt(2)), b.split(2, 2).get(random.nextInt(2)));
            case 6 -> g.stack(random.nextInt(2), a.unstack(0).toArray(Value[]::new)).reshape(4, 6, 64);
            case 7 ->
                linear(g, a, 128).reshape(4, 6, 2, 64).transpose(2, 0, 1, 3).unstack(0).get(random.nextInt(2)).tanh();
            case 8 -> a.matmul(b, false, true).softmax(-1).matmul(b);
            case 9 -> a.reshape(4, 6, 4, 16).transpose(0, 2, 1, 3).matmul(b.reshape(4, 6, 4, 16).transpose(0, 2, 3, 1))
                    .softmax(-1)
                    .matmul(b.reshape(4, 6, 4, 16).transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3).reshape(4, 6, 64);
            case 10 -> g.stack(1, a.get(1, 0), b.get(1, 1), a.get(1, 2).exp().sigmoid(), b.get(1, 3), a.get(1, 4),
                    b.get(1, 5));
            case 11 -> g
                    .concat(0, a.transpose(1, 0, 2).split(3, 0).get(1).transpose(1, 0, 2), b.slice(1, 4, 6),
                            a.slice(1, 0, 2))
                    .reshape(3, 4, 2, 64)
                    .transpose(1, 0, 2, 3).reshape(4, 6, 64);
            case 12 -> linear(g, a.tanh(), 64);
            default -> a.max(b).relu();
        };
    }

    private static Network random(long seed, int operations, DType dtype) {
        Random random = new Random(seed);
        return Network.define(seed + 1, g -> {
            List<Value> values = new ArrayList<>(List.of(linear(g, g.data("x", dtype, 4, 6, 64), 64)));
            for (int i = 0; i < operations; i++) {
                values.add(next(g, random, values));
            }
            Value loss = g.addAll(values.subList(values.size() - 4, values.size()).toArray(Value[]::new)).mean();
            if (random.nextBoolean()) {
                g.minimize(loss, Sgd.of(0.1));
            }
            return Outputs.of("loss", loss, "last", values.getLast(), "any", values.get(random.nextInt(values.size())));
        });
    }

    /** A copy of a program with operations that change variables of float32 where they are. */
    private static Program changed(Program program, long seed) {
        Random random = new Random(seed);
        Program copy = program.copy();
        Block block = copy.global();
        for (int i = 0; i < 3; i++) {
            int at = 1 + random.nextInt(block.ops().size());
            Set<String> known = new TreeSet<>(
                    block.ops().subList(0, at).stream().flatMap(op -> op.outputNames().stream()).toList());
            known.removeIf(name -> block.var(name) == null || !Arrays.equals(new long[]{4, 6, 64}, dims(block, name)));
            if (!known.isEmpty()) {
                String name = List.copyOf(known).get(random.nextInt(known.size()));
                block.add(at, changing(name));
            }
        }
        return copy;
    }

    private static long[] dims(Block block, String name) {
        return block.get(name).type() instanceof VarType.Dense ? block.get(name).tensor().shape() : new long[0];
    }

    @Test
    void randomProgramsEqualTheInterpreter() {
        int saved = 0;
        for (long seed = 0; seed < 18; seed++) {
            DType dtype = seed % 3 == 0 ? DType.FLOAT32 : DType.FLOAT64;
            Network network = random(seed, 12, dtype);
            Program main = seed % 6 == 3 ? changed(network.main(), seed) : network.main();
            List<String> fetched = network.outputs().values().values().stream().map(Value::name).distinct().toList();
            Tensor x = dtype == DType.FLOAT32 ? Bits.normal(seed, 4, 6, 64) : doubles(seed, 4, 6, 64);
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            List<Tensor> expected = new ArrayList<>();
            for (int i = 0; i < STEPS; i++) {
                Map<String, Tensor> results = interpreter.run(main, Map.of("x", x), fetched);
                fetched.forEach(name -> expected.add(Bits.copy(Objects.requireNonNull(results.get(name)))));
            }
            List<String> all = new ArrayList<>();
            run(Executor.builder().without(Pass.VIEWS), network.startup(), main, Map.of("x", x), fetched, all,
                    "seed " + seed);
            List<String> left = new ArrayList<>();
            for (int executor = 0; executor < executors().size(); executor++) {
                List<Tensor> found = run(executors().get(executor).get(), network.startup(), main, Map.of("x", x),
                        fetched, executor == 0 ? left : new ArrayList<>(), "seed " + seed);
                for (int i = 0; i < expected.size(); i++) {
                    Bits.assertSame(expected.get(i), found.get(i), "seed " + seed + ", result " + i);
                }
            }
            // With several threads, what is left may be cut into several copies.
            saved += all.size() - left.size();
        }
        assertTrue(saved > 75, "only " + saved + " copies became views");
    }
}
