package io.seriatim.spark;

import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;

/**
 * The params that the estimators and their models have in common.
 *
 * @param <T>
 *            the estimator or model
 */
public sealed interface ExampleParams<T> extends Params permits SeriatimEstimator, SeriatimModel, ScoreParams {
    /**
     * The column with features.
     *
     * @return the param
     */
    Param<String> featuresCol();

    /**
     * The column with labels. A model does not need it for scoring.
     *
     * @return the param
     */
    Param<String> labelCol();

    /**
     * The new column with predictions.
     *
     * @return the param
     */
    Param<String> predictionCol();

    /**
     * Returns this estimator or model.
     *
     * @return this
     */
    T self();

    /**
     * Sets the column with features.
     *
     * @param column
     *            ML vectors, arrays of numbers (nested ones, too), bytes, or numbers; the default is {@code features}
     * @return this
     */
    default T setFeaturesCol(String column) {
        set(featuresCol(), column);
        return self();
    }

    /**
     * Returns the column with features.
     *
     * @return its name
     */
    default String getFeaturesCol() {
        return getOrDefault(featuresCol());
    }

    /**
     * Returns the column with labels.
     *
     * @return its name
     */
    default String getLabelCol() {
        return getOrDefault(labelCol());
    }

    /**
     * Sets the new column with predictions.
     *
     * @param column
     *            its name, {@code prediction} by default; empty for none
     * @return this
     */
    default T setPredictionCol(String column) {
        set(predictionCol(), column);
        return self();
    }

    /**
     * Returns the column with predictions.
     *
     * @return its name
     */
    default String getPredictionCol() {
        return getOrDefault(predictionCol());
    }
}
