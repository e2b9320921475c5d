package io.seriatim.graph.dialect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.GoldenOperations;
import io.seriatim.graph.dialect.TargetSchema.Operand;
import io.seriatim.graph.dialect.TargetSchema.Use;
import io.seriatim.graph.dialect.TargetSchema.Value;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetSchemaTest {
    private static final String LINES = """
            %0 float32,float64
            %1 int64
            join@3\tx*:T axis?:I\ty:T\tmode:text=a/b times:int64! name:text~[a-z]+\tT=%0 I=%1
            join@5\tx*:T\ty:T z?=x\t\tT=%0
            loop@1\tv*:V+\tw*:V+\t\tV=%0
            """;

    private static final Set<String> VIEWS = Set.of("as_strided", "index_select_strided", "tensor_unfold", "view_dtype",
            "view_shape");

    private static TargetSchema schema() throws IOException {
        return new TargetSchema("Them", false, new ByteArrayInputStream(LINES.getBytes(StandardCharsets.UTF_8)));
    }

    private static Use use(int version, Map<String, Value> attributes, Operand... operands) throws IOException {
        Map<String, Value> all = new HashMap<>(attributes);
        if (version < 5) {
            all.putIfAbsent("times", new Value("int64", null));
        }
        return new Use("join", version, schema().bySlot("join", version, List.of(operands)), null, all);
    }

    private static Operand operand(String name, DType dtype) {
        return new Operand(name, dtype);
    }

    @Test
    void acceptsWhatIsThere() throws IOException {
        assertEquals(List.of(), schema().problems(use(4, Map.of("mode", new Value("text", "b"), "name",
                new Value("text", "abc")), operand("p", DType.FLOAT64))));
    }

    @Test
    void namesWhatIsNot() throws IOException {
        assertEquals(List.of("'join' with mode = c (there are a, b)"),
                schema().problems(use(3, Map.of("mode", new Value("text", "c")), operand("p", DType.FLOAT32))));
        assertEquals(List.of("'join' with name = A1"),
                schema().problems(use(3, Map.of("name", new Value("text", "A1")), operand("p", DType.FLOAT32))));
        assertEquals(List.of("'join' with attribute mode as int64 instead of text"),
                schema().problems(use(3, Map.of("mode", new Value("int64", null)), operand("p", DType.FLOAT32))));
        assertEquals(List.of("'join' with attribute mode"),
                schema().problems(use(5, Map.of("mode", new Value("text", "a")), operand("p", DType.FLOAT32))));
        assertEquals(List.of("'join', which Them does not have in version 2"), schema().problems(use(2, Map.of())));
        assertEquals(List.of("'join' without attribute times"), schema().problems(new Use("join", 3, Map.of(), null,
                Map.of())));
        assertEquals(List.of("'part'"), schema().problems(new Use("part", 3, Map.of(), null, Map.of())));
        assertEquals(List.of("'join' of int32 (x may be float32, float64)"),
                schema().problems(use(3, Map.of(), operand("p", DType.INT32))));
        assertEquals(List.of("'join' of both float32 and float64"),
                schema().problems(new Use("join", 5, Map.of("x", List.of(operand("p", DType.FLOAT32),
                        operand("q", DType.FLOAT64))), null, Map.of())));
    }

    @Test
    void resultsStandWhereTheyMust() throws IOException {
        Map<String, List<Operand>> operands = Map.of("x", List.of(operand("p", DType.FLOAT32)));
        assertEquals(List.of("'join' without output y", "'join' whose z is another variable than its x"),
                schema().problems(new Use("join", 5, operands, Map.of("z", List.of(operand("q", DType.FLOAT32))),
                        Map.of())));
        assertEquals(Set.of("'join' with 2 variables as output y", "'join' with output u"),
                Set.copyOf(schema().problems(
                        new Use("join", 5, operands,
                                Map.of("y", List.of(operand("q", DType.FLOAT32), operand("r", DType.FLOAT32)),
                                        "u", List.of(operand("s", DType.INT8))),
                                Map.of()))));
    }

    @Test
    void typesOfResultsFollow() throws IOException {
        assertEquals(DType.FLOAT64, schema().result(use(3, Map.of(), operand("p", DType.FLOAT64)), 0));
        assertNull(schema().result(new Use("loop", 3, Map.of("v", List.of(operand("p", DType.FLOAT64))), null,
                Map.of()), 0));
        assertEquals(List.of(), schema().problems(new Use("loop", 3, Map.of("v", List.of(operand("p", DType.FLOAT64),
                operand("q", DType.FLOAT32))), null, Map.of())));
    }

    /** Every operation that can be written with its defaults has only attributes that PaddlePaddle reads. */
    @Test
    void paddleHasTheDefaultsOfOurAttributes() {
        TargetSchema paddle = TargetSchema.paddle2();
        List<String> wrong = new ArrayList<>();
        for (Operation own : Operations.system().all()) {
            OpDesc.Builder op = OpDesc.of(own.type());
            own.attributes().stream()
                    .filter(each -> each.byDefault() != null
                            && !(each.byDefault() instanceof Attribute.Text(String text)
                                    && text.isEmpty()))
                    .forEach(each -> op.attr(each.name(), Objects.requireNonNull(each.byDefault())));
            if (paddle.isDescribed(own.type())) {
                paddle.problems(Uses.of(paddle, new Program().global(), op.build())).stream()
                        .filter(each -> !each.contains("without") && !each.contains("with attribute"))
                        .forEach(wrong::add);
            }
        }
        assertEquals(List.of(), wrong);
    }

    /**
     * What PaddlePaddle 2.6.2 has run has nothing that its schema lacks. It runs some equations with diagonals and is
     * wrong with others: all are written in another form. Views it runs outside of programs only.
     */
    @Test
    void acceptsAllThatPaddleRan() {
        Set<String> wrong = new TreeSet<>();
        for (GoldenOperations golden : GoldenOperations.all().values()) {
            for (Block block : golden.program().blocks()) {
                for (OpDesc op : block.ops()) {
                    if (!op.type().endsWith("_grad") && !op.type().equals("einsum") && !VIEWS.contains(op.type())) {
                        wrong.addAll(TargetSchema.paddle2().problems(Uses.of(TargetSchema.paddle2(), block, op)));
                    }
                }
            }
        }
        assertEquals(Set.of(), wrong);
    }

    private static List<String> problems(OpDesc op, DType dtype) {
        Block global = new Program().global();
        op.inputNames().forEach(name -> global.put(VarDesc.of(name, VarType.dense(dtype, 2, 3))));
        return TargetSchema.paddle2().problems(Uses.of(TargetSchema.paddle2(), global, op));
    }

    @ParameterizedTest
    @CsvSource({"relu,INT32,false", "relu,FLOAT32,true", "relu,FLOAT16,true", "relu,COMPLEX64,false", "abs,INT64,true",
            "sigmoid,INT64,false", "bitwise_not,FLOAT32,false", "floor,INT32,false"})
    void paddlesElementTypes(String type, DType dtype, boolean exists) {
        List<String> problems = problems(OpDesc.of(type).in("X", "x").out("Out", "y").build(), dtype);
        assertEquals(exists ? 0 : 1, problems.size(), problems.toString());
        assertTrue(problems.stream().allMatch(each -> each.startsWith("'" + type + "' of " + dtype)),
                problems.toString());
    }

    @Test
    void operationsOfOursAreNoneOfPaddles() {
        assertEquals(List.of("'onnx_round'"), problems(OpDesc.of("onnx_round").in("X", "x").out("Out", "y").build(),
                DType.FLOAT32));
    }

    @Test
    void paddlesEnumerationsAndPlaces() {
        OpDesc pool = OpDesc.of("pool2d").in("X", "x").out("Out", "y").attr("ksize", new int[]{2, 2})
                .attr("pooling_type", "lp").attr("padding_algorithm", "SAME_LOWER").attr("data_format", "CNHW").build();
        assertEquals(List.of("'pool2d' with data_format = CNHW (there are NCHW, NHWC)",
                "'pool2d' with padding_algorithm = SAME_LOWER (there are EXPLICIT, SAME, VALID)",
                "'pool2d' with pooling_type = lp (there are max, avg)"), problems(pool, DType.FLOAT32));
        assertFalse(problems(OpDesc.of("einsum").in("Operands", "x").out("Out", "y").attr("equation", "ij").build(),
                DType.FLOAT32).isEmpty());
        OpDesc norm = OpDesc.of("batch_norm").in("X", "x").in("Mean", "m").in("Variance", "v").out("Y", "y")
                .out("MeanOut", "m2").out("VarianceOut", "v").build();
        assertEquals(List.of("'batch_norm' whose MeanOut is another variable than its Mean"),
                problems(norm, DType.FLOAT32));
    }

    @Test
    void numbersOfAttributesMayBeOfKindsThatPaddleConverts() {
        Attribute[] values = {new Attribute.Int(1), new Attribute.Real(1), new Attribute.Text("1")};
        for (Attribute value : values) {
            List<String> problems = problems(OpDesc.of("leaky_relu").in("X", "x").out("Out", "y").attr("alpha", value)
                    .build(), DType.FLOAT32);
            assertEquals(value instanceof Attribute.Text, !problems.isEmpty(), Arrays.toString(values) + problems);
        }
    }
}
