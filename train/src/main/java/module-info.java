/**
 * Training: data sets, models, the loop, checkpoints, metrics and reports.
 */
@SuppressWarnings("requires-automatic") // protobuf-java has no descriptor of its own.
module io.seriatim.train {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires transitive io.seriatim.cluster;
    requires transitive io.seriatim.executor;
    requires com.google.protobuf;
    requires de.siegmar.fastcsv;

    exports io.seriatim.train;
    exports io.seriatim.train.data;
    exports io.seriatim.train.metrics;
    exports io.seriatim.train.model;
    exports io.seriatim.train.quantization;
    exports io.seriatim.train.report;
}
