package io.seriatim.spark;

import io.seriatim.executor.Predictor.Port;
import java.util.List;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/** A network that predicts a number for each row, as {@link SeriatimRegressor} has trained it. */
public final class SeriatimRegressionModel extends SeriatimModel<SeriatimRegressionModel> {
    private static final long serialVersionUID = 1;

    /**
     * A model without a network, for readers.
     *
     * @param uid
     *            the name
     */
    public SeriatimRegressionModel(String uid) {
        this(uid, null);
    }

    SeriatimRegressionModel(String uid, @Nullable ModelFiles files) {
        super(uid, files);
    }

    @Override
    public SeriatimRegressionModel self() {
        return this;
    }

    @Override
    SeriatimRegressionModel another(String name, ModelFiles network) {
        return new SeriatimRegressionModel(name, network);
    }

    @Override
    List<ResultColumn> results(Port output) {
        return getPredictionCol().isEmpty()
                ? List.of()
                : List.of(ResultColumn.of(getPredictionCol(), output, ResultColumn.Kind.REAL));
    }

    @Override
    StructType widened(StructType schema) {
        return ExampleColumns.with(schema, getPredictionCol(), DataTypes.DoubleType);
    }

    /**
     * Returns the reader of saved models.
     *
     * @return the reader, which pipelines call, too
     */
    public static MLReader<SeriatimRegressionModel> read() {
        return new SeriatimModel.Reader<>();
    }

    /**
     * Loads a saved model.
     *
     * @param path
     *            where it was saved, in any file system of Hadoop
     * @return with the network that is saved there
     */
    public static SeriatimRegressionModel load(String path) {
        return read().load(path);
    }
}
