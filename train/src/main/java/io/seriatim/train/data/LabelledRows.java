package io.seriatim.train.data;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/** A subset of the examples of a pair of arrays. */
final class LabelledRows implements Dataset {
    private final Rows x;
    private final Rows y;
    private final int[] chosen;

    private LabelledRows(Rows x, Rows y, int... chosen) {
        this.x = x;
        this.y = y;
        this.chosen = chosen;
    }

    /** Returns all examples of two arrays. */
    static LabelledRows of(Rows x, Rows y) throws FileFormatException {
        if (x.count() != y.count()) {
            throw new FileFormatException(y.source(),
                    "there must be a label for each of the " + x.count() + " examples of " + x.source()
                            + ", but there are " + y.count());
        }
        x.requireFinite();
        y.requireFinite();
        return new LabelledRows(x, y, IntStream.range(0, x.count()).toArray());
    }

    /**
     * Splits the examples: a tenth of them, at least one, at equal distances are for validation, so that files sorted
     * by label can be split.
     */
    LabelledData split() throws FileFormatException {
        if (chosen.length < 2) {
            throw new FileFormatException(x.source(),
                    "there must be at least 2 examples, one of them for validation, but there is 1");
        }
        int validation = Math.max(1, chosen.length / 10);
        int[] held = new int[validation];
        int[] learnt = new int[chosen.length - validation];
        for (int i = 0, part = 0; i < chosen.length; i++) {
            if (part < validation && i == (int) ((part + 1L) * chosen.length / validation) - 1) {
                held[part++] = i;
            } else {
                learnt[i - part] = i;
            }
        }
        return new LabelledData(new Split(new LabelledRows(x, y, learnt), new LabelledRows(x, y, held)), y.classes());
    }

    /** Combines these examples with others for validation. */
    LabelledData with(LabelledRows validation) throws FileFormatException {
        if (!fields().equals(validation.fields())) {
            throw new FileFormatException(validation.x.source(),
                    "examples for validation must be as those of training, " + fields() + ", but are "
                            + validation.fields());
        }
        int classes = y.classes();
        if (y.dtype() == DType.INT64) {
            validation.y.requireBelow(classes);
        }
        return new LabelledData(new Split(this, validation), classes);
    }

    @Override
    public List<Field> fields() {
        return List.of(new Field("x", x.dtype(), x.shape()), new Field("y", y.dtype(), y.shape()));
    }

    @Override
    public int size() {
        return chosen.length;
    }

    @Override
    public List<Tensor> batch(int[] examples) {
        int[] rows = chosen(chosen, examples);
        return List.of(x.batch(rows), y.batch(rows));
    }

    /** Returns the rows of some examples among chosen ones. */
    static int[] chosen(int[] chosen, int... examples) {
        int[] rows = new int[examples.length];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = chosen[Objects.checkIndex(examples[i], chosen.length)];
        }
        return rows;
    }
}
