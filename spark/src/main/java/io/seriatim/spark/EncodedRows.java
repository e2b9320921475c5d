package io.seriatim.spark;

import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/** Rows as bytes, each with all fields one after the other. */
final class EncodedRows implements Dataset {
    private final List<Field> fields;
    private final List<byte[]> rows;

    EncodedRows(List<Field> fields, List<byte[]> rows) {
        this.fields = List.copyOf(fields);
        this.rows = List.copyOf(rows);
    }

    /** Data of the kind that the ranks have, for checks. */
    static EncodedRows zeros(List<Field> fields, int size) {
        byte[] row = new byte[fields.stream().mapToInt(EncodedRows::bytes).sum()];
        return new EncodedRows(fields, Collections.nCopies(size, row));
    }

    static int bytes(Field field) {
        return Math.toIntExact(field.shape().size() * field.dtype().bytes());
    }

    @Override
    public List<Field> fields() {
        return fields;
    }

    @Override
    public int size() {
        return rows.size();
    }

    @Override
    public List<Tensor> batch(int[] examples) {
        List<Tensor> tensors = new ArrayList<>();
        int from = 0;
        for (Field field : fields) {
            long[] dims = new long[field.shape().rank() + 1];
            dims[0] = examples.length;
            for (int i = 1; i < dims.length; i++) {
                dims[i] = field.shape().dim(i - 1);
            }
            int each = bytes(field);
            Tensor tensor = Tensor.allocate(field.dtype(), dims);
            for (int i = 0; i < examples.length; i++) {
                MemorySegment.copy(MemorySegment.ofArray(rows.get(examples[i])), from, tensor.memory(), (long) i * each,
                        each);
            }
            tensors.add(tensor);
            from += each;
        }
        return tensors;
    }

    /** Returns a hash of all rows in their order. */
    static String digest(List<byte[]> rows) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            rows.forEach(digest::update);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
