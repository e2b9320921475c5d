package io.seriatim.graph.format;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.graph.util.ByteSource;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Reads Paddle's streams of tensors and selected rows. */
final class TensorReader {
    /** A description of as many dimensions as there may be takes less than 400 bytes. */
    private static final int MOST_DESCRIPTION = 1 << 12;
    private final ByteSource in;

    TensorReader(ByteSource in) {
        this.in = in;
    }

    /** Reads one tensor for each name, for messages, and requires that nothing follows. */
    List<TensorStreams.LodTensor> readAll(List<String> names) throws IOException {
        List<TensorStreams.LodTensor> tensors = new ArrayList<>();
        boolean whole = false;
        try {
            for (String name : names) {
                in.part(name);
                if (in.remaining() == 0) {
                    throw in.error(in.position(), "the end, after " + counted(tensors.size()) + " of " + names.size());
                }
                tensors.add(lodTensor());
            }
            in.part("");
            in.requireEnd(counted(tensors.size()));
            whole = true;
        } finally {
            if (!whole) {
                tensors.forEach(each -> each.tensor().close());
            }
        }
        return tensors;
    }

    private static String counted(int tensors) {
        return tensors + (tensors == 1 ? " tensor" : " tensors");
    }

    private TensorStreams.LodTensor lodTensor() throws IOException {
        version("the LoD");
        List<long[]> lod = levels();
        return new TensorStreams.LodTensor(tensor(), lod);
    }

    private void version(String what) throws IOException {
        long at = in.position();
        int version = in.int32();
        if (version != 0) {
            throw in.error(at, "the version of " + what + " must be 0, but is " + Integer.toUnsignedString(version));
        }
    }

    private List<long[]> levels() throws IOException {
        long at = in.position();
        long count = in.int64();
        if (count < 0 || count > in.remaining() / Long.BYTES) {
            throw in.error(at,
                    Long.toUnsignedString(count) + " levels of LoD, but " + in.remaining() + " bytes are left");
        }
        List<long[]> levels = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            at = in.position();
            long bytes = in.int64();
            if (bytes < 0 || bytes % Long.BYTES != 0 || bytes > Math.min(in.remaining(), Integer.MAX_VALUE)) {
                throw in.error(at, "a level of LoD has 8 bytes for each offset and fits into what is left, but has "
                        + Long.toUnsignedString(bytes) + " bytes where " + in.remaining() + " are left");
            }
            levels.add(longs((int) bytes, "a level of LoD"));
        }
        return levels;
    }

    private long[] longs(int bytes, String what) throws IOException {
        long[] values = new long[bytes / Long.BYTES];
        ByteBuffer.wrap(in.bytes(bytes, what)).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(values);
        return values;
    }

    private Tensor tensor() throws IOException {
        version("a tensor");
        return in.tensor(description());
    }

    private TensorSpec description() throws IOException {
        long at = in.position();
        int size = in.int32();
        if (size < 0 || size > MOST_DESCRIPTION) {
            throw in.error(at,
                    "the description of a tensor has from 0 to " + MOST_DESCRIPTION + " bytes, but has " + size);
        }
        long start = in.position();
        WireReader fields = new WireReader(in.name(), in.bytes(size, "the description of a tensor"), start);
        int[] dataType = {-1};
        List<Long> dims = new ArrayList<>();
        fields.fields(field -> ProgramReader.tensorField(fields, field, dataType, dims));
        if (dataType[0] < 0) {
            throw in.error(start, "a tensor without the type of its elements");
        }
        if (dims.size() > Shape.MAX_RANK) {
            throw in.error(start, "a tensor has at most " + Shape.MAX_RANK + " dimensions, but has " + dims.size());
        }
        return spec(dataType[0], dims, start);
    }

    private TensorSpec spec(int dataType, List<Long> dims, long start) throws IOException {
        try {
            TensorSpec spec = TensorSpec.of(DataTypes.dtype(dataType),
                    dims.stream().mapToLong(Long::longValue).toArray());
            in.requireLeft(spec.bytes(), "the data of " + spec);
            return spec;
        } catch (IllegalArgumentException e) {
            throw (IOException) in.error(start, String.valueOf(e.getMessage())).initCause(e);
        }
    }

    /** Reads selected rows, and requires that nothing follows. */
    SelectedRows rows() throws IOException {
        version("selected rows");
        long at = in.position();
        long count = in.int64();
        if (count < 0 || count > in.remaining() / Long.BYTES) {
            throw in.error(at, Long.toUnsignedString(count) + " rows, but " + in.remaining() + " bytes are left");
        }
        long start = in.position();
        Tensor rows = in.tensor(TensorSpec.of(DType.INT64, count));
        boolean whole = false;
        try {
            long height = height(rows, start);
            Tensor values = values(count);
            whole = true;
            return new SelectedRows(rows, values, height);
        } finally {
            if (!whole) {
                rows.close();
            }
        }
    }

    private long height(Tensor rows, long start) throws IOException {
        long at = in.position();
        long height = in.int64();
        if (height < 0) {
            throw in.error(at, "the height of selected rows must be 0 or more, but is " + height);
        }
        for (long i = 0; i < rows.shape().dim(0); i++) {
            long row = rows.getLong(i);
            if (row < 0 || row >= height) {
                throw in.error(start + i * Long.BYTES,
                        "row " + i + " must be from 0 to " + (height - 1) + ", but is " + row);
            }
        }
        return height;
    }

    private Tensor values(long count) throws IOException {
        long at = in.position();
        Tensor values = tensor();
        boolean whole = false;
        try {
            if (values.shape().rank() == 0 || values.shape().dim(0) != count) {
                throw in.error(at,
                        "the values of " + count + " rows must be [" + count + ", ...], but are " + values.spec());
            }
            in.requireEnd("the rows");
            whole = true;
        } finally {
            if (!whole) {
                values.close();
            }
        }
        return values;
    }
}
