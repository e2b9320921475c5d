package io.seriatim.mxnet.read;

import io.seriatim.graph.util.ByteSource;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.io.IOException;
import java.util.List;

/**
 * Reads one array. The first number tells the versions of the header apart: 1 has dimensions of 64 bits, 2 adds the
 * kind of storage, 3 also has arrays without dimensions; before them, the number is that of dimensions of 32 bits.
 */
final class ArrayReader {
    private static final int VERSION_1 = 0xF993FAC8;
    private static final int VERSION_2 = 0xF993FAC9;
    private static final int VERSION_3 = 0xF993FACA;
    /** The kinds of storage by number. */
    private static final List<String> STORAGE = List.of("dense", "row_sparse", "csr");

    private final ByteSource in;

    ArrayReader(ByteSource in) {
        this.in = in;
    }

    Tensor array(long number) throws IOException {
        long start = in.position();
        int magic = in.int32("the header of array " + number);
        boolean scalars = magic == VERSION_3;
        long[] dims;
        if (magic == VERSION_2 || scalars) {
            requireDense(number);
            dims = dims(in.position(), in.int32("the number of dimensions"), scalars, Long.BYTES);
        } else if (magic == VERSION_1) {
            dims = dims(in.position(), in.int32("the number of dimensions"), false, Long.BYTES);
        } else {
            dims = dims(start, magic, false, Integer.BYTES);
        }
        in.int32("the device's type");
        in.int32("the device's number");
        return in.tensor(spec(number, dims));
    }

    private void requireDense(long number) throws IOException {
        long at = in.position();
        int storage = in.int32("the kind of storage");
        if (storage != 0) {
            String name = storage > 0 && storage < STORAGE.size() ? STORAGE.get(storage) : "storage " + storage;
            throw in.error(at, "arrays must be dense, but array " + number + " is " + name
                    + ": convert it with tostype('default') before saving it");
        }
    }

    private long[] dims(long at, int count, boolean scalars, int width) throws IOException {
        if (count < (scalars ? 0 : 1) || count > Shape.MAX_RANK) {
            throw in.error(at, "an array has from " + (scalars ? 0 : 1) + " to " + Shape.MAX_RANK
                    + " dimensions, but this has " + count + ": the file is broken, or an array is empty");
        }
        long[] dims = new long[count];
        for (int i = 0; i < count; i++) {
            long place = in.position();
            dims[i] = width == Long.BYTES
                    ? in.int64("a dimension")
                    : Integer.toUnsignedLong(in.int32("a dimension"));
            if (dims[i] < 0) {
                throw in.error(place, "a dimension must be 0 or more, but is " + dims[i]);
            }
        }
        return dims;
    }

    private TensorSpec spec(long number, long[] dims) throws IOException {
        long at = in.position();
        int type = in.int32("the type of elements");
        DType dtype = ElementTypes.find(type);
        if (dtype == null) {
            throw in.error(at, "array " + number + " has elements of type " + ElementTypes.name(type)
                    + ", of which there are no tensors here; there are " + ElementTypes.names());
        }
        try {
            TensorSpec spec = TensorSpec.of(dtype, dims);
            in.requireLeft(spec.bytes(), "the elements of array " + number + ", " + spec + ",");
            return spec;
        } catch (IllegalArgumentException e) {
            throw (IOException) in.error(at, "array " + number + ": " + e.getMessage()).initCause(e);
        }
    }
}
