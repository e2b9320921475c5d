package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations of initializers, with the bounds and deviations that paddlepaddle 2.6.2 writes for them. */
class InitializersTest {
    /** Initializer, shape, operation and attributes, as Paddle prints them. */
    private static final String PADDLE =
            """
                    xavier 3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.8660253882408142 min=-0.8660253882408142 seed=0 shape=[3,5]
                    xavierNormal 3,5 gaussian_random dtype=5 mean=0.0 seed=0 shape=[3,5] std=0.5
                    kaimingUniform 3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=1.4142135381698608 min=-1.4142135381698608 seed=0 shape=[3,5]
                    kaiming 3,5 gaussian_random dtype=5 mean=0.0 seed=0 shape=[3,5] std=0.8164966106414795
                    kaimingLeaky 3,5 gaussian_random dtype=5 mean=0.0 seed=0 shape=[3,5] std=0.8006407618522644
                    kaimingUniformLeaky 3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=1.3867504596710205 min=-1.3867504596710205 seed=0 shape=[3,5]
                    xavier 7 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.6546536684036255 min=-0.6546536684036255 seed=0 shape=[7]
                    xavierNormal 7 gaussian_random dtype=5 mean=0.0 seed=0 shape=[7] std=0.37796446681022644
                    kaimingUniform 7 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.9258201122283936 min=-0.9258201122283936 seed=0 shape=[7]
                    kaiming 7 gaussian_random dtype=5 mean=0.0 seed=0 shape=[7] std=0.5345224738121033
                    kaimingLeaky 7 gaussian_random dtype=5 mean=0.0 seed=0 shape=[7] std=0.5241424441337585
                    kaimingUniformLeaky 7 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.9078413248062134 min=-0.9078413248062134 seed=0 shape=[7]
                    xavier 4,3,2,2 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.4629100561141968 min=-0.4629100561141968 seed=0 shape=[4,3,2,2]
                    xavierNormal 4,3,2,2 gaussian_random dtype=5 mean=0.0 seed=0 shape=[4,3,2,2] std=0.26726123690605164
                    kaimingUniform 4,3,2,2 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.7071067690849304 min=-0.7071067690849304 seed=0 shape=[4,3,2,2]
                    kaiming 4,3,2,2 gaussian_random dtype=5 mean=0.0 seed=0 shape=[4,3,2,2] std=0.40824830532073975
                    kaimingLeaky 4,3,2,2 gaussian_random dtype=5 mean=0.0 seed=0 shape=[4,3,2,2] std=0.4003203809261322
                    kaimingUniformLeaky 4,3,2,2 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.6933752298355103 min=-0.6933752298355103 seed=0 shape=[4,3,2,2]
                    xavier 4,3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.41403934359550476 min=-0.41403934359550476 seed=0 shape=[4,3,5]
                    xavierNormal 4,3,5 gaussian_random dtype=5 mean=0.0 seed=0 shape=[4,3,5] std=0.23904572427272797
                    kaimingUniform 4,3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.6324555277824402 min=-0.6324555277824402 seed=0 shape=[4,3,5]
                    kaiming 4,3,5 gaussian_random dtype=5 mean=0.0 seed=0 shape=[4,3,5] std=0.3651483654975891
                    kaimingLeaky 4,3,5 gaussian_random dtype=5 mean=0.0 seed=0 shape=[4,3,5] std=0.35805743932724
                    kaimingUniformLeaky 4,3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.6201736927032471 min=-0.6201736927032471 seed=0 shape=[4,3,5]
                    seeded 3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.8660253882408142 min=-0.8660253882408142 seed=9 shape=[3,5]
                    seededNormal 3,5 gaussian_random dtype=5 mean=0.5 seed=9 shape=[3,5] std=0.25
                    normal 3,5 gaussian_random dtype=5 mean=0.5 seed=0 shape=[3,5] std=0.25
                    uniform 3,5 uniform_random diag_num=0 diag_step=0 diag_val=1.0 dtype=5 max=0.25 min=-0.5 seed=0 shape=[3,5]
                    truncated 3,5 truncated_gaussian_random dtype=5 mean=0.5 seed=0 shape=[3,5] std=0.25
                    constant 3,5 fill_constant dtype=5 force_cpu=false place_type=-1 shape=[3,5] str_value=0.1 value=0.10000000149011612
                    constant64 3,5 fill_constant dtype=6 force_cpu=false place_type=-1 shape=[3,5] str_value=1e-05 value=9.999999747378752e-06
                    assign 2,2 assign_value dtype=5 fp32_values=[1.0,2.0,3.0,4.5] shape=[2,2]
                    assign64 2 assign_value dtype=6 fp64_values=[1.0,2.5] shape=[2]
                    assignint32 3 assign_value dtype=2 int32_values=[1,2,3] shape=[3]
                    """;

    private static final Map<String, Initializer> INITIALIZERS = Map.ofEntries(
            Map.entry("xavier", Initializer.xavier()),
            Map.entry("xavierNormal", new Initializer.Xavier(false)),
            Map.entry("kaimingUniform", new Initializer.Kaiming(true, 0)),
            Map.entry("kaiming", Initializer.kaiming()), Map.entry("kaimingLeaky", new Initializer.Kaiming(false, 0.2)),
            Map.entry("kaimingUniformLeaky", new Initializer.Kaiming(true, 0.2)),
            Map.entry("seeded", Initializer.xavier()),
            Map.entry("seededNormal", Initializer.normal(0.5, 0.25)),
            Map.entry("normal", Initializer.normal(0.5, 0.25)),
            Map.entry("uniform", Initializer.uniform(-0.5, 0.25)),
            Map.entry("truncated", new Initializer.TruncatedNormal(0.5, 0.25)),
            Map.entry("constant", Initializer.constant(0.1)), Map.entry("constant64", Initializer.constant(1e-5)),
            Map.entry("assign", new Initializer.Assign(Tensor.of(DType.FLOAT32, new double[]{1, 2, 3, 4.5}, 2, 2))),
            Map.entry("assign64", new Initializer.Assign(Tensor.of(DType.FLOAT64, new double[]{1, 2.5}, 2))),
            Map.entry("assignint32", new Initializer.Assign(Tensor.of(DType.INT32, new double[]{1, 2, 3}, 3))));

    @TestFactory
    Stream<DynamicTest> asPaddle() {
        return PADDLE.lines().map(line -> DynamicTest.dynamicTest(line, () -> {
            String[] words = line.split(" ", 4);
            long[] shape = Arrays.stream(words[1].split(",", -1)).mapToLong(Long::parseLong).toArray();
            DType dtype = words[0].endsWith("64")
                    ? DType.FLOAT64
                    : words[0].endsWith("32") ? DType.INT32 : DType.FLOAT32;
            Initializer initializer = Objects.requireNonNull(INITIALIZERS.get(words[0]));
            OpDesc op = Appender.complete(
                    initializer.operation("w", dtype, shape, words[0].startsWith("seeded") ? 9 : 0), Roles.FORWARD);
            String attributes = Arrays.stream(words[3].split(" ", -1)).map(word -> word.split("=", -1)[0])
                    .map(name -> name + "=" + text(Objects.requireNonNull(op.attribute(name), name)))
                    .collect(Collectors.joining(" "));
            assertEquals(line, words[0] + " " + words[1] + " " + op.type() + " " + attributes);
            assertEquals(List.of("w"), op.output("Out"));
        }));
    }

    private static String text(Attribute value) {
        return switch (value) {
            case Attribute.Int(int number) -> Integer.toString(number);
            case Attribute.Real(float number) -> Initializers.text(number);
            case Attribute.Text(String text) -> text;
            case Attribute.Bool(boolean truth) -> Boolean.toString(truth);
            case Attribute.Ints(List<Integer> numbers) -> joined(numbers);
            case Attribute.Int64s(List<Long> numbers) -> joined(numbers);
            case Attribute.Reals(List<Float> numbers) -> joined(numbers);
            case Attribute.Float64s(List<Double> numbers) -> joined(numbers);
            default -> value.toString();
        };
    }

    private static String joined(List<?> values) {
        return values.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }

    /** Python's shortest texts of numbers. */
    @ParameterizedTest
    @ValueSource(strings = {"0.001", "1e-05", "1e+16", "inf", "-inf", "nan", "0.1", "123456789.0", "1e+22", "1.5e-07",
            "5e-324",
            "1.7976931348623157e+308", "0.0001", "100000.0", "9999999999999998.0", "2.5e-05", "-0.0", "0.0",
            "0.10000000149011612", "-3.0",
            "0.3333333333333333", "9.999e-05", "1.2345678901234568e+17", "1e+100"})
    void texts(String text) {
        String java = text.replace("inf", "Infinity").replace("nan", "NaN");
        assertEquals(text, Initializers.text(Double.parseDouble(java)));
    }

    @Test
    void valuesThatDoNotFit() {
        Initializer initializer = new Initializer.Assign(Tensor.of(DType.FLOAT32, new double[]{1, 2}, 2));
        Exception shape = assertThrows(IllegalArgumentException.class,
                () -> initializer.operation("w", DType.FLOAT32, new long[]{3}, 0));
        assertEquals("Parameter 'w' is float32[3], but is to be set to float32 [2]", shape.getMessage());
        Exception dtype = assertThrows(IllegalArgumentException.class,
                () -> initializer.operation("w", DType.FLOAT64, new long[]{2}, 0));
        assertEquals("Parameter 'w' is float64[2], but is to be set to float32 [2]", dtype.getMessage());
        Initializer half = new Initializer.Assign(Tensor.of(DType.FLOAT16, new double[]{1}, 1));
        Exception halves = assertThrows(IllegalArgumentException.class,
                () -> half.operation("w", DType.FLOAT16, new long[]{1}, 0));
        assertEquals(
                "'w' is float16, but only float32, float64, int32, int64 and bool can be set to given values; give "
                        + "one of those, and"
                        + " cast it",
                halves.getMessage());
    }

    @Test
    void parameterOfUnknownShape() {
        Exception e = assertThrows(IllegalArgumentException.class, () -> Network.define(graph -> {
            graph.linear(graph.data("x", DType.FLOAT32, 2, -1), 3);
            return Outputs.none();
        }));
        assertEquals(
                "The dimensions of parameter 'linear_0.w_0' must be known and at least 1, but are [-1, 3]: check "
                        + "the sizes of its"
                        + " layer; a dimension of its input that is -1 cannot be among them",
                e.getMessage());
    }
}
