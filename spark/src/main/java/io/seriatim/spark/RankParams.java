package io.seriatim.spark;

import org.apache.spark.ml.param.BooleanParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;

/**
 * The params of the estimators that say how ranks exchange gradients. Certificates for TLS are those of the cluster,
 * and therefore settings of Spark; see {@link SparkTraining#tls(String, String, String)}.
 *
 * @param <E>
 *            the estimator
 */
public sealed interface RankParams<E> extends Params permits SeriatimEstimator {
    /**
     * What gradients travel as.
     *
     * @return the param
     */
    Param<String> wire();

    /**
     * Whether batch normalisation takes the rows of all ranks.
     *
     * @return the param
     */
    BooleanParam syncBatchNorm();

    /**
     * Whether each rank keeps a part of the optimizer's state.
     *
     * @return the param
     */
    BooleanParam shardOptimizer();

    /**
     * Returns this estimator.
     *
     * @return this
     */
    E self();

    /**
     * Sets what gradients travel as between ranks.
     *
     * @param type
     *            {@code f32}, the default, or {@code bf16}, which is half as long and rounds them
     * @return this
     */
    default E setWire(String type) {
        set(wire(), type);
        return self();
    }

    /**
     * Returns what gradients travel as.
     *
     * @return {@code f32} or {@code bf16}
     */
    default String getWire() {
        return getOrDefault(wire());
    }

    /**
     * Sets whether batch normalisation, in a network from a file, takes mean and variance of the rows of all ranks
     * instead of each rank's own.
     *
     * @param isOverAll
     *            false by default
     * @return this
     */
    default E setSyncBatchNorm(boolean isOverAll) {
        set(syncBatchNorm(), isOverAll);
        return self();
    }

    /**
     * Returns whether batch normalisation takes the rows of all ranks.
     *
     * @return false by default
     */
    default boolean getSyncBatchNorm() {
        return (boolean) getOrDefault(syncBatchNorm());
    }

    /**
     * Sets whether each rank keeps the optimizer's state of some parameters only: less memory for more bytes between
     * ranks, and the same fitted model.
     *
     * @param isSharded
     *            false by default
     * @return this
     */
    default E setShardOptimizer(boolean isSharded) {
        set(shardOptimizer(), isSharded);
        return self();
    }

    /**
     * Returns whether each rank keeps a part of the optimizer's state.
     *
     * @return false by default
     */
    default boolean getShardOptimizer() {
        return (boolean) getOrDefault(shardOptimizer());
    }
}
