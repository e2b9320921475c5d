package io.seriatim.spark;

import io.seriatim.executor.Predictor.Port;
import io.seriatim.tensor.DType;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.types.StructType;

/**
 * A column whose cells are the rows of a feed.
 *
 * @param column
 *            its name
 * @param cells
 *            reads them
 * @param feed
 *            the name of the feed
 * @param type
 *            of the feed
 * @param sizes
 *            of the feed, −1 for those that are open
 */
record FeedColumn(String column, CellReader cells, String feed, DType type, List<Long> sizes) implements Serializable {
    private static final long serialVersionUID = 1;

    /** The column of rows with a name. */
    static FeedColumn of(StructType rows, String column, Port port) {
        DType type = port.type();
        if (type == null || port.sizes().isEmpty()) {
            throw new IllegalArgumentException("Input '" + port.name() + "' of the model has no dimension for rows: "
                    + "its sizes are " + port.sizes());
        }
        int index = rows.fieldIndex(column);
        return new FeedColumn(column, new CellReader(index, rows.apply(index).dataType()), port.name(), type,
                List.copyOf(port.sizes()));
    }

    /** Returns the number of rows that each run must have; 0 for any number. */
    int fixedRows() {
        return (int) Math.max(0, sizes.getFirst());
    }

    /**
     * Returns the sizes of the tensor of some cells. If one size besides the rows is open, it follows from the cells.
     *
     * @param count
     *            the numbers of each cell
     */
    long[] dims(int rows, int count) {
        long[] dims = sizes.stream().mapToLong(Long::longValue).toArray();
        dims[0] = rows;
        int open = 0;
        long known = 1;
        for (int i = 1; i < dims.length; i++) {
            if (dims[i] < 0) {
                open = open == 0 ? i : -1;
            } else {
                known *= dims[i];
            }
            if (open < 0) {
                throw new IllegalArgumentException("Input '" + feed + "' has sizes " + sizes + ": of several open ones "
                        + "besides the rows, a column of flat cells cannot tell which is which. Load the model with "
                        + "fixed sizes");
            }
        }
        if (open > 0 && known > 0 && count % known == 0) {
            dims[open] = count / known;
        } else if (count != known) {
            throw new IllegalArgumentException("A cell of column '" + column + "' has " + count
                    + " numbers, but input '" + feed + "' of the model has sizes " + sizes + ": "
                    + (open > 0 ? "a multiple of " + known : known) + " for each row");
        }
        return dims;
    }

    @Override
    public String toString() {
        return column + " → " + feed + " " + type + Arrays.toString(sizes.toArray());
    }
}
