package io.seriatim.train.data;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/** A subset of the rows of a table. */
final class TableRows implements Dataset {
    private final List<Field> fields;
    /** For each field the elements of all rows: a float[] or, for ids, an int[]. */
    private final List<Object> columns;
    private final int[] chosen;

    TableRows(List<Field> fields, List<Object> columns, int... chosen) {
        this.fields = fields;
        this.columns = columns;
        this.chosen = chosen;
    }

    @Override
    public List<Field> fields() {
        return fields;
    }

    @Override
    public int size() {
        return chosen.length;
    }

    @Override
    public List<Tensor> batch(int[] examples) {
        int[] rows = LabelledRows.chosen(chosen, examples);
        List<Tensor> tensors = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            int width = Math.toIntExact(fields.get(i).shape().size());
            tensors.add(fields.get(i).dtype() == DType.FLOAT32
                    ? numbers((float[]) columns.get(i), width, rows)
                    : ids((int[]) columns.get(i), rows));
        }
        return tensors;
    }

    private static Tensor numbers(float[] from, int width, int... rows) {
        float[] values = new float[Math.multiplyExact(rows.length, width)];
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(from, rows[i] * width, values, i * width, width);
        }
        return Tensor.of(values, rows.length, width);
    }

    private static Tensor ids(int[] from, int... rows) {
        long[] values = new long[rows.length];
        for (int i = 0; i < rows.length; i++) {
            values[i] = from[rows[i]];
        }
        return Tensor.of(values, rows.length, 1);
    }
}
