package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operations that the interpreter itself carries out. */
class InstructionsTest {
    private final Program program = new Program();
    private final Block block = program.global();
    private final Map<String, Tensor> feeds = new HashMap<>();
    private AllowedFiles files = AllowedFiles.NONE;

    private void feed(String name, double... values) {
        feeds.put(name, Tensor.of(values, values.length));
    }

    private void feed(String name, long value) {
        feeds.put(name, Tensor.of(new long[]{value}, 1));
    }

    private void flag(String name, boolean value) {
        feeds.put(name, Tensor.of(DType.BOOL, new long[]{value ? 1 : 0}, 1));
    }

    private void add(OpDesc.Builder op) {
        block.add(op.build());
    }

    private Interpreter interpreter() {
        return Interpreter.of(Kernels.portable()).files(files);
    }

    private Tensor run(String fetch) {
        Tensor found = interpreter().run(program, feeds, List.of(fetch)).get(fetch);
        assertTrue(found != null, fetch);
        return found;
    }

    private void refused(String... parts) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> interpreter().run(program, feeds, List.of()));
        for (String part : parts) {
            assertTrue(String.valueOf(refusal.getMessage()).contains(part), String.valueOf(refusal.getMessage()));
        }
    }

    @Test
    void whatIsNotFedIsNamed() {
        feed("other", 1.0);
        add(OpDesc.of("feed").in("X", "feed").out("Out", "image").attr("col", 0));
        refused("'image' is not fed", "[other]");
    }

    @Test
    void readersAreFed() {
        add(OpDesc.of("read").in("Reader", "source").out("Out", "x", "y"));
        refused("[x, y]", "[source]", "Executor");
        feed("x", 1, 2);
        feed("y", 3);
        assertArrayEquals(new double[]{1, 2}, run("x").toDoubleArray());
    }

    /** Not even if the program says that there is one rank: a copy in place of a sum would silently be wrong. */
    @Test
    void communicationWithoutACommunicatorIsRefused() {
        feed("x", 1, 2);
        for (String type : List.of("c_allreduce_sum", "c_broadcast", "c_allgather", "c_reducescatter")) {
            for (int ranks : new int[]{1, 4}) {
                add(OpDesc.of(type).in("X", "x").out("Out", type).attr("ring_id", 3).attr("nranks", ranks));
                refused(type, "ring 3", "no communicator", "Executor.builder().communicator");
                block.setOps(List.of());
            }
        }
    }

    @Test
    void synchronisingWithOneselfNeedsNoRanks() {
        feed("x", 1, 2);
        for (String type : List.of("c_sync_calc_stream", "c_sync_comm_stream")) {
            add(OpDesc.of(type).in("X", "x").out("Out", type));
            assertArrayEquals(new double[]{1, 2}, run(type).toDoubleArray(), type);
        }
    }

    /** Collectives that are not known at all are refused, not taken for copies. */
    @Test
    void unknownCollectivesAreRefused() {
        feed("x", 1, 2);
        for (String type : List.of("c_allreduce_max", "c_allreduce_min", "c_allreduce_prod", "c_concat", "c_split",
                "c_identity",
                "c_reduce_sum", "c_scatter", "mp_allreduce_sum", "allreduce", "broadcast", "alltoall",
                "partial_allgather", "barrier")) {
            add(OpDesc.of(type).in("X", "x").out("Out", type).attr("nranks", 1));
            refused(type);
            block.setOps(List.of());
        }
    }

    @Test
    void sendingIsRefused() {
        feed("x", 1, 2);
        add(OpDesc.of("send_v2").in("X", "x").attr("peer", 3));
        refused("send_v2", "rank 3", "by collectives only");
    }

    @Test
    void whatIsFedIsNotChanged() {
        feed("x", 1.0);
        add(OpDesc.of("increment").in("X", "x").out("Out", "x").attr("step", 1f));
        assertEquals(2, run("x").toDoubleArray()[0]);
        assertEquals(1, feeds.getOrDefault("x", Tensor.of(new double[0], 0)).toDoubleArray()[0]);
    }

    @Test
    void aBranchThatIsNotTakenWritesNothing() {
        Block branch = program.addBlock(0, null);
        branch.add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 2f).build());
        block.put(VarDesc.of("y", VarType.dense(DType.FLOAT64, 2)));
        feed("x", 1, 2);
        add(OpDesc.of("conditional_block").in("Cond", "p").in("Input", "x").out("Out", "y").out("Scope", "s")
                .attr("sub_block", branch)
                .attr("is_scalar_condition", true));
        flag("p", true);
        assertArrayEquals(new double[]{2, 4}, run("y").toDoubleArray());
        flag("p", false);
        IllegalArgumentException missing = assertThrows(IllegalArgumentException.class, () -> run("y"));
        assertTrue(String.valueOf(missing.getMessage()).contains("'y' has no value"),
                String.valueOf(missing.getMessage()));
    }

    @Test
    void aVariableOfABlockHidesOneOutside() {
        Block branch = program.addBlock(0, null);
        branch.put(VarDesc.of("x", VarType.dense(DType.FLOAT64, 1)));
        branch.add(OpDesc.of("scale").in("X", "p2").out("Out", "x").attr("scale", 10f).build());
        branch.add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 2f).build());
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT64, 1)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT64, 1)));
        feed("x", 1.0);
        feed("p2", 4.0);
        flag("p", true);
        add(OpDesc.of("conditional_block").in("Cond", "p").in("Input", "p2").out("Out", "y").out("Scope", "s")
                .attr("sub_block", branch)
                .attr("is_scalar_condition", true));
        assertEquals(80, run("y").toDoubleArray()[0]);
        assertEquals(1, run("x").toDoubleArray()[0]);
    }

    @Test
    void conditionsAreOneElement() {
        Block body = program.addBlock(0, null);
        feeds.put("c", Tensor.of(DType.BOOL, new long[]{1, 0}, 2));
        add(OpDesc.of("while").in("X").in("Condition", "c").out("Out").out("StepScopes", "s").attr("sub_block", body)
                .attr("is_test",
                        true));
        refused("'c' must be one element");
    }

    @Test
    void theFirstBlockIsNoBodyOfALoop() {
        flag("c", true);
        add(OpDesc.of("while").in("X").in("Condition", "c").out("Out").out("StepScopes", "s").attr("sub_block", block)
                .attr("is_test",
                        true));
        refused("sub_block");
    }

    @Test
    void aGradientNeedsTheStepsOfItsLoop() {
        Block gradient = program.addBlock(0, 0);
        feed("x", 1.0);
        add(OpDesc.of("while_grad").in("X", "x").in("Out").in("Out@GRAD").in("StepScopes", "s").out("X@GRAD", "x@GRAD")
                .attr("sub_block", gradient));
        refused("'s' holds no steps");
    }

    @Test
    void masksChoose() {
        feed("a", 1.0);
        feed("b", 2.0);
        add(OpDesc.of("select_input").in("X", "a", "b").in("Mask", "m").out("Out", "y"));
        feed("m", 1);
        assertEquals(2, run("y").toDoubleArray()[0]);
        feed("m", 2);
        refused("from 0 to 1, but is 2");
    }

    @Test
    void listsAreWrittenBeforeTheyAreRead() {
        feed("x", 1, 2);
        feed("i", 1);
        feed("j", 0);
        add(OpDesc.of("write_to_array").in("X", "x").in("I", "i").out("Out", "list"));
        add(OpDesc.of("lod_array_length").in("X", "list").out("Out", "n"));
        add(OpDesc.of("read_from_array").in("X", "list").in("I", "i").out("Out", "y"));
        assertEquals(2, run("n").toLongArray()[0]);
        assertArrayEquals(new double[]{1, 2}, run("y").toDoubleArray());
        add(OpDesc.of("read_from_array").in("X", "list").in("I", "j").out("Out", "z"));
        refused("'list' has nothing at 0", "length of 2");
    }

    @Test
    void indexesOfListsAreNotNegative() {
        feed("x", 1, 2);
        feed("i", -1);
        add(OpDesc.of("write_to_array").in("X", "x").in("I", "i").out("Out", "list"));
        refused("from 0 to", "but is -1");
    }

    @Test
    void elementsAreInsertedAndErased() {
        feed("x", 1, 2, 3);
        feed("y", 4.0);
        feed("one", 1);
        feed("four", 4);
        feeds.put("lengths", Tensor.of(new long[]{1, 0, 2}, 3));
        add(OpDesc.of("array_split").in("X", "x").in("Lengths", "lengths").out("Out", "parts"));
        add(OpDesc.of("array_insert").in("X", "parts").in("I", "one").in("T", "y").out("Out", "more"));
        add(OpDesc.of("array_erase").in("X", "parts").in("I", "one").out("Out", "fewer"));
        for (String list : List.of("parts", "more", "fewer")) {
            add(OpDesc.of("tensor_array_to_tensor").in("X", list).out("Out", list + " joined")
                    .out("OutIndex", list + " lengths").attr("axis", 0).attr("use_stack", false));
        }
        assertArrayEquals(new long[]{1, 0, 2}, run("parts lengths").toLongArray());
        assertArrayEquals(new double[]{1, 4, 2, 3}, run("more joined").toDoubleArray());
        assertArrayEquals(new long[]{1, 2}, run("fewer lengths").toLongArray());
        List<OpDesc> ops = List.copyOf(block.ops());
        add(OpDesc.of("array_insert").in("X", "parts").in("I", "four").in("T", "y").out("Out", "list"));
        refused("'parts' has 3 elements", "from 0 to 3", "is 4");
        block.setOps(ops);
        add(OpDesc.of("array_erase").in("X", "more").in("I", "four").out("Out", "list"));
        refused("'more' has 4 elements", "from 0 to 3", "is 4");
        block.setOps(ops);
        for (long[] lengths : new long[][]{{1, 1}, {4, -1, 0}, {Long.MAX_VALUE, Long.MAX_VALUE, 5}}) {
            feeds.put("lengths", Tensor.of(lengths, lengths.length));
            refused("length 3", "parts of the lengths");
        }
    }

    @Test
    void axesAreSplitIntoEqualParts() {
        feed("x", 1, 2, 3, 4, 5);
        feeds.put("each", Tensor.of(new long[]{2}));
        add(OpDesc.of("array_split").in("X", "x").in("Lengths", "each").out("Out", "pairs"));
        add(OpDesc.of("array_split").in("X", "x").out("Out", "single").attr("use_stack", true));
        for (String list : List.of("pairs", "single")) {
            add(OpDesc.of("tensor_array_to_tensor").in("X", list).out("Out", list + " joined")
                    .out("OutIndex", list + " lengths").attr("axis", 0).attr("use_stack", list.equals("single")));
        }
        assertArrayEquals(new long[]{2, 2, 1}, run("pairs lengths").toLongArray());
        assertArrayEquals(new double[]{1, 2, 3, 4, 5}, run("single joined").toDoubleArray());
        for (long each : new long[]{0, -1, Long.MIN_VALUE}) {
            feeds.put("each", Tensor.of(new long[]{each}));
            refused("length 5", "is " + each);
        }
        feeds.put("each", Tensor.of(new long[]{Long.MAX_VALUE}));
        assertArrayEquals(new long[]{5}, run("pairs lengths").toLongArray());
    }

    @Test
    void listsAreJoined() {
        feed("x", 1, 2);
        feed("y", 3);
        feed("i", 0);
        feed("j", 1);
        add(OpDesc.of("write_to_array").in("X", "x").in("I", "i").out("Out", "list"));
        add(OpDesc.of("write_to_array").in("X", "y").in("I", "j").out("Out", "list"));
        add(OpDesc.of("tensor_array_to_tensor").in("X", "list").out("Out", "z").out("OutIndex", "lengths").attr("axis",
                -1));
        feeds.put("y", Tensor.of(new double[]{3, 4, 5}, 3));
        assertArrayEquals(new double[]{1, 2, 3, 4, 5}, run("z").toDoubleArray());
        assertArrayEquals(new long[]{2, 3}, run("lengths").toLongArray());
    }

    @Test
    void listsAreStackedAlongAnyAxis() {
        for (DType dtype : List.of(DType.FLOAT32, DType.INT64, DType.BOOL)) {
            for (int columns : new int[]{3, 0}) {
                for (int axis = 0; axis < 3; axis++) {
                    stack(dtype, columns, axis);
                }
            }
        }
        feeds.put("e0", Tensor.of(DType.BOOL, new long[6], 3, 2));
        refused("must have one shape but for axis 2");
    }

    private void stack(DType dtype, int columns, int axis) {
        block.setOps(List.of());
        double[][] parts = new double[4][2 * columns];
        for (int part = 0; part < 4; part++) {
            for (int i = 0; i < 2 * columns; i++) {
                parts[part][i] = dtype == DType.BOOL ? (part + i) % 3 % 2 : 10 * part + i;
            }
            feeds.put("e" + part, Tensor.of(dtype, parts[part], 2, columns));
            feed("i" + part, part);
            add(OpDesc.of("write_to_array").in("X", "e" + part).in("I", "i" + part).out("Out", "list"));
        }
        add(OpDesc.of("tensor_array_to_tensor").in("X", "list").out("Out", "all").out("OutIndex", "lengths")
                .attr("axis", axis).attr("use_stack", true));
        long[] dims = {2, columns, 0};
        System.arraycopy(dims, axis, dims, axis + 1, 2 - axis);
        dims[axis] = 4;
        double[] expected = new double[8 * columns];
        for (int part = 0; part < 4; part++) {
            for (int i = 0; i < 2 * columns; i++) {
                int row = i / columns;
                int column = i % columns;
                int to = switch (axis) {
                    case 0 -> part * 2 * columns + i;
                    case 1 -> (row * 4 + part) * columns + column;
                    default -> i * 4 + part;
                };
                expected[to] = parts[part][i];
            }
        }
        Tensor found = run("all");
        assertEquals(dtype, found.dtype());
        assertArrayEquals(dims, found.shape().dims(), dtype + ", axis " + axis);
        assertArrayEquals(expected, found.toDoubleArray(), dtype + ", axis " + axis);
        assertArrayEquals(new long[]{1, 1, 1, 1}, run("lengths").toLongArray());
    }

    @Test
    void variablesAreSavedAndLoaded(@TempDir Path folder) throws Exception {
        files = AllowedFiles.in(folder);
        Path file = folder.resolve("deep/x");
        feed("x", 1, 2.5, -3);
        add(OpDesc.of("save").in("X", "x").attr("file_path", file.toString()).attr("overwrite", false));
        add(OpDesc.of("load").out("Out", "y").attr("file_path", file.toString()));
        add(OpDesc.of("load").out("Out", "part").attr("file_path", "deep/x").attr("seek", 1L).attr("shape",
                new long[]{2, 1}));
        assertArrayEquals(new double[]{1, 2.5, -3}, run("y").toDoubleArray());
        refused("already", "overwrite");
        Files.delete(file);
        assertArrayEquals(new double[]{2.5, -3}, run("part").toDoubleArray());
    }

    @Test
    void variablesAreSavedTogether(@TempDir Path folder) {
        files = AllowedFiles.in(folder);
        String file = folder.resolve("all").toString();
        feed("x", 1, 2.5);
        feed("n", 7);
        add(OpDesc.of("save_combine").in("X", "x", "n").attr("file_path", file).attr("save_as_fp16", true));
        add(OpDesc.of("load_combine").out("Out", "y", "m").attr("file_path", file));
        assertEquals(DType.FLOAT16, run("y").dtype());
        assertArrayEquals(new double[]{1, 2.5}, run("y").toDoubleArray());
        assertArrayEquals(new long[]{7}, run("m").toLongArray());
    }

    @Test
    void filesThatAreNotThereAreNamed(@TempDir Path folder) {
        files = AllowedFiles.in(folder);
        String file = folder.resolve("nothing").toString();
        add(OpDesc.of("load_combine").out("Out", "y").attr("file_path", file));
        UncheckedIOException failure = assertThrows(UncheckedIOException.class, () -> run("y"));
        assertTrue(
                String.valueOf(failure.getMessage()).contains("load_combine")
                        && String.valueOf(failure.getMessage()).contains(file),
                String.valueOf(failure.getMessage()));
    }

    @Test
    void filesThatAreNotAllowedAreRefusedBeforeAnythingRuns(@TempDir Path folder) throws Exception {
        Path allowed = Files.createDirectory(folder.resolve("allowed"));
        Path secret = Files.writeString(folder.resolve("secret"), "secret");
        Files.createSymbolicLink(allowed.resolve("link"), secret);
        feed("x", 1.0);
        add(OpDesc.of("assert").in("Cond", "x"));
        Block branch = program.addBlock(0, null);
        for (String name : List.of(secret.toString(), "../secret", "link", "", "a\0b", "C:\\x")) {
            for (OpDesc.Builder op : List.of(OpDesc.of("save").in("X", "x"), OpDesc.of("save_combine").in("X", "x"),
                    OpDesc.of("load").out("Out", "y"), OpDesc.of("load_combine").out("Out", "y"))) {
                branch.setOps(List.of(op.attr("file_path", name).build()));
                files = AllowedFiles.NONE;
                refused("block 1, operation 0", "'" + name + "'", "--allow-files");
                files = AllowedFiles.in(allowed);
                refused("block 1, operation 0", "'" + name + "'", allowed.toString());
            }
        }
        branch.setOps(List.of(OpDesc.of("save").in("X", "x").build()));
        refused("'file_path' names no file");
        assertEquals("secret", Files.readString(secret));
        assertThrows(IllegalArgumentException.class, () -> AllowedFiles.in(secret));
    }

    /** A new operation that touches files declares it, or this list is wrong. */
    @Test
    void theOperationsThatTouchFilesAreKnown() {
        assertEquals(List.of("load", "load_combine", "save", "save_combine"),
                Operations.system().all().stream().filter(each -> each.file() != null).map(Operation::type).sorted()
                        .toList());
    }
}
