package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Unconverted arrays for the feeds of a program: one {@code .npy} file for each feed, whose rows are the examples. */
public final class FeedFiles {
    private static final int PARTS = 10;

    private FeedFiles() {
    }

    /**
     * Reads the files. The last tenth of the rows is used for validation. If that is less than a batch, all rows are
     * used for both training and validation.
     *
     * @param files
     *            the file of each feed, in the order of the fields
     * @param batch the number of examples of a step, at least 1
     * @return the rows
     * @throws FileFormatException
     *             if a file is not an array, has no rows, or has another number of rows than the other files
     * @throws IOException
     *             if a file cannot be read
     */
    public static Split read(Map<String, Path> files, int batch) throws IOException {
        List<Field> fields = new ArrayList<>();
        List<Tensor> tensors = new ArrayList<>();
        long rows = -1;
        for (Map.Entry<String, Path> file : files.entrySet()) {
            Tensor tensor = Npy.read(file.getValue());
            Shape shape = tensor.shape();
            if (shape.rank() == 0 || shape.dim(0) == 0 || shape.dim(0) > Integer.MAX_VALUE
                    || (rows >= 0 && shape.dim(0) != rows)) {
                throw new FileFormatException(file.getValue().toString(),
                        "feed '" + file.getKey() + "' must have a row for each of "
                                + (rows < 0 ? "1 or more" : "the " + rows) + " examples, but has the shape " + shape);
            }
            rows = shape.dim(0);
            fields.add(new Field(file.getKey(), tensor.dtype(), shape.slice(1, shape.rank())));
            tensors.add(tensor);
        }
        int held = (int) (rows / PARTS);
        if (held < batch) {
            Part all = new Part(fields, tensors, 0, (int) rows);
            return new Split(all, all);
        }
        return new Split(new Part(fields, tensors, 0, (int) rows - held),
                new Part(fields, tensors, (int) rows - held, held));
    }

    /** A range of the rows. */
    private record Part(List<Field> fields, List<Tensor> tensors, int from, int size) implements Dataset {
        @Override
        public List<Tensor> batch(int[] examples) {
            List<Tensor> batch = new ArrayList<>();
            for (int i = 0; i < tensors.size(); i++) {
                batch.add(rows(fields.get(i), tensors.get(i), examples));
            }
            return batch;
        }

        private Tensor rows(Field field, Tensor all, int... examples) {
            long[] dims = new long[field.shape().rank() + 1];
            dims[0] = examples.length;
            for (int i = 1; i < dims.length; i++) {
                dims[i] = field.shape().dim(i - 1);
            }
            Tensor batch = Tensor.allocate(field.dtype(), dims);
            long row = field.dtype().bytes() * field.shape().size();
            for (int i = 0; i < examples.length; i++) {
                long source = (from + Objects.checkIndex(examples[i], size)) * row;
                batch.memory().asSlice(i * row, row).copyFrom(all.memory().asSlice(source, row));
            }
            return batch;
        }
    }
}
