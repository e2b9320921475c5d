package io.seriatim.spark;

import io.seriatim.executor.Predictor;
import io.seriatim.executor.Results;
import io.seriatim.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a partition with the model's results. Rows are read and scored in batches, and each batch is given on
 * before the next one is read, so that memory does not grow with the partition. A batch ends before a row whose cells
 * have other numbers of elements.
 */
final class ScoredRows implements Iterator<Row> {
    private final Iterator<Row> rows;
    private final Predictor model;
    private final List<FeedColumn> feeds;
    private final List<ResultColumn> results;
    private final List<Numbers> numbers = new ArrayList<>();
    private final int most;
    private final int fixed;
    private final ArrayDeque<Row> scored = new ArrayDeque<>();
    private @Nullable Row next;

    ScoredRows(Iterator<Row> rows, Predictor model, List<FeedColumn> feeds, List<ResultColumn> results, int batch) {
        this.rows = rows;
        this.model = model;
        this.feeds = feeds;
        this.results = results;
        feeds.forEach(feed -> numbers.add(new Numbers(feed.column(), feed.type())));
        fixed = feeds.stream().mapToInt(FeedColumn::fixedRows).max().orElse(0);
        most = fixed > 0 ? fixed : batch;
    }

    @Override
    public boolean hasNext() {
        return !scored.isEmpty() || next != null || rows.hasNext();
    }

    @Override
    public Row next() {
        if (!hasNext()) {
            throw new NoSuchElementException("all rows of the partition were scored");
        }
        if (scored.isEmpty()) {
            score();
        }
        return scored.removeFirst();
    }

    private void score() {
        List<Row> batch = new ArrayList<>();
        Row first = next != null ? next : rows.next();
        next = null;
        int[] counts = counts(first);
        add(first, batch);
        while (batch.size() < most && rows.hasNext()) {
            Row row = rows.next();
            if (!Arrays.equals(counts, counts(row))) {
                next = row;
                break;
            }
            add(row, batch);
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
            numbers.forEach(Numbers::clear);
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

    private int[] counts(Row row) {
        int[] counts = new int[feeds.size()];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = numbers.get(i).count(row.get(feeds.get(i).index()));
        }
        return counts;
    }

    private void add(Row row, List<Row> batch) {
        add(row);
        batch.add(row);
    }

    private void add(Row row) {
        for (int i = 0; i < feeds.size(); i++) {
            numbers.get(i).add(row.get(feeds.get(i).index()));
        }
    }

    private void append(List<Row> batch, Results answer, int computed) {
        List<Object[]> columns = new ArrayList<>();
        results.forEach(result -> columns.add(result.cells(answer.get(result.fetch()), batch.size(), computed)));
        for (int i = 0; i < batch.size(); i++) {
            Row row = batch.get(i);
            Object[] cells = new Object[row.length() + columns.size()];
            for (int j = 0; j < row.length(); j++) {
                cells[j] = row.get(j);
            }
            for (int j = 0; j < columns.size(); j++) {
                cells[row.length() + j] = columns.get(j)[i];
            }
            scored.add(RowFactory.create(cells));
        }
    }
}
