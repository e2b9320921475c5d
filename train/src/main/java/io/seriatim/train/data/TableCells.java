package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.train.data.TableEncoding.CategoryColumn;
import io.seriatim.train.data.TableEncoding.Column;
import io.seriatim.train.data.TableEncoding.NumberColumn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The cells of a column that is read: numbers, or an id for each text, so that no text is kept twice. */
abstract sealed class TableCells {
    private final String name;
    private final int position;

    private TableCells(String name, int position) {
        this.name = name;
        this.position = position;
    }

    final String name() {
        return name;
    }

    /** The position of the column in its file. */
    final int position() {
        return position;
    }

    abstract void add(int row, String cell, boolean isMissing, TableFile file) throws FileFormatException;

    /** Finds the encoding of the column from the rows for training. */
    abstract Column column(int... training);

    /** Returns the elements of all rows in an encoding: a float[] or an int[]. */
    abstract Object encoded(Column column, int rows);

    /** Numbers; NaN where one is missing. */
    static final class Numbers extends TableCells {
        private final boolean marksMissing;
        private double[] values = new double[64];

        Numbers(String name, int position, boolean marksMissing) {
            super(name, position);
            this.marksMissing = marksMissing;
        }

        @Override
        void add(int row, String cell, boolean isMissing, TableFile file) throws FileFormatException {
            Double number = isMissing ? Double.valueOf(Double.NaN) : TableEncoding.number(cell);
            if (number == null) {
                throw file.wrong("column '" + name() + "' must have numbers, but here is '" + cell
                        + "': if this says that the number is missing, name it with missing(…); if the column has "
                        + "texts, it is a category");
            }
            values = row < values.length ? values : Arrays.copyOf(values, TableData.grown(values.length));
            values[row] = number;
        }

        /** The mean and the deviation by Welford's method, which does not cancel. */
        @Override
        Column column(int... training) {
            double mean = 0;
            double squares = 0;
            long count = 0;
            for (int row : training) {
                double value = values[row];
                if (!Double.isNaN(value)) {
                    count++;
                    double before = value - mean;
                    mean += before / count;
                    squares += before * (value - mean);
                }
            }
            double deviation = Math.sqrt(squares / Math.max(1, count));
            if (count == 0 || !Double.isFinite(mean) || !Double.isFinite(deviation)) {
                throw new IllegalArgumentException(count == 0
                        ? "Column '" + name() + "' has no numbers in the rows for training: leave it out"
                        : "The numbers of column '" + name() + "' are too large for a mean: scale them");
            }
            return new NumberColumn(name(), mean, deviation > 0 ? deviation : 1, marksMissing);
        }

        @Override
        Object encoded(Column column, int rows) {
            NumberColumn number = (NumberColumn) column;
            float[] encoded = new float[Math.multiplyExact(rows, number.width())];
            for (int row = 0; row < rows; row++) {
                number.encode(values[row], encoded, row);
            }
            return encoded;
        }
    }

    /** Texts, numbered in the order in which they occur from 1 on; 0 where one is missing. */
    static sealed class Texts extends TableCells {
        private static final int MOST = Rows.MOST_CLASSES;

        private final Map<String, Integer> ids = new HashMap<>();
        private final List<String> texts = new ArrayList<>();
        private int[] values = new int[64];

        Texts(String name, int position) {
            super(name, position);
        }

        @Override
        void add(int row, String cell, boolean isMissing, TableFile file) throws FileFormatException {
            values = row < values.length ? values : Arrays.copyOf(values, TableData.grown(values.length));
            if (isMissing) {
                values[row] = 0;
                return;
            }
            Integer id = ids.get(cell);
            if (id == null) {
                if (texts.size() == MOST) {
                    throw file.wrong("column '" + name() + "' can have at most " + MOST
                            + " different texts, but here is one more, '" + cell + "': leave the column out");
                }
                texts.add(cell);
                id = texts.size();
                ids.put(cell, id);
            }
            values[row] = id;
        }

        @Override
        Column column(int... training) {
            boolean[] seen = new boolean[texts.size() + 1];
            for (int row : training) {
                seen[values[row]] = true;
            }
            List<String> known = new ArrayList<>();
            for (int i = 0; i < texts.size(); i++) {
                if (seen[i + 1]) {
                    known.add(texts.get(i));
                }
            }
            known.sort(Comparator.naturalOrder());
            return new CategoryColumn(name(), known);
        }

        @Override
        Object encoded(Column column, int rows) {
            CategoryColumn category = (CategoryColumn) column;
            int[] to = new int[texts.size() + 1];
            for (int i = 0; i < texts.size(); i++) {
                to[i + 1] = category.id(texts.get(i));
            }
            return mapped(to, rows);
        }

        final int[] mapped(int[] to, int rows) {
            int[] mapped = new int[rows];
            for (int row = 0; row < rows; row++) {
                mapped[row] = to[values[row]];
            }
            return mapped;
        }

        final List<String> texts() {
            return texts;
        }
    }

    /** The texts of the label, of which none may be missing. */
    static final class Labels extends Texts {
        Labels(String name, int position) {
            super(name, position);
        }

        @Override
        void add(int row, String cell, boolean isMissing, TableFile file) throws FileFormatException {
            if (isMissing) {
                throw file.wrong("each row must have a label, but column '" + name() + "' has "
                        + (cell.isEmpty() ? "nothing" : "'" + cell + "'") + " here: take the row out");
            }
            super.add(row, cell, false, file);
        }

        /** All texts: in the order of their numbers if all are whole numbers, otherwise sorted. */
        List<String> classes() {
            boolean whole = texts().stream().allMatch(text -> text.matches("0|-?[1-9][0-9]{0,17}"));
            List<String> classes = new ArrayList<>(texts());
            classes.sort(whole ? Comparator.comparingLong(Long::parseLong) : Comparator.naturalOrder());
            return classes;
        }

        int[] encoded(List<String> classes, int rows) {
            Map<String, Integer> positions = new HashMap<>();
            for (int i = 0; i < classes.size(); i++) {
                positions.put(classes.get(i), i);
            }
            int[] to = new int[texts().size() + 1];
            for (int i = 0; i < texts().size(); i++) {
                to[i + 1] = positions.getOrDefault(texts().get(i), 0);
            }
            return mapped(to, rows);
        }
    }
}
