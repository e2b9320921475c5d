package io.seriatim.graph.format;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;

/** Writes protobuf fields; a nested message goes to bytes of its own first, since its length comes before it. */
final class WireWriter {
    private final ByteString.Output bytes = ByteString.newOutput();
    private final CodedOutputStream out = CodedOutputStream.newInstance(bytes, 512);

    /** Writes the fields of a message. */
    interface Fields {
        /** Writes them. */
        void write(WireWriter to) throws IOException;
    }

    CodedOutputStream coded() {
        return out;
    }

    void text(int field, String text) throws IOException {
        out.writeString(field, text);
    }

    void message(int field, Fields fields) throws IOException {
        WireWriter nested = new WireWriter();
        fields.write(nested);
        out.writeBytes(field, nested.toBytes());
    }

    /** Writes bytes as they are: whole fields with their tags. */
    void raw(ByteString fields) throws IOException {
        out.writeRawBytes(fields);
    }

    ByteString toBytes() throws IOException {
        out.flush();
        return bytes.toByteString();
    }
}
