package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Operations on sizes that change, compared with the interpreter. */
class RepeatedOperationTest {
    private static final int ROUNDS = Boolean.getBoolean("seriatim.full") ? 200 : 6;
    private static final long LIMIT = 1L << 30;

    private final Random random = new Random(7);

    /** An operation and its operands for a size that grows. */
    private record Case(OpDesc op, IntFunction<Tensor[]> operands) {
    }

    private Tensor normal(long... dims) {
        float[] values = new float[(int) Arrays.stream(dims).reduce(1, (a, b) -> a * b)];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, dims);
    }

    private static OpDesc.Builder op(String type) {
        return OpDesc.of(type).out("Out", "out");
    }

    private List<Case> cases() {
        return List.of(
                new Case(op("concat").in("X", "a", "b").attr("axis", 1).build(),
                        n -> new Tensor[]{normal(2, n, 3), normal(2, 1, 3)}),
                new Case(op("concat").in("X", "a", "a", "b").attr("axis", 0).build(),
                        n -> new Tensor[]{normal(n, 3), normal(n % 3, 3)}),
                new Case(op("matmul_v2").in("X", "a").in("Y", "b").attr("trans_x", false).attr("trans_y", true).build(),
                        n -> new Tensor[]{normal(2, 4, 1, 8), normal(2, 4, n, 8)}),
                new Case(op("matmul_v2").in("X", "a").in("Y", "b").attr("trans_x", false).attr("trans_y", false)
                        .build(), n -> new Tensor[]{normal(2, 3, n), normal(2, n, 5)}),
                new Case(op("softmax").in("X", "a").attr("axis", -1).build(), n -> new Tensor[]{normal(3, n)}),
                new Case(op("transpose2").in("X", "a").out("XShape", "shape").attr("axis", new int[]{1, 0}).build(),
                        n -> new Tensor[]{normal(n, 3)}),
                new Case(op("elementwise_add").in("X", "a").in("Y", "b").attr("axis", -1).build(),
                        n -> new Tensor[]{normal(n, 4), normal(4)}),
                new Case(op("gather").in("X", "a").in("Index", "b").build(),
                        n -> new Tensor[]{normal(n, 4), Tensor.of(new long[]{random.nextInt(n), n - 1}, 2)}),
                new Case(op("scale").in("X", "a").attr("scale", 0.5f).attr("bias", 1f).build(),
                        n -> new Tensor[]{normal(n)}),
                new Case(op("shape").in("Input", "a").build(), n -> new Tensor[]{normal(n, 2)}));
    }

    private static BlockSession session(OpDesc op, Interpreter interpreter) {
        Program program = new Program();
        program.global().add(op);
        Block block = program.global();
        return interpreter.session(block, Map.of(), 0, _ -> {
            throw new AssertionError("no block");
        });
    }

    private static List<String> names(Tensor[] operands) {
        return List.of("a", "b").subList(0, operands.length);
    }

    private static RepeatedOperation repeated(BlockSession session, List<String> names, @Nullable Tensor[] constants) {
        return Objects
                .requireNonNull(session.repeated(0, names, session.block().ops().getFirst().outputNames(), constants));
    }

    private void compare(Case each, Interpreter interpreter, RepeatedOperation repeated, int size) {
        Tensor[] operands = each.operands.apply(size);
        List<String> written = each.op.outputNames();
        @Nullable
        Tensor[] found = new Tensor[written.size()];
        assertTrue(repeated.run(operands, found, Devices.system().host(), LIMIT), each.op::toString);
        Function<String, @Nullable Object> expected = session(each.op, interpreter).run(0, names(operands), operands,
                Devices.system().host());
        Tensor want = (Tensor) Objects.requireNonNull(expected.apply("out"));
        Tensor have = Objects.requireNonNull(found[written.indexOf("out")]);
        assertEquals(want.spec(), have.spec(), each.op::toString);
        assertArrayEquals(want.toDoubleArray(), have.toDoubleArray(), each.op + " of size " + size);
    }

    /** Growing sequences of several lengths, sizes in any order, and other operands of the same sizes. */
    @Test
    void theResultsAreThoseOfTheInterpreter() {
        for (Case each : cases()) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            RepeatedOperation repeated = repeated(session(each.op, interpreter), names(each.operands.apply(1)),
                    new Tensor[2]);
            for (int round = 0; round < ROUNDS; round++) {
                int length = 1 + random.nextInt(9);
                for (int i = 1; i <= length; i++) {
                    compare(each, interpreter, repeated, round % 3 == 2 ? 1 + random.nextInt(40) : i);
                }
            }
        }
    }

    /** A cache of very few kernels evicts those of other sizes all the time. */
    @Test
    void evictedKernelsAreLookedUpAgain() {
        for (Case each : cases()) {
            PreparedKernels kernels = new PreparedKernels(Kernels.system(), 2);
            Interpreter few = Interpreter.of(kernels);
            RepeatedOperation repeated = repeated(session(each.op, few), names(each.operands.apply(1)), new Tensor[2]);
            Interpreter other = Interpreter.of(Kernels.system());
            for (int i = 0; i < 24; i++) {
                compare(each, other, repeated, 1 + i % 6);
            }
        }
    }

    @Test
    void moreSizesThanAreKeptAreComputedToo() {
        Case concat = cases().getFirst();
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        RepeatedOperation repeated = repeated(session(concat.op, interpreter), List.of("a", "b"), new Tensor[2]);
        for (int round = 0; round < 2; round++) {
            for (int i = 1; i < 1100; i++) {
                Tensor[] operands = {Tensor.allocate(DType.FLOAT32, 1, i, 1), Tensor.of(new float[]{i}, 1, 1, 1)};
                @Nullable
                Tensor[] found = new Tensor[1];
                assertTrue(repeated.run(operands, found, Devices.system().host(), LIMIT));
                double[] joined = Objects.requireNonNull(found[0]).toDoubleArray();
                assertEquals(i + 1, joined.length);
                assertEquals(i, joined[i]);
            }
        }
    }

    /** The axis comes from a tensor: what was lowered for one axis does not suit another. */
    @Test
    void anOperationThatReadsElementsIsLeftToTheInterpreterUnlessTheyAreConstant() {
        OpDesc op = op("concat").in("X", "a", "a").in("AxisTensor", "b").attr("axis", 0).build();
        Tensor[] operands = {normal(2, 3), Tensor.of(DType.INT32, new long[]{1}, 1)};
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        RepeatedOperation changing = repeated(session(op, interpreter), List.of("a", "b"), new Tensor[2]);
        assertFalse(changing.run(operands, new Tensor[1], Devices.system().host(), LIMIT), op::toString);
        RepeatedOperation constant = repeated(session(op, interpreter), List.of("a", "b"),
                new Tensor[]{null, operands[1]});
        @Nullable
        Tensor[] found = new Tensor[1];
        assertTrue(constant.run(operands, found, Devices.system().host(), LIMIT));
        assertArrayEquals(new long[]{2, 6}, Objects.requireNonNull(found[0]).shape().dims());
    }

    private Tensor sparse(DType dtype, long... dims) {
        double[] values = new double[(int) Arrays.stream(dims).reduce(1, (a, b) -> a * b)];
        Arrays.setAll(values, i -> random.nextInt(3) == 0 ? 0 : dtype == DType.FLOAT32 ? random.nextGaussian() : 1);
        if (dtype.isFloating() && values.length > 2) {
            values[0] = Double.NaN;
            values[1] = -0.0;
        }
        return Tensor.of(dtype, values, dims);
    }

    /** Results whose size depends on the elements of an operand, which are computed in one step. */
    @Test
    void elementsDecideTheSize() {
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        OpDesc index = op("where_index").in("Condition", "a").build();
        OpDesc select = OpDesc.of("masked_select").in("X", "a").in("Mask", "b").out("Y", "out").build();
        for (DType dtype : List.of(DType.BOOL, DType.UINT8, DType.INT8, DType.INT32, DType.INT64, DType.FLOAT32)) {
            for (int rank = 1; rank <= 4; rank++) {
                long[] dims = random.longs(rank, 0, 5).toArray();
                Case indexes = new Case(index, _ -> new Tensor[]{sparse(dtype, dims)});
                compare(indexes, interpreter, repeated(session(index, interpreter), List.of("a"), new Tensor[1]), 1);
                Case chosen = new Case(select, _ -> new Tensor[]{sparse(dtype, dims), sparse(DType.BOOL, dims)});
                compare(chosen, interpreter, repeated(session(select, interpreter), List.of("a", "b"), new Tensor[2]),
                        1);
            }
        }
    }

    @Test
    void otherConditionsAndMasksAreLeftToTheInterpreter() {
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        OpDesc index = op("where_index").in("Condition", "a").build();
        assertFalse(repeated(session(index, interpreter), List.of("a"), new Tensor[1])
                .run(new Tensor[]{sparse(DType.FLOAT64, 3)}, new Tensor[1], Devices.system().host(), LIMIT));
        OpDesc select = OpDesc.of("masked_select").in("X", "a").in("Mask", "b").out("Y", "out").build();
        assertFalse(repeated(session(select, interpreter), List.of("a", "b"), new Tensor[2])
                .run(new Tensor[]{normal(2, 3), sparse(DType.BOOL, 3)}, new Tensor[1], Devices.system().host(), LIMIT));
    }

    @Test
    void randomOperationsAndThoseThatWriteWhatTheyReadAreRefused() {
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        OpDesc scale = OpDesc.of("scale").in("X", "a").out("Out", "a").attr("scale", 2f).build();
        assertNull(session(scale, interpreter).repeated(0, List.of("a"), List.of("a"), new Tensor[1]));
        OpDesc uniform = op("uniform_random").attr("shape", new long[]{2}).attr("dtype", 5).build();
        assertNull(session(uniform, interpreter).repeated(0, List.of(), List.of("out"), new Tensor[0]));
        OpDesc other = op("scale").in("X", "a").attr("scale", 2f).build();
        assertNotNull(session(other, interpreter).repeated(0, List.of("a"), List.of("out"), new Tensor[1]));
    }

    /** A plan keeps the operation, but no values of the run in which it was first needed. */
    @Test
    void noReferenceToAFinishedRunIsKept() {
        OpDesc op = op("scale").in("X", "a").attr("scale", 2f).build();
        Program program = new Program();
        program.global().add(op);
        Tensor fed = normal(5);
        BlockSession session = Interpreter.of(Kernels.portable()).session(program.global(), Map.of("a", fed), 0, _ -> {
            throw new AssertionError("no block");
        });
        session.set("a", fed);
        RepeatedOperation repeated = repeated(session, List.of("a"), new Tensor[1]);
        assertTrue(repeated.run(new Tensor[]{fed}, new Tensor[1], Devices.system().host(), LIMIT));
        Set<Object> reached = Collections.newSetFromMap(new IdentityHashMap<>());
        reach(repeated, reached);
        assertTrue(reached.contains(op));
        assertFalse(reached.contains(fed));
    }

    /** Adds the objects of our own packages and collections that can be reached from one. */
    private static void reach(@Nullable Object from, Set<Object> reached) {
        if (from == null || !reached.add(from)) {
            return;
        }
        switch (from) {
            case Map<?, ?> map -> map.forEach((key, value) -> {
                reach(key, reached);
                reach(value, reached);
            });
            case Collection<?> all -> all.forEach(each -> reach(each, reached));
            case Object[] all -> Arrays.stream(all).forEach(each -> reach(each, reached));
            default -> {
                boolean isOwn = from.getClass().getPackageName().equals(RepeatedOperation.class.getPackageName());
                for (Field field : isOwn ? from.getClass().getDeclaredFields() : new Field[0]) {
                    if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                        reach(value(field, from), reached);
                    }
                }
            }
        }
    }

    private static @Nullable Object value(Field field, Object of) {
        try {
            field.setAccessible(true);
            return field.get(of);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void errorsNameTheOperation() {
        OpDesc op = op("concat").in("X", "a", "b").attr("axis", 1).build();
        RepeatedOperation repeated = repeated(session(op, Interpreter.of(Kernels.portable())), List.of("a", "b"),
                new Tensor[2]);
        Tensor[] operands = {normal(2, 3), normal(3, 3)};
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> repeated.run(operands, new Tensor[1], Devices.system().host(), LIMIT));
        assertTrue(String.valueOf(refusal.getMessage()).startsWith("Block 0, operation 0 (concat): "),
                refusal::getMessage);
        @Nullable
        Tensor[] found = new Tensor[1];
        assertTrue(repeated.run(new Tensor[]{normal(3, 2), normal(3, 3)}, found, Devices.system().host(), LIMIT));
        assertEquals(15, Objects.requireNonNull(found[0]).shape().size());
    }
}
