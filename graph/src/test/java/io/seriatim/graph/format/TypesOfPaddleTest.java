package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Types that PaddlePaddle's files lack are in programs, and are not written. */
class TypesOfPaddleTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(DType.class)
    void everyTypeHasItsNumber(DType dtype) {
        assertEquals(dtype, DataTypes.dtype(DataTypes.number(dtype)));
        assertEquals(dtype.isUnsigned() && dtype != DType.UINT8, DataTypes.isOwn(DataTypes.number(dtype)));
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"UINT16", "UINT32", "UINT64"})
    void whatPaddleLacksIsNotWritten(DType dtype) throws Exception {
        Program program = new Program();
        program.global().put(VarDesc.of("count", VarType.dense(dtype, 2, 3)));
        Path file = folder.resolve("x.pdmodel");
        says(assertThrows(IllegalArgumentException.class, () -> ProgramFiles.write(file, program)), "'count'",
                dtype + "[2, 3]");
        Program cast = new Program();
        cast.global().add(OpDesc.of("cast").in("X", "x").out("Out", "y").attr("in_dtype", 3)
                .attr("out_dtype", DataTypes.number(dtype)).build());
        says(assertThrows(IllegalArgumentException.class, () -> ProgramFiles.write(file, cast)), "out_dtype", "'cast'",
                dtype.toString());
        assertFalse(Files.exists(file));
        try (Tensor tensor = Tensor.of(dtype, new long[]{1, 2})) {
            says(assertThrows(IllegalArgumentException.class, () -> TensorStreams.write(new ByteArrayOutputStream(),
                    new TensorStreams.LodTensor(tensor))), dtype.toString());
        }
        // In memory it is a program like any other.
        Program again = ProgramFiles.parse("memory", ProgramFiles.toBytes(program));
        assertArrayEquals(ProgramFiles.toBytes(program), ProgramFiles.toBytes(again));
    }

    /** A value on the way from a feed to a fetch has the type, which no file of Paddle says. */
    @ParameterizedTest
    @CsvSource({"UINT16,pdmodel", "UINT32,pdmodel", "UINT64,pdmodel", "UINT16,json", "UINT32,json", "UINT64,json"})
    void modelsWithTypesThatPaddleLacksAreNotWritten(DType dtype, String format) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.INT64, 2)));
        for (String[] cast : new String[][]{{"x", "count"}, {"count", "y"}}) {
            Appender.append(program.global(), OpDesc.of("cast").in("X", cast[0]).out("Out", cast[1])
                    .attr("in_dtype", DataTypes.number(cast[0].equals("x") ? DType.INT64 : dtype))
                    .attr("out_dtype", DataTypes.number(cast[1].equals("y") ? DType.INT64 : dtype)).build(),
                    Roles.FORWARD);
        }
        Path file = folder.resolve("x." + format);
        says(assertThrows(IllegalArgumentException.class, () -> InferenceModels.save(file,
                new InferenceModels.InferenceModel(program, List.of("x"), List.of("y"), Map.of()))), dtype.toString());
        assertFalse(Files.exists(file));
    }

    private static void says(Throwable refusal, String... parts) {
        for (String part : parts) {
            assertTrue(Objects.requireNonNull(refusal.getMessage()).contains(part), refusal.getMessage());
        }
    }
}
