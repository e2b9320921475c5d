package io.seriatim.spark;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;

/**
 * Encodes the rows of a partition as bytes, and sorts them: their order depends on them only, and not on that in which
 * Spark has read them.
 *
 * @param columns
 *            a column for each field
 */
record RowEncoder(List<Column> columns) implements FlatMapFunction<Iterator<Row>, byte[]> {
    private static final long serialVersionUID = 1;

    RowEncoder {
        columns = List.copyOf(columns);
    }

    /**
     * A column of the data frame.
     *
     * @param name
     *            its name
     * @param index
     *            its index in the rows
     * @param type
     *            of the elements
     * @param sizes
     *            of a cell
     */
    record Column(String name, int index, DType type, List<Long> sizes) implements Serializable {
        private static final long serialVersionUID = 1;

        Column {
            sizes = List.copyOf(sizes);
        }

        Shape shape() {
            return Shape.of(sizes.stream().mapToLong(Long::longValue).toArray());
        }
    }

    @Override
    public Iterator<byte[]> call(Iterator<Row> rows) {
        List<byte[]> encoded = new ArrayList<>();
        List<Numbers> numbers = columns.stream().map(column -> new Numbers(column.name(), column.type())).toList();
        while (rows.hasNext()) {
            encoded.add(encode(rows.next(), numbers));
        }
        encoded.sort(Arrays::compareUnsigned);
        return encoded.iterator();
    }

    private byte[] encode(Row row, List<Numbers> numbers) {
        byte[] bytes = {};
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.get(i);
            numbers.get(i).clear();
            numbers.get(i).add(row.get(column.index()));
            if (numbers.get(i).size() != column.shape().size()) {
                throw new IllegalArgumentException("A cell of column '" + column.name() + "' has "
                        + numbers.get(i).size() + " numbers, but the model is fed " + column.shape() + " of each row");
            }
            byte[] cell = numbers.get(i).bytes();
            int from = bytes.length;
            bytes = Arrays.copyOf(bytes, from + cell.length);
            System.arraycopy(cell, 0, bytes, from, cell.length);
        }
        return bytes;
    }
}
