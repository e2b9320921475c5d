package io.seriatim.spark;

import org.apache.spark.ml.param.Param;

/**
 * The params that the classifier and its model have in common: the new columns for each class.
 *
 * @param <T>
 *            the classifier or the model
 */
public sealed interface ScoreParams<T> extends ExampleParams<T>
        permits SeriatimClassifier, SeriatimClassificationModel {
    /**
     * The new column with scores of the classes, before the softmax.
     *
     * @return the param
     */
    Param<String> rawPredictionCol();

    /**
     * The new column with probabilities of the classes.
     *
     * @return the param
     */
    Param<String> probabilityCol();

    /**
     * Sets the new column with scores of the classes, before the softmax, which are ML vectors.
     *
     * @param column
     *            its name, {@code rawPrediction} by default; empty for none
     * @return this
     */
    default T setRawPredictionCol(String column) {
        set(rawPredictionCol(), column);
        return self();
    }

    /**
     * Returns the new column with scores of the classes, before the softmax.
     *
     * @return its name
     */
    default String getRawPredictionCol() {
        return getOrDefault(rawPredictionCol());
    }

    /**
     * Sets the new column with probabilities of the classes, which are ML vectors.
     *
     * @param column
     *            its name, {@code probability} by default; empty for none
     * @return this
     */
    default T setProbabilityCol(String column) {
        set(probabilityCol(), column);
        return self();
    }

    /**
     * Returns the new column with probabilities of the classes.
     *
     * @return its name
     */
    default String getProbabilityCol() {
        return getOrDefault(probabilityCol());
    }
}
