package io.seriatim.graph.differentiate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.GradientCheck;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexNumber;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Conjugate;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fourier;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Gradients of any order that are derived from lowerings which write to parts of memory, overwrite it, and repeat. */
class DerivedGradientTest {
    private static final double[] POINT = {0.3, -0.8, 1.1, 0.7, -0.4, 0.2};

    /** Defines an operation of X [2, 3] with one result. */
    private static void define(String type, String gradient, Lowering.Rule rule, long... dims) {
        if (Operations.system().find(type) == null) {
            Operation.define(type).in("X").out("Out").infer(inference -> inference.set("Out", DType.FLOAT64, dims))
                    .lower(rule).grad(gradient).register(Operations.system());
        }
    }

    private static void define(String type, Lowering.Rule rule, long... dims) {
        define(type, type + "_grad(X, Out@GRAD) -> X@GRAD", rule, dims);
    }

    static {
        define("test_parts", l -> {
            Operand x = l.in("X");
            Operand out = l.output("Out");
            l.into(Unary.of(Unary.Function.EXP), List.of(x.slice(1, 0, 2)), List.of(out.slice(1, 1, 3)));
            l.into(Unary.of(Unary.Function.SQUARE), List.of(x.slice(1, 2, 3)), List.of(out.slice(1, 0, 1)));
        }, 2, 3);
        define("test_in_place", l -> {
            Operand some = l.copy(l.in("X"));
            l.into(Unary.of(Unary.Function.SQUARE), List.of(some), List.of(some));
            l.into(Unary.of(Unary.Function.SIN), List.of(some.slice(0, 0, 1)), List.of(some.slice(0, 0, 1)));
            l.out("Out", l.binary(Binary.Function.MULTIPLY, some, l.in("X")));
        }, 2, 3);
        define("test_overwritten", l -> {
            Operand some = l.temporary(l.in("X").spec());
            l.into(Unary.of(Unary.Function.TANH), List.of(l.in("X")), List.of(some));
            Operand cubed = l.binary(Binary.Function.MULTIPLY, some, l.unary(Unary.Function.SQUARE, some));
            l.into(Unary.of(Unary.Function.SIN), List.of(l.in("X")), List.of(some));
            l.out("Out", l.binary(Binary.Function.ADD, cubed, l.unary(Unary.Function.SQUARE, some)));
        }, 2, 3);
        define("test_windows", l -> {
            Operand x = l.unary(Unary.Function.TANH, l.in("X"));
            Operand windows = new Operand(x.source(), x.offset(),
                    new TensorSpec(DType.FLOAT64, Shape.of(4, 3), Layout.strided(1, 1)));
            l.out("Out", l.unary(Unary.Function.SQUARE, windows));
        }, 4, 3);
        define("test_turned", l -> l.out("Out", l.binary(Binary.Function.MULTIPLY,
                l.unary(Unary.Function.EXP, l.in("X").flip(1)).transpose(1, 0), l.in("X").transpose(1, 0))), 3, 2);
        define("test_repeated", l -> {
            Operand row = l.in("X").select(0, 1);
            l.out("Out", l.unary(Unary.Function.SQUARE, row.expand(Shape.of(4, 3))));
        }, 4, 3);
        define("test_by_result", "test_by_result_grad(Out, Out@GRAD) -> X@GRAD", l -> l.out("Out",
                l.unary(Unary.Function.EXP, l.in("X"))), 2, 3);
        define("test_unread_input", "test_unread_input_grad(Out, Out@GRAD) -> X@GRAD", l -> l.out("Out",
                l.unary(Unary.Function.SQUARE, l.in("X"))), 2, 3);
        define("test_complex", l -> {
            Operand x = l.in("X");
            Operand number = l.run(new ComplexNumber(), x, l.unary(Unary.Function.SIN, x));
            Operand product = l.binary(Binary.Function.MULTIPLY, number, l.run(new Conjugate(), number.flip(1)));
            Operand waves = l.run(new Fourier(Fourier.Kind.COMPLEX, 1, 3, false, 0.5), product);
            Operand back = l.run(new Fourier(Fourier.Kind.TO_REAL, 1, 4, true, 0.3), waves);
            Operand half = l.run(new Fourier(Fourier.Kind.FROM_REAL, 1, 4, false, 0.7), back);
            l.out("Out", l.unary(Unary.Function.SQUARE,
                    l.run(new ComplexPart(ComplexPart.Function.IMAGINARY), l.binary(Binary.Function.MULTIPLY, half,
                            waves))));
        }, 2, 3);
        define("test_random", l -> {
            Operand drawn = l.temporary(l.in("X").spec());
            l.into(new RandomNumbers(RandomNumbers.Distribution.UNIFORM, 0, 1, DType.FLOAT64), List.of(l.randomKey()),
                    List.of(drawn));
            l.out("Out", l.binary(Binary.Function.MULTIPLY, l.in("X"), drawn));
        }, 2, 3);
        define("test_call", l -> l.call("its own work", (in, out) -> {
        }, List.of(l.in("X")), List.of(l.output("Out"))), 2, 3);
        define("test_halves", l -> l.out("Out", l.cast(l.unary(Unary.Function.SQUARE,
                l.run(new Copy(DType.FLOAT64), l.cast(l.in("X"), DType.FLOAT64))), DType.FLOAT64)), 2, 3);
    }

    @TestFactory
    Stream<DynamicTest> agreesWithDifferences() {
        return Stream.of("test_parts", "test_in_place", "test_overwritten", "test_windows", "test_turned",
                "test_repeated", "test_by_result", "test_halves", "test_complex")
                .flatMap(type -> Stream.of(1, 2, 3)
                        .map(order -> DynamicTest.dynamicTest(type + " " + order, () -> check(type, order))));
    }

    private static void check(String type, int order) {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(DType.FLOAT64, POINT, 2, 3));
        Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT64, 2, 3).wantGradient();
            Value loss = graph.op(type).in("X", x).one("Out").sin().sum();
            for (int i = 1; i < order; i++) {
                loss = gradient(graph.gradients(List.of(loss), List.of(x))).sin().sum();
            }
            Program forward = graph.main().copy();
            Value gradient = gradient(graph.gradients(List.of(loss), List.of(x)));
            new GradientCheck(forward, loss.name(), feeds).check(type, graph.main(), List.of("x"),
                    List.of(gradient.name()), order);
            return Outputs.none();
        });
    }

    private static Value gradient(List<@Nullable Value> gradients) {
        return Objects.requireNonNull(gradients.getFirst());
    }

    @Test
    void saysWhyThereIsNone() {
        assertProblem("test_call", "the step 'its own work' is a Java function without a gradient");
        assertProblem("test_random", "would draw random numbers again");
        assertProblem("test_unread_input", "needs the value of X, which 'test_unread_input_grad' does not read");
    }

    private static void assertProblem(String type, String problem) {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(DType.FLOAT64, POINT, 2, 3));
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT64, 2, 3).wantGradient();
            Value loss = graph.op(type).in("X", x).one("Out").sum();
            return Outputs.of("gradient", gradient(graph.gradients(List.of(loss), List.of(x))));
        });
        String name = network.main().global().ops().getLast().outputNames().getFirst();
        IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class,
                () -> Interpreter.of(Kernels.portable()).run(network.main(), feeds, List.of(name)));
        assertTrue(Objects.requireNonNull(thrown.getMessage()).contains(problem), thrown::getMessage);
        assertTrue(Objects.requireNonNull(thrown.getMessage()).contains("'" + type + "_grad'"), thrown::getMessage);
    }

    @Test
    void computesOnlyWhatIsNeeded() {
        OneOperation gradient = new OneOperation("test_by_result_grad").in("Out", DType.FLOAT64, 2, 3)
                .in("Out@GRAD", DType.FLOAT64, 2, 3).out("X@GRAD");
        assertEquals(List.of("unary_grad"), gradient.computations().stream().map(Computation::operation).toList());
    }
}
