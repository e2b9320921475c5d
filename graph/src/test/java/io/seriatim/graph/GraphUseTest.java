package io.seriatim.graph;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Decay;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.ParameterGradient;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Errors in the use of the builder are reported in the line that is wrong; unusual but valid uses work. */
class GraphUseTest {
    private final Map<String, Case> cases = new LinkedHashMap<>();

    private record Case(Consumer<Graph> use, String message) {
    }

    private void refused(String what, Consumer<Graph> use, String message) {
        cases.put(what, new Case(use, message));
    }

    private Stream<DynamicTest> tests() {
        return cases.entrySet().stream().map(each -> DynamicTest.dynamicTest(each.getKey(), () -> {
            RuntimeException e = assertThrows(RuntimeException.class, () -> Network.define(g -> {
                g.data("x", FLOAT32, -1, 4);
                each.getValue().use().accept(g);
                return Outputs.none();
            }));
            assertTrue(e instanceof IllegalArgumentException || e instanceof IllegalStateException, e.toString());
            assertTrue(String.valueOf(e.getMessage()).contains(each.getValue().message()), e.getMessage());
        }));
    }

    private static Value x(Graph g) {
        return g.var("x");
    }

    private static Value images(Graph g) {
        return g.data("images", FLOAT32, 1, 3, 4, 4);
    }

    private static Value loss(Graph g) {
        return g.linear(x(g), 3).mean();
    }

    private static Value foreign() {
        Network other = Network.define(g -> Outputs.of("z", g.data("z", FLOAT32, 2, 2)));
        return other.outputs().get("z");
    }

    @TestFactory
    Stream<DynamicTest> variables() {
        refused("no name", g -> g.data("", FLOAT32, 1), "A variable has a name, but '' is none");
        refused("negative dimension", g -> g.data("q", FLOAT32, -2), "The dimensions of 'q' are from 0 on, or -1");
        refused("too many elements", g -> g.data("q", FLOAT32, Long.MAX_VALUE, 3),
                "more elements than a long can count");
        refused("parameter with the name of data", g -> g.parameter(ParameterSpec.DEFAULT.named("x"), FLOAT32, 4),
                "which is no parameter");
        refused("empty parameter", g -> g.parameter(ParameterSpec.DEFAULT, FLOAT32, 0, 3),
                "must be known and at least 1, but are [0, 3]");
        refused("reader of nothing", g -> g.reader("r", Map.of()), "A batch has at least one variable");
        refused("reader of a taken name", g -> g.reader("r", Map.of("x", VarType.TensorType.of(FLOAT32, 2))),
                "There is a variable 'x' already");
        refused("fraction of a whole type", g -> g.full(INT64, 1.5, 2),
                "A value of int64 is a whole number, but is 1.5");
        refused("what float32 cannot hold", g -> g.full(FLOAT32, 1e300, 2), "is kept as float32");
        refused("more elements than there can be", g -> g.full(FLOAT32, 1, Long.MAX_VALUE, 3),
                "more elements than there can be");
        refused("unknown dimension", g -> g.uniform(FLOAT32, 0, 1, -1), "has dimensions from 0 on, but they are [-1]");
        refused("bounds the wrong way", g -> g.uniform(FLOAT32, 1, 0, 3), "but from 1.0 to 0.0");
        refused("negative deviation", g -> g.normal(FLOAT32, 0, -1, 3),
                "A standard deviation is a finite number from 0 on, but it is -1.0");
        refused("no step", g -> g.range(INT64, 0, 5, 0), "Numbers of a range are apart");
        return tests();
    }

    @TestFactory
    @SuppressWarnings("NullAway") // That is what is tested.
    Stream<DynamicTest> operations() {
        refused("null", g -> x(g).plus((Value) null),
                "Slot Y of operation 'elementwise_add' takes variables, but one is null");
        refused("other input slot", g -> g.op("relu").in("X", x(g)).in("Z", x(g)).one("Out"),
                "'relu' has no input slot Z; it has [X]");
        refused("other output slot", g -> g.op("relu").in("X", x(g)).one("Y"),
                "'relu' has no output slot Y; it has [Out]");
        refused("other attribute", g -> g.op("softmax").in("X", x(g)).attr("axes", 1).one("Out"),
                "'softmax' has no attribute 'axes'; it has [axis]");
        refused("no output", g -> g.op("relu").in("X", x(g)).append(), "'relu' writes to none of its slots [Out]");
        refused("too many outputs", g -> x(g).split(1 << 30, 0), "has from 0 to 100000 variables");
        refused("twice", g -> {
            GraphOp op = g.op("relu").in("X", x(g));
            op.one("Out");
            op.one("Out");
        }, "'relu' is added already");
        refused("out of a branch", g -> {
            Value[] inside = new Value[1];
            g.ifElse(g.data("b", BOOL, 1), () -> inside[0] = x(g).relu(), () -> x(g));
            inside[0].exp();
        }, "belongs to a branch, loop or recurrent network that is complete");
        refused("a dimension twice", g -> x(g).sum(1, -1), "Each dimension is named once");
        refused("a dimension that stays", g -> x(g).squeeze(1), "A dimension that goes has length 1");
        refused("unknown number of parts", g -> x(g).unstack(0),
                "is not known, so that there is no telling how many parts");
        refused("no part", g -> x(g).split(0, 1), "There is at least 1 part");
        refused("to fewer dimensions", g -> x(g).expand(), "expands to at least as many dimensions");
        refused("of a new dimension", g -> x(g).expand(-1, -1, 4), "or -1 for those of 'x'");
        refused("no times", g -> x(g).tile(), "give those numbers");
        refused("too often", g -> g.full(FLOAT32, 1, 2, 2).tile(Integer.MAX_VALUE, Integer.MAX_VALUE),
                "more elements than there can be");
        refused("increment of several", g -> x(g).increment(1), "What is incremented has one element");
        refused("half of a whole number", g -> g.data("i", INT64, 2).dividedBy(2), "need not be whole");
        refused("times a fraction", g -> g.data("i", INT64, 2).times(0.5), "A factor of int64 is a whole number");
        refused("plus what float32 rounds", g -> g.data("i", INT64, 2).plus(16_777_217), "that float32 can hold");
        refused("less than a fraction", g -> g.data("i", INT64, 2).lessThan(1.5),
                "A value of int64 is a whole number, but is 1.5");
        refused("root of a whole number", g -> g.data("i", INT64, 2).pow(0.5),
                "An exponent of int64 is a whole number");
        refused("after the end", g -> foreign().relu(), "This network is described already");
        return tests();
    }

    @TestFactory
    Stream<DynamicTest> layers() {
        refused("kernel of 0", g -> g.conv2d(images(g), 3, 0, 1, 0), "are known and at least 1, but are 3, 3 and 0");
        refused("groups of 0", g -> g.layers().conv2d(3, 3, 3).groups(0).apply(images(g)),
                "The groups of a convolution are at least 1");
        refused("groups that do not divide", g -> g.layers().conv2d(3, 3, 3).groups(2).apply(images(g)),
                "but are 2 for 3 and 3");
        refused("padding beyond the table", g -> g.layers().embedding(10, 3, false, 99, ParameterSpec.DEFAULT),
                "is one of them, or -1 for none, but is 99");
        refused("momentum", g -> g.layers().batchNorm(3, 5, 1e-5),
                "The momentum of batch normalisation is from 0 to 1, but it is 5.0");
        refused("negative epsilon", g -> g.layers().layerNorm(4, -1),
                "ε of layer normalisation is a finite number from 0 on");
        refused("attention to no sequence", g -> g.layers().multiHeadAttention(4, 2, 0).apply(x(g)),
                "Attention is for sequences [n, length, width]");
        refused("recurrence over no sequence", g -> g.layers().lstm(4, 3).apply(x(g)),
                "A recurrent layer is for sequences [n, length, 4]");
        refused("settings too late", g -> g.layers().lstm(4, 3).make().levels(2), "has its parameters already");
        refused("no level", g -> g.layers().gru(4, 3).levels(0), "at least 1 level");
        refused("no width", g -> g.layers().gru(4, 0), "at least 1, but are 4 and 0");
        refused("probability", g -> g.dropout(x(g), 2),
                "The probability of clearing an element is from 0 to 1, but it is 2.0");
        return tests();
    }

    @TestFactory
    Stream<DynamicTest> controlFlow() {
        refused("branches of other ranks", g -> g.ifElse(g.data("b", BOOL, 1), () -> x(g), () -> x(g).sum()),
                "must give as many dimensions");
        refused("foreign branch", g -> g.ifElse(g.data("b", BOOL, 1), GraphUseTest::foreign, () -> x(g)),
                "belongs to another network");
        refused("foreign loop", g -> g.whileLoop(v -> List.of(v.getFirst().sum().lessThan(3)), v -> v, foreign()),
                "belongs to another network");
        refused("no output", g -> g.staticRnn(rnn -> rnn.step(x(g))), "needs an output: call output(...)");
        refused("foreign sequence", g -> g.staticRnn(rnn -> rnn.step(foreign())), "belongs to another network");
        refused("other steps", g -> {
            Value p = g.data("p", FLOAT32, 3, 4);
            Value q = g.data("q", FLOAT32, 5, 4);
            g.staticRnn(rnn -> rnn.output(rnn.step(p).plus(rnn.step(q))));
        }, "and has 5 where others have 3");
        refused("state of another shape", g -> {
            Value first = g.full(FLOAT32, 0, 4);
            g.staticRnn(rnn -> rnn.update(rnn.state(first), rnn.step(x(g)).sum()));
        }, "keeps its type and shape");
        refused("state updated twice", g -> {
            Value first = g.full(FLOAT32, 0, 4);
            g.staticRnn(rnn -> {
                Value state = rnn.state(first);
                Value step = rnn.step(x(g));
                rnn.update(state, step);
                rnn.update(state, step);
            });
        }, "once for each state");
        refused("training in a branch", g -> {
            Value loss = loss(g);
            g.ifElse(g.data("b", BOOL, 1), () -> {
                g.minimize(loss, Sgd.of(1));
                return loss;
            }, () -> loss);
        }, "cannot be added inside of a branch");
        return tests();
    }

    @TestFactory
    Stream<DynamicTest> training() {
        refused("no parameters", g -> g.minimize(x(g).mean(), Sgd.of(1)), "No parameter has a gradient from the loss");
        refused("unrelated parameters", g -> {
            loss(g);
            g.minimize(x(g).mean(), Sgd.of(1));
        }, "nothing to train among [linear_0.w_0, linear_0.b_0]");
        refused("no parameters in 16 bits",
                g -> g.minimize(x(g).mean(), Sgd.of(1).precision(MixedPrecision.bfloat16())),
                "No parameter has a gradient");
        refused("whole loss", g -> g.minimize(loss(g).cast(INT64), Sgd.of(1)), "A loss is of a floating-point type");
        refused("what is no parameter", g -> {
            Value hidden = g.linear(x(g), 3);
            g.minimize(hidden.mean(), Sgd.of(1), List.of(hidden), Set.of());
        }, "Only parameters are trained");
        refused("a parameter twice", g -> {
            Value loss = loss(g);
            Value w = g.var("linear_0.w_0");
            g.minimize(loss, Sgd.of(1), List.of(w, w), Set.of());
        }, "Each parameter is named once");
        refused("pairs of others", g -> g.applyGradients(Sgd.of(1), List.of(new ParameterGradient("x", "x"))),
                "Only parameters are trained");
        refused("no pairs", g -> g.applyGradients(Sgd.of(1), List.of()), "There is nothing to train");
        refused("precision without its loss",
                g -> g.applyGradients(Sgd.of(1).precision(MixedPrecision.float16()), g.backward(loss(g))),
                "call minimize(...)");
        refused("no target", g -> g.gradients(List.of(), List.of(x(g))), "Gradients are those of a target");
        refused("negative rate", g -> Sgd.of(-1), "A learning rate is a finite number from 0 on, but it is -1.0");
        refused("no rate", g -> Adam.of(_ -> Double.NaN),
                "The learning rate of step 0 is a finite number from 0 on, but it is NaN");
        refused("mean that never changes", g -> Adam.of(1).beta1(1), "β₁ of Adam is from 0 to below 1, but it is 1.0");
        refused("clipping to nothing", g -> Clip.globalNorm(0), "is a finite number above 0, but it is 0.0");
        refused("clipping the wrong way", g -> new Clip.ByValue(5, 1), "but to 5.0 and 1.0");
        refused("negative decay", g -> Decay.l2(-1),
                "The coefficient of a regularisation is a finite number from 0 on");
        refused("scale of 0", g -> new MixedPrecision(DType.FLOAT16, 0, true, 1),
                "The scale of a loss is a finite number above 0");
        return tests();
    }

    private static Tensor run(Function<Graph, Value> definition, Map<String, Tensor> feeds) {
        Network net = Network.define(1, g -> Outputs.of("out", definition.apply(g)));
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        interpreter.run(net.startup(), Map.of(), List.of());
        String out = net.outputs().get("out").name();
        return Objects.requireNonNull(interpreter.run(net.main(), feeds, List.of(out)).get(out));
    }

    @Test
    void eachOutputOfARecurrenceIsThereOnce() {
        Tensor x = Tensor.of(FLOAT32, new double[]{1, 2, 3, 4}, 2, 2);
        for (int output = 0; output < 2; output++) {
            int which = output;
            Tensor result = run(g -> {
                Value sequence = g.data("s", FLOAT32, -1, 2);
                Value zero = g.full(FLOAT32, 0, 2);
                List<Value> outputs = g.staticRnn(rnn -> {
                    Value step = rnn.step(sequence);
                    Value state = rnn.state(zero);
                    Value sum = state.plus(step);
                    rnn.update(state, sum);
                    rnn.output(sum);
                    rnn.output(step.times(10));
                });
                assertEquals(2, outputs.size());
                return outputs.get(which);
            }, Map.of("s", x));
            assertArrayEquals(which == 0 ? new double[]{1, 2, 4, 6} : new double[]{10, 20, 30, 40},
                    result.toDoubleArray());
        }
    }

    @Test
    void aLoopVariableThatGrowsHasUnknownDimensions() {
        Value[] grown = new Value[1];
        Tensor result = run(g -> {
            grown[0] = g.whileLoop(v -> List.of(v.getFirst().lessThan(3)),
                    v -> List.of(v.getFirst().plus(1), g.concat(0, v.getLast(), v.getLast())), g.full(INT64, 0, 1),
                    g.full(FLOAT32, 1, 1, 2))
                    .getLast();
            return grown[0];
        }, Map.of());
        assertEquals(List.of(-1L, 2L), grown[0].shape());
        assertEquals(8, result.shape().dim(0));
    }

    @Test
    void anExpansionWithMoreDimensionsIsDeclaredAsItIs() {
        Value[] expanded = new Value[1];
        Tensor result = run(g -> expanded[0] = g.data("x", FLOAT32, -1, 3).expand(2, -1, 3),
                Map.of("x", Tensor.of(FLOAT32, new double[12], 4, 3)));
        assertEquals(List.of(2L, -1L, 3L), expanded[0].shape());
        assertArrayEquals(new long[]{2, 4, 3}, result.shape().dims());
    }

    @Test
    void numbersThatFloat32CannotHoldAreComparedExactly() {
        Tensor whole = run(g -> g.data("i", INT64, 2).equalTo(16_777_217),
                Map.of("i", Tensor.of(new long[]{16_777_216, 16_777_217}, 2)));
        assertArrayEquals(new long[]{0, 1}, whole.toLongArray());
        Tensor tenth = run(g -> g.data("d", FLOAT64, 1).equalTo(0.1),
                Map.of("d", Tensor.of(FLOAT64, new double[]{0.1}, 1)));
        assertArrayEquals(new long[]{1}, tenth.toLongArray());
    }

    @Test
    void decimalAttributesAreFloat32AsPaddleHasThem() {
        Network net = Network
                .define(g -> Outputs.of("y",
                        g.op("leaky_relu").in("X", g.data("x", FLOAT32, 2)).attr("alpha", 0.5).one("Out")));
        assertEquals(new Attribute.Real(0.5f), net.main().global().ops().getFirst().attribute("alpha"));
    }

    @Test
    void schedulesSetTheRateOfAStep() {
        Network net = Network.define(g -> {
            Value w = g.parameter(ParameterSpec.of(Initializer.constant(0)).named("w"), FLOAT32, 1);
            Value loss = w.sum();
            g.minimize(loss, Sgd.of(Schedule.exponential(1, 0.5)));
            return Outputs.of("loss", loss);
        });
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        interpreter.run(net.startup(), Map.of(), List.of());
        for (int step = 0; step < 3; step++) {
            interpreter.rates(net, step).run(net.main(), Map.of(), List.of());
        }
        assertEquals(-1.75, interpreter.get("w").toDoubleArray()[0], 1e-6);
        assertThrows(IllegalArgumentException.class, () -> interpreter.rates(net, -1));
    }

    @Test
    void aModelNamesAllThatIsFed(@TempDir Path folder) {
        Network net = Network.define(g -> Outputs.of("y", g.data("x", FLOAT32, 2).plus(g.data("z", FLOAT32, 2))));
        List<String> fetches = List.of(net.outputs().get("y").name());
        Exception missing = assertThrows(IllegalArgumentException.class,
                () -> InferenceModels.export(net.main(), List.of("x"), fetches));
        assertEquals("To compute [tmp_0], 'z' must be fed, too, but the feeds are [x]", missing.getMessage());
        Exception nowhere = assertThrows(NoSuchFileException.class,
                () -> InferenceModels.save(folder.resolve("no/model"), net.main(), List.of("x", "z"), fetches,
                        _ -> null));
        assertTrue(
                String.valueOf(nowhere.getMessage()).endsWith("model.pdmodel: its folder is not there: make it first"),
                nowhere.getMessage());
    }

    @Test
    void placesOfOperationsAreChecked() {
        Block block = new Program().global();
        OpDesc op = OpDesc.of("relu").build();
        assertEquals("An operation is added at a place from 0 to 0, but not at 1",
                assertThrows(IllegalArgumentException.class, () -> block.add(1, op)).getMessage());
        assertEquals("Block 0 has 0 operations, and none at 0 to be replaced",
                assertThrows(IllegalArgumentException.class, () -> block.set(0, op)).getMessage());
    }
}
