package io.seriatim.spark;

import java.util.List;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructType;

/** The rules for the columns of features, labels and results. */
final class ExampleColumns {
    private ExampleColumns() {
    }

    /** Returns a column whose name may contain dots. */
    static Column named(String name) {
        return functions.col("`" + name.replace("`", "``") + "`");
    }

    /** Throws unless there are columns of features and labels. */
    static void check(StructType schema, String features, String label) {
        checkFeatures(schema, features);
        DataType type = type(schema, label, "labelCol");
        if (!isNumber(type)) {
            throw new IllegalArgumentException("Column '" + label + "' is of type " + type.catalogString()
                    + ", but labels are numbers: index texts by Spark's StringIndexer");
        }
    }

    /** Throws unless there is a column of features. */
    static void checkFeatures(StructType schema, String features) {
        DataType type = type(schema, features, "featuresCol");
        DataType element = type;
        while (element instanceof ArrayType array) {
            element = array.elementType();
        }
        if (!isNumber(element) && !(type instanceof BinaryType) && !type.equals(SQLDataTypes.VectorType())) {
            throw new IllegalArgumentException("Column '" + features + "' is of type " + type.catalogString()
                    + ", but features are ML vectors, arrays of numbers, bytes or numbers: combine columns by Spark's "
                    + "VectorAssembler");
        }
    }

    private static DataType type(StructType schema, String column, String param) {
        List<String> there = List.of(schema.fieldNames());
        if (!there.contains(column)) {
            throw new IllegalArgumentException("There is no column '" + column + "', which " + param
                    + " names: the columns are " + there);
        }
        return schema.apply(column).dataType();
    }

    private static boolean isNumber(DataType type) {
        return type instanceof NumericType || type instanceof BooleanType;
    }

    /** Appends a column, unless its name is empty. */
    static StructType with(StructType schema, String column, DataType type) {
        if (column.isEmpty()) {
            return schema;
        }
        if (List.of(schema.fieldNames()).contains(column)) {
            throw new IllegalArgumentException("There is a column '" + column + "' already: drop it, or name the new "
                    + "one otherwise");
        }
        return schema.add(column, type, false);
    }

    /** Appends the new columns of a classifier. */
    static StructType with(StructType schema, ScoreParams<?> params) {
        StructType withScores = with(schema, params.getRawPredictionCol(), SQLDataTypes.VectorType());
        return with(with(withScores, params.getProbabilityCol(), SQLDataTypes.VectorType()),
                params.getPredictionCol(), DataTypes.DoubleType);
    }
}
