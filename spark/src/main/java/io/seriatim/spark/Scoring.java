package io.seriatim.spark;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.util.TaskCompletionListener;
import scala.Function1;
import scala.collection.Iterator;

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
        int batch, int threads)
        implements
            Function1<Iterator<Object>, Iterator<Object>>,
            Serializable {
    private static final long serialVersionUID = 1;

    Scoring {
        feeds = List.copyOf(feeds);
        results = List.copyOf(results);
    }

    @Override
    public Iterator<Object> apply(Iterator<Object> rows) {
        if (!rows.hasNext()) {
            return rows;
        }
        SharedModel model;
        try {
            model = SharedModel.of(files.value(), digest, threads);
        } catch (IOException e) {
            throw new UncheckedIOException("The model cannot be loaded: " + e.getMessage(), e);
        }
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
        return new ScoredRows(rows, model.predictor(), this);
    }
}
