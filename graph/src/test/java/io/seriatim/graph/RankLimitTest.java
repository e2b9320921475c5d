package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.CodedOutputStream;
import com.sun.management.ThreadMXBean;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors have at most {@link Shape#MAX_RANK} dimensions, and more are refused before work is done for each. */
class RankLimitTest {
    private static final int MANY = 100_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    Path folder = Path.of("");

    private static OpDesc operation(String type, int rank) {
        int[] ones = new int[rank];
        Arrays.fill(ones, 1);
        OpDesc.Builder op = OpDesc.of(type);
        return switch (type) {
            case "reshape2" -> op.in("X", "x").out("Out", "y").out("XShape", "s").attr("shape", ones).build();
            case "unsqueeze2" ->
                op.in("X", "x").out("Out", "y").out("XShape", "s").attr("axes", new int[rank - 1]).build();
            case "expand_v2" -> op.in("X", "x").out("Out", "y").attr("shape", ones).build();
            default -> op.out("Out", "y").attr("shape", Arrays.stream(ones).asLongStream().toArray())
                    .attr("dtype", 5).build();
        };
    }

    private static Program program(OpDesc op) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1)));
        Appender.append(program.global(), op, 0);
        return program;
    }

    private static long allocated(Runnable work) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        work.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    private static void refused(String type, int rank) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> program(operation(type, rank))).getMessage());
        for (String part : List.of(type, " " + rank + " dimensions", "at most 32")) {
            assertTrue(message.contains(part), message);
        }
        assertTrue(message.length() < 2000, message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"reshape2", "unsqueeze2", "expand_v2", "fill_constant", "gaussian_random",
            "uniform_random"})
    void operationsAreRefused(String type) {
        refused(type, Shape.MAX_RANK + 1);
        long one = allocated(() -> refused(type, MANY));
        long four = allocated(() -> refused(type, 4 * MANY));
        assertTrue(four < 5 * one + (1 << 20), one + " and " + four + " bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"reshape2", "unsqueeze2", "expand_v2", "fill_constant"})
    void theMostDimensionsAreAccepted(String type) {
        long[] ones = new long[Shape.MAX_RANK];
        Arrays.fill(ones, 1);
        assertArrayEquals(ones, program(operation(type, Shape.MAX_RANK)).global().get("y").tensor().shape());
    }

    @Test
    void variablesOfFilesAreRefused() throws Exception {
        Path file = folder.resolve("model.pdmodel");
        for (int rank : new int[]{Shape.MAX_RANK, Shape.MAX_RANK + 1, MANY}) {
            Files.write(file, program(rank));
            if (rank == Shape.MAX_RANK) {
                ProgramFiles.read(file);
            } else {
                String message = String.valueOf(
                        assertThrows(FileFormatException.class, () -> ProgramFiles.read(file)).getMessage());
                assertTrue(message.contains("'wide'") && message.contains(rank + " dimensions"), message);
            }
        }
    }

    /** A file with a variable of so many dimensions, field by field, because such a variable cannot be made. */
    private static byte[] program(int rank) throws IOException {
        ByteArrayOutputStream tensor = new ByteArrayOutputStream();
        tensor.writeBytes(new byte[]{1 << 3, 5});
        for (int i = 0; i < rank; i++) {
            tensor.writeBytes(new byte[]{2 << 3, 1});
        }
        byte[] type = joined(new byte[]{1 << 3, VarType.DENSE}, field(3, field(1, tensor.toByteArray())));
        byte[] variable = joined(field(1, "wide".getBytes(StandardCharsets.UTF_8)), field(2, type));
        return field(1, joined(new byte[]{1 << 3, 0, 2 << 3, -1, -1, -1, -1, 15}, field(3, variable)));
    }

    private static byte[] field(int number, byte[] content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.writeByteArray(number, content);
        out.flush();
        return bytes.toByteArray();
    }

    private static byte[] joined(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
