package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.CodedOutputStream;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgramFilesTest {
    private static final Set<String> PROGRAMS = Set.of("main", "startup", "inference", "infer_test", "program");

    @TempDir
    private Path folder = Path.of("");

    /** Every program that Paddle wrote for our tests is read, and written with the same bytes. */
    @ParameterizedTest
    @ValueSource(strings = {"programs", "operations", "exports"})
    void writesTheBytesThatItReads(String file) throws IOException {
        Map<String, Tensor> entries = GoldenFiles.entries(file);
        List<String> keys = entries.keySet().stream()
                .filter(key -> PROGRAMS.contains(key.substring(key.lastIndexOf('/') + 1))).toList();
        assertTrue(keys.size() >= 16, "there are programs");
        for (String key : keys) {
            byte[] bytes = GoldenFiles.bytes(entries, key);
            assertArrayEquals(bytes, ProgramFiles.toBytes(ProgramFiles.parse(key, bytes)), key);
            assertArrayEquals(bytes, ProgramFiles.toBytes(ProgramFiles.parse(key, bytes).copy()), key);
        }
    }

    /** The hashes are Paddle's own. */
    @Test
    void hashesAsPaddleDoes() throws IOException {
        Map<String, Tensor> entries = GoldenFiles.entries("exports");
        for (String name : GoldenFiles.names(entries, "hash")) {
            Program program = GoldenFiles.program(entries, name + "/main");
            assertEquals(GoldenFiles.text(entries, name + "/hash"), Long.toUnsignedString(ProgramFiles.hash(program)),
                    name);
        }
    }

    /** A program for training is two programs, and each a file of its own. */
    @Test
    void keepsProgramsForTraining() throws IOException {
        Map<String, Tensor> entries = GoldenFiles.entries("programs");
        for (String part : List.of("main", "startup")) {
            Path file = folder.resolve(part + ".pdmodel");
            ProgramFiles.write(file, GoldenFiles.program(entries, "lenet_adam/" + part));
            assertArrayEquals(GoldenFiles.bytes(entries, "lenet_adam/" + part), Files.readAllBytes(file));
            assertEquals(GoldenFiles.program(entries, "lenet_adam/" + part).toString(),
                    ProgramFiles.read(file).toString());
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(2, files.count(), "no temporary file stays");
        }
    }

    /** A program with all kinds of variables and attributes. */
    static Program everything() {
        Program program = new Program();
        Block global = program.global();
        global.put(VarDesc.of("dense", VarType.dense(DType.FLOAT32, -1, 3)))
                .put(new VarDesc("rows", new VarType.Rows(VarType.TensorType.of(DType.INT64, 7, 2)), true, false, true,
                        false));
        global.put(VarDesc.of("array", new VarType.TensorArray(VarType.TensorType.of(DType.BFLOAT16), 1)));
        global.put(VarDesc.of("reader",
                new VarType.Reader(List.of(new VarType.Dense(VarType.TensorType.of(DType.UINT8, 1), 2)))));
        global.put(VarDesc.of("größe, 大, 😀", new VarType.Other(VarType.STEP_SCOPES)));
        Block inner = program.addBlock(0, null);
        program.addBlock(0, inner.index());
        program.addBlock(2, null);
        Attribute.ScalarNumber complex = new Attribute.ScalarNumber.OfComplex(1.5, -2);
        global.add(OpDesc.of("any").in("X", "dense", "rows").in("Empty").out("Out", "array").attr("int", -1)
                .attr("real", 1.5f)
                .attr("text", "ü\n")
                .attr("ints", new int[]{1, -2, Integer.MIN_VALUE}).attr("reals", new float[]{Float.NaN, -0f})
                .attr("texts", new String[]{"", "a"})
                .attr("bool", true).attr("bools", new boolean[]{true, false}).attr("block", inner)
                .attr("long", Long.MIN_VALUE)
                .attr("blocks", new Attribute.BlockRefs(List.of(1, 2))).attr("longs", new long[]{Long.MAX_VALUE, -1})
                .attr("doubles", new double[]{1e300, 0})
                .attr("var", new Attribute.VarRef("dense"))
                .attr("vars", new Attribute.VarRefs(List.of("dense", "rows")))
                .attr("double", -0.0)
                .attr("scalar", new Attribute.Scalar(complex))
                .attr("scalars", new Attribute.Scalars(List.of(complex, new Attribute.ScalarNumber.OfBool(true),
                        new Attribute.ScalarNumber.OfLong(-7), new Attribute.ScalarNumber.OfDouble(2.5))))
                .build());
        return program;
    }

    /** All kinds of attributes and variables, also those that no golden program has. */
    @Test
    void keepsEverything() throws IOException {
        byte[] bytes = ProgramFiles.toBytes(everything());
        Program back = ProgramFiles.parse("everything", bytes);
        assertEquals(everything().global().ops(), back.global().ops());
        assertEquals(List.copyOf(everything().global().vars()), List.copyOf(back.global().vars()));
        assertEquals(1, back.block(2).forward());
        assertArrayEquals(bytes, ProgramFiles.toBytes(back));
    }

    @Test
    void aFileNeedNotSayTheVersion() throws IOException {
        Program program = Program.empty(null, null);
        program.addBlock(Block.NONE, null);
        Program back = ProgramFiles.parse("bare", ProgramFiles.toBytes(program));
        assertNull(back.version());
        assertNull(back.opVersions());
    }

    private interface Fields {
        void write(CodedOutputStream out) throws IOException;
    }

    private static byte[] message(Fields fields) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        fields.write(out);
        out.flush();
        return bytes.toByteArray();
    }

    /** A program of one operation with one attribute. */
    private static byte[] withAttribute(byte[] attribute) throws IOException {
        byte[] op = message(out -> {
            out.writeString(3, "any");
            out.writeByteArray(4, attribute);
        });
        byte[] block = message(out -> {
            out.writeInt32(1, 0);
            out.writeInt32(2, -1);
            out.writeByteArray(4, op);
        });
        return message(out -> out.writeByteArray(1, block));
    }

    private static Attribute attribute(Fields fields) throws IOException {
        return ProgramFiles.parse("attribute", withAttribute(message(fields))).global().ops().getFirst().attributes()
                .getFirst().value();
    }

    /** Paddle writes lists of numbers one by one, but other writers of the same messages may pack them. */
    @Test
    void readsPackedLists() throws IOException {
        assertEquals(new Attribute.Ints(List.of(1, -2, 300)), attribute(out -> {
            out.writeString(1, "a");
            out.writeEnum(2, 3);
            out.writeInt32(6, 1);
            out.writeByteArray(6, message(packed -> {
                packed.writeInt32NoTag(-2);
                packed.writeInt32NoTag(300);
            }));
        }));
        assertEquals(new Attribute.Reals(List.of(1f, 2f)), attribute(out -> {
            out.writeString(1, "a");
            out.writeEnum(2, 4);
            out.writeByteArray(7, message(packed -> {
                packed.writeFloatNoTag(1);
                packed.writeFloatNoTag(2);
            }));
        }));
        assertEquals(new Attribute.Float64s(List.of(1.0)), attribute(out -> {
            out.writeString(1, "a");
            out.writeEnum(2, 12);
            out.writeByteArray(16, message(packed -> packed.writeDoubleNoTag(1)));
        }));
        assertEquals(new Attribute.Bools(List.of(true, false)), attribute(out -> {
            out.writeString(1, "a");
            out.writeEnum(2, 7);
            out.writeByteArray(11, new byte[]{1, 0});
        }));
        assertEquals(new Attribute.Int64s(List.of(-1L, 5L)), attribute(out -> {
            out.writeString(1, "a");
            out.writeEnum(2, 11);
            out.writeByteArray(15, message(packed -> {
                packed.writeInt64NoTag(-1);
                packed.writeInt64NoTag(5);
            }));
        }));
    }

    private static void unknown(CodedOutputStream out) throws IOException {
        out.writeInt64(1000, -1);
        out.writeFixed32(1001, 1);
        out.writeFixed64(1002, 1);
        out.writeString(1003, "later");
        out.writeByteArray(1004, new byte[]{1, 2, 3});
    }

    @Test
    void skipsUnknownFields() throws IOException {
        byte[] type = message(out -> {
            unknown(out);
            out.writeEnum(1, VarType.RAW);
        });
        byte[] variable = message(out -> {
            out.writeString(1, "v");
            unknown(out);
            out.writeByteArray(2, type);
        });
        byte[] slot = message(out -> {
            unknown(out);
            out.writeString(1, "X");
            out.writeString(2, "v");
            unknown(out);
        });
        byte[] op = message(out -> {
            out.writeByteArray(1, slot);
            unknown(out);
            out.writeString(3, "any");
        });
        byte[] block = message(out -> {
            out.writeInt32(2, -1);
            unknown(out);
            out.writeByteArray(3, variable);
            out.writeByteArray(4, op);
        });
        Program program = ProgramFiles.parse("later", message(out -> {
            unknown(out);
            out.writeByteArray(1, block);
            unknown(out);
        }));
        assertEquals(List.of("v"), program.global().ops().getFirst().input("X"));
        assertEquals(new VarType.Other(VarType.RAW), program.global().get("v").type());
    }

    private static String refused(byte[] bytes) {
        return String
                .valueOf(assertThrows(FileFormatException.class, () -> ProgramFiles.parse("p", bytes)).getMessage());
    }

    @Test
    void refusesWhatIsNoProgram() throws IOException {
        assertEquals("p, byte 0: a program has at least one block, but there is none: this is not a program",
                refused(new byte[0]));
        assertEquals("p, byte 0: a length of 4294967295 bytes where 0 are left: the file is cut off or not a program",
                refused(new byte[]{10, -1, -1, -1, -1, 15}));
        assertTrue(refused(new byte[]{11, 12}).startsWith("p, byte "), "a group");
        assertTrue(refused(withAttribute(message(out -> {
            out.writeString(1, "a");
            out.writeEnum(2, 18);
        }))).contains("attribute 'a' has type 18, but types go from 0 to 17"));
        assertTrue(refused(withAttribute(message(out -> {
            out.writeString(1, "a");
            out.writeFloat(2, 1);
        }))).contains("field 2 has wire type 5, but must have 0"));
        assertTrue(refused(withAttribute(message(out -> out.writeByteArray(1, new byte[]{-1}))))
                .contains("a text that is not UTF-8"));
        byte[] good = ProgramFiles.toBytes(everything());
        for (int length = 0; length < good.length; length++) {
            byte[] cut = Arrays.copyOf(good, length);
            try {
                ProgramFiles.parse("p", cut);
            } catch (FileFormatException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("p, byte "),
                        "cut at " + length + ": " + e.getMessage());
            }
        }
    }

    private static Program nested(int blocks, int parentOfLast) {
        Program program = new Program();
        for (int i = 1; i < blocks; i++) {
            program.addBlock(i == blocks - 1 ? parentOfLast : i - 1, null);
        }
        return program;
    }

    @Test
    void refusesBlocksThatDoNotHoldTogether() throws IOException {
        assertTrue(refused(ProgramFiles.toBytes(nested(3, 2)))
                .contains("block 2 has the parent 2, but must have one from 0 to 1"));
        assertTrue(refused(ProgramFiles.toBytes(nested(3, -1)))
                .contains("block 2 has the parent -1, but must have one from 0 to 1"));
        assertEquals(501, ProgramFiles.parse("deep", ProgramFiles.toBytes(nested(501, 499))).blocks().size());
        assertTrue(refused(ProgramFiles.toBytes(nested(502, 500)))
                .contains("block 501 is in 501 others, but at most 500 are allowed"));
        Program twice = nested(2, 0);
        twice.block(1).add(OpDesc.of("while").attr("sub_block", new Attribute.BlockRef(1)).build());
        assertTrue(refused(ProgramFiles.toBytes(twice))
                .contains(
                        "attribute 'sub_block' of operation 'while' names block 1, but must name one whose parent "
                                + "is block 1"));
        for (int index : new int[]{-1, 0, 2}) {
            Program wrong = nested(2, 0);
            wrong.global().add(OpDesc.of("while").attr("sub_block", new Attribute.BlockRef(index)).build());
            assertTrue(
                    refused(ProgramFiles.toBytes(wrong))
                            .contains("names block " + index + ", but must name one whose parent is block 0"));
        }
        Program forward = new Program();
        forward.addBlock(0, 5);
        assertTrue(
                refused(ProgramFiles.toBytes(forward)).contains("block 1 is the gradient of block 5, but there are 2"));
    }

    @Test
    void namesTheFile() throws IOException {
        Path file = folder.resolve("wrong.pdmodel");
        Files.write(file, new byte[]{10, 5, 1});
        FileFormatException e = assertThrows(FileFormatException.class, () -> ProgramFiles.read(file));
        assertEquals(file + ", byte 0: a length of 5 bytes where 1 are left: the file is cut off or not a program",
                e.getMessage());
    }
}
