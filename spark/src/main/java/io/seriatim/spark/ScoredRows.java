package io.seriatim.spark;

import io.seriatim.executor.Predictor;
import io.seriatim.executor.Results;
import io.seriatim.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
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
    private final ArrayDeque<InternalRow> scored = new ArrayDeque<>();
    /** Read, but not of the batch before it. */
    private @Nullable InternalRow next;

    ScoredRows(Iterator<Object> rows, Predictor model, Scoring scoring) {
        this.rows = rows;
        this.model = model;
        feeds = scoring.feeds();
        results = scoring.results();
        feeds.forEach(feed -> numbers.add(new Numbers(feed.column(), feed.type())));
        fixed = feeds.stream().mapToInt(FeedColumn::fixedRows).max().orElse(0);
        most = fixed > 0 ? fixed : scoring.batch();
    }

    @Override
    public boolean hasNext() {
        return !scored.isEmpty() || next != null || rows.hasNext();
    }

    @Override
    public Object next() {
        if (!hasNext()) {
            throw new NoSuchElementException("all rows of the partition were scored");
        }
        if (scored.isEmpty()) {
            score();
        }
        return scored.removeFirst();
    }

    private void score() {
        List<InternalRow> batch = new ArrayList<>();
        // Spark reads the next row into the same memory.
        InternalRow first = next != null ? next : ((InternalRow) rows.next()).copy();
        next = null;
        numbers.forEach(Numbers::clear);
        add(first);
        batch.add(first);
        int[] counts = numbers.stream().mapToInt(Numbers::size).toArray();
        while (batch.size() < most && rows.hasNext()) {
            InternalRow row = ((InternalRow) rows.next()).copy();
            add(row);
            if (!hasCounts(counts, batch.size() + 1)) {
                for (int i = 0; i < counts.length; i++) {
                    numbers.get(i).keep(batch.size() * counts[i]);
                }
                next = row;
                break;
            }
            batch.add(row);
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
                append(batch, answer, computed);
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

    private void append(List<InternalRow> batch, Results answer, int computed) {
        List<Object[]> columns = new ArrayList<>();
        results.forEach(result -> columns.add(result.cells(answer.get(result.fetch()), batch.size(), computed)));
        for (int i = 0; i < batch.size(); i++) {
            Object[] cells = new Object[columns.size()];
            for (int j = 0; j < cells.length; j++) {
                cells[j] = columns.get(j)[i];
            }
            scored.add(new JoinedRow(batch.get(i), new GenericInternalRow(cells)));
        }
    }
}
