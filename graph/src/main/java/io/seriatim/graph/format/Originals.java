package io.seriatim.graph.format;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.seriatim.graph.program.OriginalMessage;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives messages back as a file had them. A message that was not changed since it was read has the file's bytes. Of a
 * changed one, each field that was not changed has the file's bytes, and the fields that are not known here follow at
 * the end, in the file's order.
 */
final class Originals {
    private Originals() {
    }

    /** The fields of a message that are known here; of a single nested message also its own. */
    private record Known(Set<Integer> fields, Map<Integer, Known> messages) {
        boolean has(int field) {
            return fields.contains(field) || messages.containsKey(field);
        }
    }

    private static final Known TENSOR = new Known(Set.of(1, 2), Map.of());
    private static final Known LOD_TENSOR = new Known(Set.of(2), Map.of(1, TENSOR));
    private static final Known TYPE = new Known(Set.of(1, 5), Map.of(2, TENSOR, 3, LOD_TENSOR, 4, LOD_TENSOR));

    /** The messages that keep what a file had. */
    @SuppressWarnings("ImmutableEnumChecker") // Made with Set.of and Map.of.
    enum Kind {
        /** VarDesc. */
        VARIABLE(new Known(Set.of(1, 3, 4, 5, 6), Map.of(2, TYPE))),
        /** OpDesc. */
        OPERATION(new Known(Set.of(1, 2, 3, 4, 5), Map.of())),
        /** The fields after the operations in BlockDesc. */
        BLOCK(new Known(Set.of(5), Map.of())),
        /** The fields after the blocks in ProgramDesc. */
        PROGRAM(new Known(Set.of(4, 5), Map.of()));

        private final Known known;

        Kind(Known known) {
            this.known = known;
        }
    }

    /** The part of a message that must be kept; null if the message is written as the file has it. */
    static @Nullable OriginalMessage of(ByteString read, ByteString written) {
        return read.equals(written) ? null : new OriginalMessage(read.toByteArray(), written.toByteArray());
    }

    static ByteString restored(Kind kind, @Nullable OriginalMessage original, ByteString now) throws IOException {
        return original == null
                ? now
                : restored(kind.known, now, ByteString.copyFrom(original.written()),
                        ByteString.copyFrom(original.read()));
    }

    /** A field: its number, and all its bytes with the tag. */
    private record Field(int number, ByteString bytes, ByteString content) {
    }

    private static List<Field> fields(ByteString message) throws IOException {
        List<Field> fields = new ArrayList<>();
        CodedInputStream in = message.newCodedInput();
        while (!in.isAtEnd()) {
            int from = in.getTotalBytesRead();
            int tag = in.readTag();
            ByteString content = ByteString.EMPTY;
            if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                content = in.readBytes();
            } else {
                in.skipField(tag);
            }
            fields.add(new Field(WireFormat.getTagFieldNumber(tag), message.substring(from, in.getTotalBytesRead()),
                    content));
        }
        return fields;
    }

    private static List<Field> numbered(List<Field> fields, int number) {
        return fields.stream().filter(field -> field.number == number).toList();
    }

    private static ByteString restored(Known known, ByteString now, ByteString written, ByteString read)
            throws IOException {
        if (now.equals(written)) {
            return read;
        }
        List<Field> before = fields(written);
        List<Field> inFile = fields(read);
        Map<ByteString, Queue<ByteString>> same = new HashMap<>();
        for (int number : before.stream().map(Field::number).distinct().toList()) {
            List<Field> ours = numbered(before, number);
            List<Field> theirs = numbered(inFile, number);
            for (int i = 0; ours.size() == theirs.size() && i < ours.size(); i++) {
                same.computeIfAbsent(ours.get(i).bytes, _ -> new ArrayDeque<>()).add(theirs.get(i).bytes);
            }
        }
        WireWriter out = new WireWriter();
        for (Field field : fields(now)) {
            Queue<ByteString> kept = same.getOrDefault(field.bytes, new ArrayDeque<>());
            Known inner = known.messages.get(field.number);
            List<Field> ours = numbered(before, field.number);
            List<Field> theirs = numbered(inFile, field.number);
            if (!kept.isEmpty()) {
                out.raw(kept.remove());
            } else if (inner != null && ours.size() == 1 && theirs.size() == 1) {
                out.coded().writeBytes(field.number,
                        restored(inner, field.content, ours.getFirst().content, theirs.getFirst().content));
            } else {
                out.raw(field.bytes);
            }
        }
        for (Field field : inFile) {
            if (!known.has(field.number)) {
                out.raw(field.bytes);
            }
        }
        return out.toBytes();
    }
}
