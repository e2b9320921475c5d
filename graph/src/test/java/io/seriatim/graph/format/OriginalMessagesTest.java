package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.OriginalMessage;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Unknown parts of a file are written as they were read. */
class OriginalMessagesTest {
    /** The nested messages of each message, by field. */
    private static final Map<String, Map<Integer, String>> NESTED = Map.ofEntries(
            Map.entry("ProgramDesc", Map.of(1, "BlockDesc", 4, "Version", 5, "OpVersionMap")),
            Map.entry("OpVersionMap", Map.of(1, "OpVersionPair")),
            Map.entry("OpVersionPair", Map.of(2, "OpVersion")),
            Map.entry("BlockDesc", Map.of(3, "VarDesc", 4, "OpDesc")),
            Map.entry("VarDesc", Map.of(2, "VarType", 7, "VarDesc.Attr")),
            Map.entry("VarType", Map.of(2, "TensorDesc", 3, "LoDTensorDesc", 4, "LoDTensorDesc", 5, "ReaderDesc")),
            Map.entry("LoDTensorDesc", Map.of(1, "TensorDesc")),
            Map.entry("ReaderDesc", Map.of(1, "LoDTensorDesc")),
            Map.entry("OpDesc", Map.of(1, "OpDesc.Var", 2, "OpDesc.Var", 4, "OpDesc.Attr")),
            Map.entry("OpDesc.Attr", Map.of(20, "Scalar", 21, "Scalar")),
            Map.entry("Scalar", Map.of(5, "Complex")));
    /** The fields of each message that are understood, so that a second one of another wire type would be an error. */
    private static final Map<String, Set<Integer>> UNDERSTOOD = Map.ofEntries(
            Map.entry("ProgramDesc", Set.of(1, 4, 5)), Map.entry("Version", Set.of(1)),
            Map.entry("OpVersionMap", Set.of(1)),
            Map.entry("OpVersionPair", Set.of(1, 2)), Map.entry("OpVersion", Set.of(1)),
            Map.entry("BlockDesc", Set.of(1, 2, 3, 4, 5)),
            Map.entry("VarDesc", Set.of(1, 2, 3, 4, 5, 6)), Map.entry("VarDesc.Attr", Set.of()),
            Map.entry("VarType", Set.of(1, 2, 3, 4, 5)),
            Map.entry("TensorDesc", Set.of(1, 2)), Map.entry("LoDTensorDesc", Set.of(1, 2)),
            Map.entry("ReaderDesc", Set.of(1)),
            Map.entry("OpDesc", Set.of(1, 2, 3, 4, 5)), Map.entry("OpDesc.Var", Set.of(1, 2)),
            Map.entry("OpDesc.Attr", Set.of(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21)),
            Map.entry("Scalar", Set.of(1, 2, 3, 4, 5)), Map.entry("Complex", Set.of(1, 2)));
    private static final int LARGEST = (1 << 29) - 1;

    /** A field with its tag; of a nested message, its fields. */
    private record Field(ByteString bytes, int number, @Nullable Message message) {
        ByteString encoded() throws IOException {
            return message == null
                    ? bytes
                    : OriginalMessagesTest.bytes(out -> out.writeBytes(number, message.encoded()));
        }
    }

    private record Message(String name, List<Field> fields) {
        ByteString encoded() throws IOException {
            List<ByteString> parts = new ArrayList<>();
            for (Field field : fields) {
                parts.add(field.encoded());
            }
            return ByteString.copyFrom(parts);
        }

        /** All messages in it, and itself. */
        List<Message> all() {
            List<Message> all = new ArrayList<>(List.of(this));
            fields.stream().map(Field::message).forEach(each -> all.addAll(each == null ? List.of() : each.all()));
            return all;
        }
    }

    private interface Write {
        void to(CodedOutputStream out) throws IOException;
    }

    private static ByteString bytes(Write write) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        write.to(out);
        out.flush();
        return ByteString.copyFrom(bytes.toByteArray());
    }

    private static Message message(String name, ByteString bytes) throws IOException {
        List<Field> fields = new ArrayList<>();
        CodedInputStream in = bytes.newCodedInput();
        while (!in.isAtEnd()) {
            int from = in.getTotalBytesRead();
            int tag = in.readTag();
            int number = WireFormat.getTagFieldNumber(tag);
            String nested = NESTED.getOrDefault(name, Map.of()).get(number);
            Message inner = null;
            if (nested == null) {
                in.skipField(tag);
            } else {
                inner = message(nested, in.readBytes());
            }
            fields.add(new Field(bytes.substring(from, in.getTotalBytesRead()), number, inner));
        }
        return new Message(name, fields);
    }

    private static Message program() throws IOException {
        Message program = message("ProgramDesc",
                ByteString.copyFrom(ProgramFiles.toBytes(ProgramFilesTest.everything())));
        // Paddle's own attributes of variables: field 7 of VarDesc.
        for (Message each : program.all()) {
            if (each.name.equals("VarDesc")) {
                add(each, each.fields.size(), 7, "VarDesc.Attr", bytes(out -> {
                    out.writeString(1, "kind");
                    out.writeEnum(2, 2);
                    out.writeString(4, "weight");
                }));
                add(each, each.fields.size(), 7, "VarDesc.Attr", bytes(out -> {
                    out.writeString(1, "axes");
                    out.writeEnum(2, 3);
                    out.writeInt32(5, 1);
                    out.writeInt32(5, -2);
                }));
            }
        }
        return program;
    }

    private static void add(Message to, int at, int number, String name, ByteString content) throws IOException {
        to.fields.add(at, new Field(ByteString.EMPTY, number, message(name, content)));
    }

    private static Field unknown(int number, int wireType) throws IOException {
        return new Field(bytes(out -> {
            switch (wireType) {
                case WireFormat.WIRETYPE_VARINT -> out.writeInt64(number, -5);
                case WireFormat.WIRETYPE_FIXED32 -> out.writeFixed32(number, 0x01020304);
                case WireFormat.WIRETYPE_FIXED64 -> out.writeFixed64(number, 0x0102030405060708L);
                default -> out.writeByteArray(number, new byte[]{0, -1, 8, 1});
            }
        }), number, null);
    }

    private static void assertKept(Message program, String of) throws IOException {
        byte[] bytes = program.encoded().toByteArray();
        Program read = ProgramFiles.parse("file", bytes);
        assertArrayEquals(bytes, ProgramFiles.toBytes(read), of);
        assertArrayEquals(bytes, ProgramFiles.toBytes(read.copy()), "a copy of " + of);
    }

    @Test
    void attributesOfVariablesAreKept() throws IOException {
        assertKept(program(), "a program whose variables have attributes");
    }

    /** Fields of every number and wire type, at the end of every message. */
    @Test
    void fieldsOfEveryNumberAreKept() throws IOException {
        int count = 0;
        Set<String> names = new LinkedHashSet<>();
        for (Message of : program().all()) {
            names.add(of.name);
        }
        assertEquals(new TreeSet<>(UNDERSTOOD.keySet()), new TreeSet<>(names), "every message occurs");
        int[] wireTypes = {WireFormat.WIRETYPE_VARINT, WireFormat.WIRETYPE_FIXED64,
                WireFormat.WIRETYPE_LENGTH_DELIMITED,
                WireFormat.WIRETYPE_FIXED32};
        for (String name : names) {
            for (int wireType : wireTypes) {
                Message program = program();
                for (Message each : program.all()) {
                    if (each.name.equals(name)) {
                        for (int number = 1; number <= 64; number++) {
                            if (!UNDERSTOOD.getOrDefault(name, Set.of()).contains(number)) {
                                each.fields.add(unknown(number, wireType));
                                count++;
                            }
                        }
                        each.fields.add(unknown(LARGEST, wireType));
                    }
                }
                assertKept(program, name + " with fields of wire type " + wireType);
            }
        }
        assertTrue(count > 10_000, count + " fields");
    }

    /** In variables and operations, and all that is in them, fields keep their places in any order. */
    @Test
    void fieldsInAnyOrderAreKept() throws IOException {
        Set<String> ordered = Set.of("ProgramDesc", "BlockDesc");
        for (int shift = 1; shift <= 3; shift++) {
            Message program = program();
            for (Message each : program.all()) {
                if (!ordered.contains(each.name)) {
                    Collections.rotate(each.fields, shift);
                    each.fields.add(0, unknown(100 + shift, WireFormat.WIRETYPE_VARINT));
                    each.fields.add(each.fields.size() / 2, unknown(50, WireFormat.WIRETYPE_FIXED32));
                }
            }
            assertKept(program, "fields moved by " + shift);
        }
    }

    /**
     * In a program blocks come first, and in a block its numbers, variables and operations; all else follows in the
     * file's order.
     */
    @Test
    void blocksAndProgramsHaveTheirPartsInOrder() throws IOException {
        Message moved = program();
        Message ordered = program();
        Message block = Objects.requireNonNull(moved.fields.getFirst().message);
        Message orderedBlock = Objects.requireNonNull(ordered.fields.getFirst().message);
        for (List<Message> pair : List.of(List.of(block, orderedBlock), List.of(moved, ordered))) {
            Message to = pair.getLast();
            int last = to.name.equals("ProgramDesc") ? 1 : 4;
            int behind = (int) to.fields.stream().filter(field -> field.number <= last).count();
            for (Field field : List.of(unknown(9, WireFormat.WIRETYPE_FIXED64),
                    unknown(90, WireFormat.WIRETYPE_VARINT))) {
                pair.getFirst().fields.add(0, field);
                to.fields.add(behind, field);
            }
        }
        Collections.swap(block.fields, 2, 3);
        Program read = ProgramFiles.parse("moved", moved.encoded().toByteArray());
        assertArrayEquals(ordered.encoded().toByteArray(), ProgramFiles.toBytes(read));
        assertKept(ordered, "parts in order");
    }

    /**
     * Known fields that the type of an attribute or variable does not use, repeated ones, packed ones, and numbers in
     * more bytes than they need.
     */
    @Test
    void knownFieldsThatDoNotCountAreKept() throws IOException {
        Message program = program();
        for (Message each : program.all()) {
            switch (each.name) {
                case "OpDesc.Attr" -> {
                    each.fields.add(0, new Field(bytes(out -> {
                        out.writeString(1, "earlier");
                        out.writeInt32(3, 12);
                        out.writeFloat(4, 2);
                        out.writeString(5, "not used");
                        out.writeInt64(13, 3);
                        out.writeDouble(19, 4);
                    }), 1, null));
                }
                case "VarType" -> each.fields.add(new Field(bytes(out -> {
                    for (int field = 7; field <= 12; field++) {
                        out.writeByteArray(field, new byte[]{8, 1});
                    }
                }), 7, null));
                case "TensorDesc" ->
                    each.fields.add(new Field(bytes(out -> out.writeByteArray(2, new byte[]{1, 2, -128, 0})), 2, null));
                case "VarDesc" -> each.fields.add(new Field(ByteString.copyFrom(new byte[]{6 << 3, -128, 0}), 6, null));
                default -> {
                    // The others have nothing of the kind.
                }
            }
        }
        assertKept(program, "fields that do not count");
    }

    /** Messages that protobuf may leave out are not put in, and empty ones are not left out. */
    @Test
    void emptyMessagesAreKept() throws IOException {
        Message program = program();
        program.fields.removeIf(field -> field.number == 4 || field.number == 5);
        assertKept(program, "no version");
        program.fields.add(new Field(bytes(out -> out.writeByteArray(4, new byte[0])), 4, null));
        program.fields.add(new Field(bytes(out -> out.writeByteArray(5, new byte[]{10, 4, 10, 2, 'o', 'p'})), 5, null));
        assertKept(program, "an empty version");
    }

    private static Program small() throws IOException {
        Program program = new Program();
        program.global().put(new VarDesc("x", VarType.dense(DType.FLOAT32, -1, 2), null, true, null, true))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, 2)))
                .put(new VarDesc("w", VarType.dense(DType.FLOAT32, 2), true, null, true, false));
        program.global()
                .add(OpDesc.of("elementwise_add").in("X", "x").in("Y", "w").out("Out", "z").attr("axis", -1).build())
                .add(OpDesc.of("dropout").in("X", "z").out("Out", "y").attr("is_test", false).build());
        program.global().put(VarDesc.of("z", VarType.dense(DType.FLOAT32, -1, 2)));
        Message message = message("ProgramDesc", ByteString.copyFrom(ProgramFiles.toBytes(program)));
        for (Message each : message.all()) {
            each.fields.add(unknown(40, WireFormat.WIRETYPE_LENGTH_DELIMITED));
            if (each.name.equals("VarDesc")) {
                each.fields.add(
                        new Field(bytes(out -> out.writeByteArray(7, new byte[]{10, 1, 'a', 16, 0, 24, 5})), 7, null));
            }
        }
        return ProgramFiles.parse("small", message.encoded().toByteArray());
    }

    private static List<String> namesWith(Program program, String name, int field) throws IOException {
        List<String> names = new ArrayList<>();
        Message message = message("ProgramDesc", ByteString.copyFrom(ProgramFiles.toBytes(program)));
        for (Message each : message.all()) {
            if (each.name.equals(name) && each.fields.stream().anyMatch(part -> part.number == field)) {
                names.add(name);
            }
        }
        return names;
    }

    /** Unknown parts survive every way in which a program is changed or copied. */
    @Test
    void changedProgramsKeepWhatTheyDoNotKnow() throws IOException {
        Map<String, Program> changed = Map.of("copy", small().copy(), "copy for test", small().copyForTest(),
                "pruned", small().prune(List.of("x"), List.of("y")));
        for (Map.Entry<String, Program> each : changed.entrySet()) {
            assertEquals(4, namesWith(each.getValue(), "VarDesc", 7).size(), each.getKey());
            assertEquals(4, namesWith(each.getValue(), "VarType", 40).size(), each.getKey());
            assertEquals(1, namesWith(each.getValue(), "ProgramDesc", 40).size(), each.getKey());
            assertEquals(1, namesWith(each.getValue(), "BlockDesc", 40).size(), each.getKey());
            assertEquals(2, namesWith(each.getValue(), "OpDesc", 40).size(), each.getKey());
            assertEquals(5, namesWith(each.getValue(), "OpDesc.Var", 40).size(), each.getKey());
        }
        assertTrue(small().copyForTest().global().ops().get(1).toString().contains("is_test=true"), "it is changed");
        Program exported = ExportedProgram.of(small(), List.of("x"), List.of("y"));
        assertEquals(4, namesWith(exported, "VarDesc", 7).size(), "x, w, z and y, but not the target");
        assertEquals(1, namesWith(exported, "ProgramDesc", 40).size());
        assertEquals(1, namesWith(exported, "BlockDesc", 40).size());
        assertEquals(2, namesWith(exported, "OpDesc", 40).size());
    }

    /** Each part of a changed description that is not changed itself is written as the file had it. */
    @Test
    void aChangedDescriptionKeepsItsUnchangedParts() throws IOException {
        Program program = small();
        Block global = program.global();
        VarDesc x = global.get("x");
        global.put(x.persistent());
        global.put(global.get("w").with(VarType.dense(DType.FLOAT64, 5, 5)));
        global.set(1, global.ops().get(1).with("is_test", true).with("added", 5));
        assertEquals(4, namesWith(program, "VarType", 40).size(), "of a type that is changed or not");
        assertEquals(4, namesWith(program, "TensorDesc", 40).size(), "of the tensor in it");
        assertEquals(1, namesWith(program, "OpDesc.Attr", 40).size(), "an attribute that is changed or added is ours");
        assertEquals(5, namesWith(program, "OpDesc.Var", 40).size(), "slots");
        Program back = ProgramFiles.parse("changed", ProgramFiles.toBytes(program));
        assertTrue(back.global().get("x").isPersistable());
        assertEquals(List.of(5L, 5L), back.global().get("w").tensor().dims());
        assertEquals(DType.FLOAT64, back.global().get("w").tensor().dtype());
        assertArrayEquals(ProgramFiles.toBytes(program), ProgramFiles.toBytes(back));
    }

    /** Two programs that differ only in this have different hashes, and so different plans. */
    @Test
    void theHashCoversAttributesOfVariables() throws IOException {
        Program program = small();
        Program without = small();
        without.global().put(without.global().get("x").with((OriginalMessage) null));
        assertNotEquals(ProgramFiles.hash(program), ProgramFiles.hash(without));
        assertEquals(ProgramFiles.hash(program), ProgramFiles.hash(program.copy()));
        assertNotEquals(program.global().get("x"), without.global().get("x"));
        assertNull(without.global().get("x").original());
    }
}
