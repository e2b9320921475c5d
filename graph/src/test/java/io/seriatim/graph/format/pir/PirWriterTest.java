package io.seriatim.graph.format.pir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written is what PaddlePaddle 3.3.1 computes the same with: {@code tools/formats} runs it there. */
class PirWriterTest {
    private final Program program = new Program();
    private final List<String> feeds = new ArrayList<>();

    private void feed(String name, DType dtype, long... dims) {
        program.global().put(VarDesc.of(name, VarType.dense(dtype, dims)));
        feeds.add(name);
    }

    private List<PirOp> written(OpDesc.Builder op, String... fetches) {
        Appender.append(program.global(), op.build(), Roles.FORWARD);
        return PirWriter.write(new InferenceModel(program, feeds, List.of(fetches), Map.of())).ops();
    }

    private static PirOp only(List<PirOp> ops, String kind) {
        List<PirOp> found = ops.stream().filter(op -> op.kind().equals(kind)).toList();
        assertEquals(1, found.size(), ops.toString());
        return found.getFirst();
    }

    private static Object attribute(PirOp op, String name) {
        return op.attributes().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow().value();
    }

    /** PaddlePaddle looks for the variable of the operand, and stops if there is none. */
    @Test
    void aResultInPlaceOfAnAbsentOperandHasNoType() {
        feed("p", DType.FLOAT32, 2, 3);
        feed("g", DType.FLOAT32, 2, 3);
        feed("r", DType.FLOAT32, 1);
        PirOp op = only(written(OpDesc.of("sgd").in("Param", "p").in("Grad", "g").in("LearningRate", "r")
                .out("ParamOut", "p").attr("multi_precision", true), "p"), "1.sgd_");
        assertEquals(0L, op.operands().get(3));
        assertNull(op.results().get(1).types().getFirst());
        assertEquals(false, attribute(op, "multi_precision"));
    }

    @ParameterizedTest
    @CsvSource({"4,7", "8,127"})
    void levelsHaveTheBoundsOfTheirBits(int bits, long most) {
        feed("x", DType.FLOAT32, 2, 3);
        feed("s", DType.FLOAT32, 1);
        feed("z", DType.FLOAT32, 1);
        PirOp op = only(written(OpDesc.of("quantize_linear").in("X", "x").in("Scale", "s").in("ZeroPoint", "z")
                .out("Y", "y").attr("quant_axis", -1).attr("bit_length", bits), "y"), "1.quantize_linear");
        assertEquals(most, attribute(op, "qmax"));
        assertEquals(-most - 1, attribute(op, "qmin"));
        assertNull(op.results().get(1).types().getFirst(), "there is no state");
    }

    @ParameterizedTest
    @ValueSource(strings = {"reduce_all", "reduce_any"})
    void allAxesCountWhateverIsNamed(String type) {
        feed("x", DType.BOOL, 2, 3);
        PirOp op = only(written(OpDesc.of(type).in("X", "x").out("Out", "y").attr("dim", new int[]{0})
                .attr("reduce_all", true), "y"), "1." + type.substring("reduce_".length()));
        assertEquals(List.of(), attribute(op, "axis"));
    }

    /** An operand begins at an axis of the longer one, whichever that is, and ones at its end do not count. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"2 4 3;4;1;4 1", "4;2 4 3;1;4 1", "2 4 3;3 1;2;3", "-1 -1 -1;-1 -1;0;0 0 1",
            "2 -1 3;-1;1;0 1"})
    void theShorterOperandGetsTheDimensionsBehindIt(String x, String y, int axis, String reshaped) {
        feed("x", DType.FLOAT32, longs(x));
        feed("y", DType.FLOAT32, longs(y));
        program.global().put(VarDesc.of("z", VarType.dense(DType.FLOAT32, longs(x).length > longs(y).length
                ? longs(x)
                : longs(y))));
        program.global().add(OpDesc.of("elementwise_add").in("X", "x").in("Y", "y").out("Out", "z")
                .attr("axis", axis).build());
        List<PirOp> ops = PirWriter.write(new InferenceModel(program, feeds, List.of("z"), Map.of())).ops();
        assertEquals(list(reshaped), attribute(only(ops, "1.full_int_array"), "value"));
        boolean first = longs(x).length < longs(y).length;
        assertEquals(only(ops, "1.reshape").results().getFirst().number(),
                only(ops, "1.add").operands().get(first ? 0 : 1));
    }

    private static long[] longs(String text) {
        return list(text).stream().mapToLong(Long::longValue).toArray();
    }

    private static List<Long> list(String text) {
        return List.of(text.split(" ")).stream().map(Long::valueOf).toList();
    }

    @Test
    void otherElementsThanFloatsAreCast() {
        feed("x", DType.INT64, 3);
        List<PirOp> ops = written(OpDesc.of("one_hot_v2").in("X", "x").out("Out", "y").attr("depth", 4)
                .attr("dtype", 3), "y");
        VarType made = Objects.requireNonNull(only(ops, "1.one_hot").results().getFirst().types().getFirst());
        assertEquals(DType.FLOAT32, Objects.requireNonNull(made.tensorType()).dtype());
        only(ops, "1.cast");
    }

    /** PIR's full has one value, not a text that is more exact. */
    @Test
    void fillsWithTheNumberOfTheText() {
        feed("x", DType.FLOAT32, 4, 2);
        PirOp op = only(written(OpDesc.of("fill_constant_batch_size_like").in("Input", "x").out("Out", "y")
                .attr("shape", new int[]{-1, 3}).attr("str_value", "3"), "y"), "1.full_batch_size_like");
        assertEquals(3.0, attribute(op, "value"));
    }

    /** PaddlePaddle 3 leaves the variables of results empty that PaddlePaddle 2 leaves as they were. */
    @ParameterizedTest
    @ValueSource(strings = {"fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max"})
    void resultsThatDoNotChangeAreTheOperands(String type) {
        feed("x", DType.FLOAT32, 4, 2);
        feed("scale", DType.FLOAT32, 1);
        for (String out : List.of("y", "z")) {
            Appender.append(program.global(), OpDesc.of(type).in("X", "x").in("InScale", "scale").out("Out", out)
                    .out("OutScale", "scale").attr("is_test", true).build(), Roles.FORWARD);
        }
        List<PirOp> ops = PirWriter.write(new InferenceModel(program, feeds, List.of("z", "scale"), Map.of())).ops()
                .stream().filter(op -> op.kind().equals("1." + type)).toList();
        assertEquals(2, ops.size());
        assertEquals(ops.getFirst().operands(), ops.getLast().operands());
    }

    @ParameterizedTest
    @CsvSource({"false,meangrad", "false,other", "true,meangrad"})
    void gradientsWithoutMeanNeedNone(boolean centered, String out) {
        for (String name : List.of("param", "grad", "meansquare", "moment", "meangrad")) {
            feed(name, DType.FLOAT32, 2, 3);
        }
        feed("rate", DType.FLOAT32, 1);
        PirOp op = only(written(OpDesc.of("rmsprop").in("Param", "param").in("Grad", "grad").in("Moment", "moment")
                .in("MeanSquare", "meansquare").in("MeanGrad", "meangrad").in("LearningRate", "rate")
                .out("ParamOut", "param").out("MomentOut", "moment").out("MeanSquareOut", "meansquare")
                .out("MeanGradOut", out).attr("centered", centered), out, "param"), "1.rmsprop_");
        assertEquals(centered, op.operands().get(5) != 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusesSpectraWithBothSides(boolean half) {
        feed("x", DType.FLOAT32, 2, 32);
        feed("w", DType.FLOAT32, 8);
        OpDesc.Builder op = OpDesc.of("stft").in("X", "x").in("Window", "w").out("Out", "y").attr("n_fft", 8)
                .attr("hop_length", 4).attr("normalized", false).attr("onesided", half);
        if (half) {
            only(written(op, "y"), "1.stft");
        } else {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> written(op, "y"));
            assertTrue(String.valueOf(e.getMessage()).contains("'stft' (with onesided = false"), e.getMessage());
        }
    }

    /** Only a run knows whether the end is before the first element, which PaddlePaddle 3 takes and 2 does not. */
    @Test
    void refusesSlicesBackwardsOfOpenLengths() {
        feed("x", DType.FLOAT32, -1, 2);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> written(OpDesc.of("strided_slice").in("Input", "x").out("Out", "y").attr("axes", new int[]{0})
                        .attr("starts", new int[]{-1}).attr("ends", new int[]{-6}).attr("strides", new int[]{-2})
                        .attr("infer_flags", new int[]{1}), "y"));
        assertTrue(String.valueOf(e.getMessage()).contains("'strided_slice' (backwards"), e.getMessage());
    }

    /** PaddlePaddle 3 joins lists whose elements have one shape, and stops at others. */
    @ParameterizedTest
    @ValueSource(longs = {2, 3, -1})
    void refusesToJoinElementsOfDifferentShapes(long rows) {
        feed("x", DType.FLOAT32, 2, 4);
        feed("y", DType.FLOAT32, rows, 4);
        VarType.TensorType elements = Objects.requireNonNull(VarType.dense(DType.FLOAT32, -1, 4).tensorType());
        program.global().put(VarDesc.of("array", new VarType.TensorArray(elements, null)));
        for (int i = 0; i < 2; i++) {
            Appender.append(program.global(), OpDesc.of("fill_constant").out("Out", "i" + i).attr("dtype", 3)
                    .attr("shape", new long[]{1}).attr("value", (float) i).build(), Roles.FORWARD);
            Appender.append(program.global(), OpDesc.of("write_to_array").in("X", i == 0 ? "x" : "y").in("I", "i" + i)
                    .out("Out", "array").build(), Roles.FORWARD);
        }
        OpDesc.Builder join = OpDesc.of("tensor_array_to_tensor").in("X", "array").out("Out", "out")
                .out("OutIndex", "index").attr("axis", 0).attr("use_stack", false);
        if (rows == 2) {
            only(written(join, "out"), "1.array_to_tensor");
        } else {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> written(join, "out"))
                    .getMessage());
            assertTrue(message.contains(rows < 0
                    ? "those of 'array' have open lengths on axis 0, which may differ: use concat"
                    : "those of 'array' have [[2, 4], [3, 4]]: use concat"), message);
        }
    }

    @Test
    void refusesByName() {
        feed("x", DType.FLOAT32, -1);
        feed("y", DType.FLOAT32, -1);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> written(OpDesc.of("matmul")
                .in("X", "x").in("Y", "y").out("Out", "z").attr("transpose_X", true).attr("transpose_Y", true), "z"));
        assertTrue(String.valueOf(e.getMessage()).contains("'matmul' (PaddlePaddle 3 has no transposed vectors"),
                e.getMessage());
    }
}
