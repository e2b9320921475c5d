package io.seriatim.spark;

import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.train.Model;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
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

    /** Returns how the columns of a data frame become fields. */
    static RowEncoder of(Model model, List<String> columns, Dataset<Row> frame) {
        List<String> fed = columns.isEmpty() ? model.feeds() : columns;
        if (fed.size() != model.feeds().size()) {
            throw new IllegalArgumentException("The columns are " + fed + ", but the model is fed " + model.feeds()
                    + ": name a column for each");
        }
        List<String> there = List.of(frame.columns());
        List<Column> encoded = new ArrayList<>();
        for (int i = 0; i < fed.size(); i++) {
            VarDesc feed = model.main().global().get(model.feeds().get(i));
            VarType.TensorType type = feed.tensor();
            List<Long> sizes = type.dims();
            if (!there.contains(fed.get(i))) {
                throw new IllegalArgumentException("There is no column '" + fed.get(i) + "' for '" + feed.name()
                        + "': the columns are " + there + "; name others by columns(…)");
            }
            if (sizes.isEmpty() || sizes.getFirst() >= 0 || sizes.stream().skip(1).anyMatch(each -> each < 0)
                    || !Numbers.isEncoded(type.dtype())) {
                throw new IllegalArgumentException("'" + feed.name() + "' of the model is " + type.dtype() + " "
                        + sizes + ": a feed from a column has -1 rows, no other open size, and neither complex nor "
                        + "16-bit floating-point numbers");
            }
            encoded.add(new Column(fed.get(i), there.indexOf(fed.get(i)), type.dtype(),
                    List.copyOf(sizes.subList(1, sizes.size()))));
        }
        return new RowEncoder(encoded);
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
