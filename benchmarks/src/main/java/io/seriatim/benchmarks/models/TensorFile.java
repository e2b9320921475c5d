package io.seriatim.benchmarks.models;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads ONNX's TensorProto with raw data, as {@code numpy_helper.from_array} makes it. */
final class TensorFile {
    /** The types by their number in TensorProto; null for those that are not read. */
    private static final @Nullable DType[] TYPES = {null, DType.FLOAT32, DType.UINT8, DType.INT8, DType.UINT16,
            DType.INT16, DType.INT32, DType.INT64, null, DType.BOOL, DType.FLOAT16, DType.FLOAT64, DType.UINT32,
            DType.UINT64};
    private static final int DIMS = 1;
    private static final int TYPE = 2;
    private static final int RAW = 9;
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;

    private final Path path;
    private final ByteBuffer in;
    private final List<Long> dims = new ArrayList<>();
    private int type;
    private @Nullable ByteBuffer raw;

    private TensorFile(Path path) throws IOException {
        this.path = path;
        this.in = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Reads a tensor.
     *
     * @throws FileFormatException
     *             if the file is cut off, or holds its elements otherwise than as raw data of a number type
     */
    static Tensor read(Path path) throws IOException {
        TensorFile file = new TensorFile(path);
        try {
            while (file.in.hasRemaining()) {
                file.field();
            }
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new FileFormatException(path.toString(), "the tensor is cut off at byte " + file.in.position(), e);
        }
        return file.tensor();
    }

    private void field() throws FileFormatException {
        long key = varint();
        int field = (int) (key >>> 3);
        switch ((int) (key & 7)) {
            case VARINT -> number(field, varint());
            case FIXED64 -> in.position(in.position() + Long.BYTES);
            case FIXED32 -> in.position(in.position() + Integer.BYTES);
            case BYTES -> bytes(field, Math.toIntExact(varint()));
            default -> throw new FileFormatException(path.toString(), in.position(), "this is no TensorProto");
        }
    }

    private void number(int field, long value) {
        if (field == DIMS) {
            dims.add(value);
        } else if (field == TYPE) {
            type = Math.toIntExact(value);
        }
    }

    private void bytes(int field, int length) {
        int end = in.position() + length;
        if (length < 0 || end > in.limit()) {
            throw new BufferUnderflowException();
        }
        if (field == RAW) {
            raw = in.slice(in.position(), length);
        } else if (field == DIMS) {
            while (in.position() < end) {
                dims.add(varint());
            }
        }
        in.position(end);
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = in.get();
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                break;
            }
        }
        return value;
    }

    private Tensor tensor() throws FileFormatException {
        DType dtype = type >= 0 && type < TYPES.length ? TYPES[type] : null;
        if (dtype == null) {
            throw new FileFormatException(path.toString(), "tensors of ONNX's type " + type + " are not read here");
        }
        long[] shape = dims.stream().mapToLong(Long::longValue).toArray();
        Tensor tensor = Tensor.allocate(dtype, shape);
        long size = tensor.shape().size() * dtype.bytes();
        if (raw == null ? size != 0 : raw.remaining() != size) {
            tensor.close();
            throw new FileFormatException(path.toString(), size + " bytes of raw data belong to the tensor " + dims
                    + " of " + dtype + ", but there are " + (raw == null ? 0 : raw.remaining()));
        }
        if (raw != null && size > 0) {
            tensor.memory().copyFrom(MemorySegment.ofBuffer(raw));
        }
        return tensor;
    }
}
