package io.seriatim.spark;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Row;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Scores the rows of a partition.
 *
 * @param files
 *            the model
 * @param digest
 *            their hash
 * @param feeds
 *            a column for each input of the model
 * @param results
 *            a column for each output of the model, to be appended
 * @param batch
 *            the most rows of a run
 * @param threads
 *            of a run
 */
record Scoring(Broadcast<ModelFiles> files, String digest, List<FeedColumn> feeds, List<ResultColumn> results,
        int batch, int threads) implements MapPartitionsFunction<Row, Row> {
    private static final long serialVersionUID = 1;

    Scoring {
        feeds = List.copyOf(feeds);
        results = List.copyOf(results);
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) throws IOException {
        if (!rows.hasNext()) {
            return rows;
        }
        SharedModel model = SharedModel.of(files.value(), digest, threads);
        TaskContext task = TaskContext.get();
        if (task == null) {
            throw new IllegalStateException("Rows are scored by tasks of Spark");
        }
        // A class, since a lambda would also be a function of Scala. The task may end before its last row is read.
        task.addTaskCompletionListener(new TaskCompletionListener() {
            @Override
            public void onTaskCompletion(TaskContext context) {
                model.close();
            }
        });
        return new ScoredRows(rows, model.predictor(), feeds, results, batch);
    }
}
