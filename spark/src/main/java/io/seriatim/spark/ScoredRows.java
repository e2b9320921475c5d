package io.seriatim.spark;

import io.seriatim.executor.Predictor;
import io.seriatim.executor.Results;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.jspecify.annotations.Nullable;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The rows of a partition with the model's results. Rows are read and scored in batches, and each batch is given on
 * before the next one is read, so that memory does not grow with the partition. A batch ends before a row whose cells
 * have other numbers of elements.
 */
final class ScoredRows extends AbstractIterator<Object> {
    private final Iterator<Object> rows;
    private final Predictor model;
    private final List<FeedColumn> feeds;
    private final List<ResultColumn> results;
    private final List<Numbers> numbers = new ArrayList<>();
    private final int most;
    private final int fixed;
    /** The rows of the batch; those of the batches before it are read, so that their memory is used again. */
    private final List<InternalRow> batch = new ArrayList<>();
    private final List<UnsafeRow> memory = new ArrayList<>();
    /** By result, the cells of the batch. */
    private final List<Object[]> columns = new ArrayList<>();
    /** The next row of the batch to be given on. */
    private int given;
    /** The cells that are given on. */
    private final GenericInternalRow cells;
    private final JoinedRow joined = new JoinedRow();
    /** Read, but not of the batch. */
    private @Nullable InternalRow next;

    ScoredRows(Iterator<Object> rows, Predictor model, Scoring scoring) {
        this.rows = rows;
        this.model = model;
        feeds = scoring.feeds();
        results = scoring.results();
        feeds.forEach(feed -> numbers.add(new Numbers(feed.column(), feed.type())));
        fixed = feeds.stream().mapToInt(FeedColumn::fixedRows).max().orElse(0);
        most = fixed > 0 ? fixed : scoring.batch();
        cells = new GenericInternalRow(results.size());
    }

    @Override
    public boolean hasNext() {
        return given < batch.size() || next != null || rows.hasNext();
    }

    @Override
    public Object next() {
        if (!hasNext()) {
            throw new NoSuchElementException("all rows of the partition were scored");
        }
        if (given >= batch.size()) {
            score();
        }
        for (int i = 0; i < columns.size(); i++) {
            cells.update(i, columns.get(i)[given]);
        }
        return joined.apply(batch.get(given++), cells);
    }

    /** Spark reads the next row into the same memory. */
    private InternalRow copied(InternalRow row, int index) {
        if (!(row instanceof UnsafeRow bytes)) {
            return row.copy();
        }
        if (index == memory.size()) {
            memory.add(UnsafeRow.createFromByteArray(bytes.getSizeInBytes(), bytes.numFields()));
        }
        UnsafeRow copy = memory.get(index);
        copy.copyFrom(bytes);
        return copy;
    }

    private void score() {
        batch.clear();
        // None is given on if this fails.
        given = most;
        InternalRow first = copied(next != null ? next : (InternalRow) rows.next(), 0);
        next = null;
        numbers.forEach(Numbers::clear);
        add(first);
        batch.add(first);
        int[] counts = numbers.stream().mapToInt(Numbers::size).toArray();
        while (batch.size() < most && rows.hasNext()) {
            InternalRow row = (InternalRow) rows.next();
            add(row);
            if (!hasCounts(counts, batch.size() + 1)) {
                for (int i = 0; i < counts.length; i++) {
                    numbers.get(i).keep(batch.size() * counts[i]);
                }
                next = row.copy();
                break;
            }
            batch.add(copied(row, batch.size()));
        }
        int computed = batch.size();
        // A model that fixes the number of rows gets the last one repeatedly.
        for (; computed < fixed; computed++) {
            add(batch.getLast());
        }
        Map<String, Tensor> inputs = new HashMap<>();
        try {
            for (int i = 0; i < counts.length; i++) {
                inputs.put(feeds.get(i).feed(), numbers.get(i).tensor(feeds.get(i).dims(computed, counts[i])));
            }
            Results answer = model.run(inputs);
            try {
                columns.clear();
                for (ResultColumn result : results) {
                    columns.add(result.cells(answer.get(result.fetch()), batch.size(), computed));
                }
                given = 0;
            } finally {
                answer.all().values().forEach(Tensor::close);
            }
        } finally {
            inputs.values().forEach(Tensor::close);
        }
    }

    private void add(InternalRow row) {
        for (int i = 0; i < feeds.size(); i++) {
            feeds.get(i).cells().read(row, numbers.get(i));
        }
    }

    private boolean hasCounts(int[] counts, int rowCount) {
        for (int i = 0; i < counts.length; i++) {
            if (numbers.get(i).size() != rowCount * counts[i]) {
                return false;
            }
        }
        return true;
    }
}
