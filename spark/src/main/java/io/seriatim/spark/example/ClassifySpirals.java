package io.seriatim.spark.example;

import io.seriatim.spark.SeriatimClassifier;
import java.io.IOException;
import java.io.PrintStream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Learns to which of three spirals a point belongs, with tasks of a Spark cluster as ranks; it prints the accuracy on
 * other points, and saves the pipeline. The arguments are a folder for the pipeline and the number of ranks.
 */
public final class ClassifySpirals {
    private static final long POINTS = 6000;

    private ClassifySpirals() {
    }

    /**
     * Runs the program.
     *
     * @param args
     *            the folder, in any file system of Hadoop, and the number of ranks
     * @throws IOException
     *             if the pipeline cannot be saved
     */
    public static void main(String[] args) throws IOException {
        if (args.length != 2) {
            throw new IllegalArgumentException("Give a folder for the pipeline and the number of ranks");
        }
        try (SparkSession spark = SparkSession.builder().appName("spirals").getOrCreate()) {
            run(spark, args[0], Integer.parseInt(args[1]), System.out);
        }
    }

    /**
     * Trains and evaluates.
     *
     * @param spark
     *            where
     * @param folder
     *            for the pipeline
     * @param ranks
     *            the number of ranks
     * @param out
     *            for the accuracy
     * @return the accuracy on points that were not learnt from
     * @throws IOException
     *             if the pipeline cannot be saved
     */
    public static double run(SparkSession spark, String folder, int ranks, PrintStream out) throws IOException {
        Dataset<Row>[] points = points(spark).randomSplit(new double[]{0.8, 0.2}, 1);
        // Each row has the same values whenever it is computed, also after the loss of an executor.
        Pipeline pipeline = new Pipeline().setStages(new PipelineStage[]{
                new VectorAssembler().setInputCols(new String[]{"x", "y"}).setOutputCol("features"),
                new SeriatimClassifier().setHiddenLayers(32, 32).setMaxIter(15).setBatchSize(64)
                        .setLearningRate(0.01).setNumRanks(ranks).setSeed(1)});
        PipelineModel fitted = pipeline.fit(points[0]);
        double accuracy = new MulticlassClassificationEvaluator().setMetricName("accuracy")
                .evaluate(fitted.transform(points[1]));
        out.printf("accuracy on %d other points: %.3f%n", points[1].count(), accuracy);
        fitted.write().overwrite().save(folder);
        return accuracy;
    }

    /** Points that follow from their numbers. */
    private static Dataset<Row> points(SparkSession spark) {
        return spark.range(POINTS).selectExpr("id % 3 as label", "0.1d + 0.9d * (id * 7919 % 6007) / 6007 as radius")
                .selectExpr("label", "radius * cos(4 * radius + label * 2.0943951d) as x",
                        "radius * sin(4 * radius + label * 2.0943951d) as y");
    }
}
