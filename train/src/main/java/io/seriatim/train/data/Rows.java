package io.seriatim.train.data;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/**
 * An array whose first dimension is the number of examples. It is stored in the type of its file, and converted when a
 * batch is read.
 *
 * @param source
 *            the file and the name of the array, for messages
 * @param tensor
 *            the array, row-major on the host
 * @param dtype
 *            the type of batches: FLOAT32 or INT64
 * @param shape the shape of one example
 */
record Rows(String source, Tensor tensor, DType dtype, Shape shape) {
    /** The maximum number of classes: a single wrong label must not cause a network of an absurd size. */
    static final int MOST_CLASSES = 1 << 16;
    private static final long MOST = Integer.MAX_VALUE - 8;

    /** Creates the inputs from numbers of any type. */
    static Rows inputs(String source, Tensor tensor) throws FileFormatException {
        DType dtype = tensor.dtype();
        boolean asFloat = dtype.isFloating() || dtype == DType.UINT8 || dtype == DType.BOOL;
        return of(source, tensor, asFloat ? DType.FLOAT32 : DType.INT64);
    }

    /** Creates the labels from integers or from floating-point values. */
    static Rows labels(String source, Tensor tensor) throws FileFormatException {
        boolean values = tensor.dtype().isFloating();
        Rows labels = of(source, tensor, values ? DType.FLOAT32 : DType.INT64);
        if (labels.shape.rank() != 1 || (!values && labels.shape.size() != 1)) {
            throw new FileFormatException(source,
                    "labels must be of the shape [examples] or [examples, 1], or as values [examples, values], but are "
                            + tensor.dtype() + " " + tensor.shape());
        }
        return labels;
    }

    private static Rows of(String source, Tensor tensor, DType dtype) throws FileFormatException {
        Shape all = tensor.shape();
        if (tensor.dtype().isComplex()) {
            throw new FileFormatException(source, "examples must be real numbers, but are " + tensor.dtype()
                    + ": store real and imaginary parts as a further dimension");
        }
        if (all.rank() == 0 || all.size() == 0 || all.dim(0) > MOST || all.size() / all.dim(0) > MOST) {
            throw new FileFormatException(source,
                    "an array's first dimension counts examples, from 1 to " + MOST + ", each of 1 to " + MOST
                            + " values, but its shape is " + all);
        }
        long[] dims = new long[Math.max(1, all.rank() - 1)];
        Arrays.fill(dims, 1);
        for (int i = 1; i < all.rank(); i++) {
            dims[i - 1] = all.dim(i);
        }
        return new Rows(source, tensor, dtype, Shape.of(dims));
    }

    int count() {
        return (int) tensor.shape().dim(0);
    }

    Tensor batch(int[] rows) {
        long[] dims = new long[shape.rank() + 1];
        dims[0] = rows.length;
        for (int i = 1; i < dims.length; i++) {
            dims[i] = shape.dim(i - 1);
        }
        Tensor batch = Tensor.allocate(dtype, dims);
        long bytes = shape.size() * dtype.bytes();
        for (int i = 0; i < rows.length; i++) {
            Tensor row = row(Objects.checkIndex(rows[i], count()));
            MemorySegment.copy(row.dtype() == dtype ? row.memory() : converted(row),
                    row.dtype() == dtype ? row.offset() : 0,
                    batch.memory(), i * bytes, bytes);
        }
        return batch;
    }

    private Tensor row(int index) {
        long bytes = shape.size() * tensor.dtype().bytes();
        return new Tensor(tensor.buffer(), tensor.offset() + index * bytes, TensorSpec.of(tensor.dtype(), shape));
    }

    private MemorySegment converted(Tensor row) {
        return dtype == DType.FLOAT32
                ? MemorySegment.ofArray(row.toFloatArray())
                : MemorySegment.ofArray(row.toLongArray());
    }

    /** Throws for the first value that is not finite as float32. */
    void requireFinite() throws FileFormatException {
        if (!tensor.dtype().isFloating()) {
            return;
        }
        for (int i = 0; i < count(); i++) {
            float[] values = row(i).toFloatArray();
            for (int j = 0; j < values.length; j++) {
                if (!Float.isFinite(values[j])) {
                    throw new FileFormatException(source,
                            "all values must be finite as float32, but value " + j + " of example " + i + " is "
                                    + values[j]);
                }
            }
        }
    }

    /** Returns the largest label plus 1, or 0 if the labels are values. */
    int classes() throws FileFormatException {
        if (dtype == DType.FLOAT32) {
            return 0;
        }
        long[] labels = tensor.toLongArray();
        long most = 0;
        for (int i = 0; i < labels.length; i++) {
            if (labels[i] < 0 || labels[i] >= MOST_CLASSES) {
                throw new FileFormatException(source,
                        "a label that is a whole number is a class from 0 to " + (MOST_CLASSES - 1)
                                + ", but that of example "
                                + i + " is " + labels[i] + ": values to be found must be of a floating type");
            }
            most = Math.max(most, labels[i]);
        }
        return (int) most + 1;
    }

    /** Throws for the first label that is not below the number of classes. */
    void requireBelow(int classes) throws FileFormatException {
        long[] labels = tensor.toLongArray();
        for (int i = 0; i < labels.length; i++) {
            if (labels[i] < 0 || labels[i] >= classes) {
                throw new FileFormatException(source,
                        "a label must be from 0 to " + (classes - 1) + ", as in training, but that of example " + i
                                + " is " + labels[i]);
            }
        }
    }
}
