package io.seriatim.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.DeserializeToObject;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapPartitions;
import org.apache.spark.sql.catalyst.plans.logical.SerializeFromObject;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The plan of a data frame with results of a model. {@link Dataset#mapPartitions} would convert each cell to an object
 * of the API and back, and arrays element by element; this plan gives the rows to the function in Spark's own format.
 * It consists of the nodes that {@code mapPartitions} makes, only that the objects are the rows themselves.
 */
final class ScoredFrame {
    private ScoredFrame() {
    }

    /**
     * Returns a data frame of the rows that a function makes.
     *
     * @param rows
     *            its input
     * @param scoring
     *            the function
     * @param schema
     *            the columns of the rows and of the results
     */
    static Dataset<Row> of(Dataset<?> rows, Function1<Iterator<Object>, Iterator<Object>> scoring, StructType schema) {
        if (!(rows.toDF() instanceof org.apache.spark.sql.classic.Dataset<Row> frame)) {
            throw new IllegalArgumentException("Rows are scored where the SparkContext is, but these belong to a "
                    + rows.getClass().getName() + ": use a session that is not one of Spark Connect");
        }
        LogicalPlan plan = frame.queryExecution().analyzed();
        List<Expression> columns = new ArrayList<>(CollectionConverters.asJava(plan.output()));
        Expression row = new InputRow(seq(columns));
        LogicalPlan objects = new DeserializeToObject(row, attribute("row", row.dataType()), plan);
        Attribute scored = attribute("scored", schema);
        // As Spark's encoders say it: without generated code, an attribute would not be bound to the object.
        Expression object = new BoundReference(0, schema, false);
        List<NamedExpression> fields = new ArrayList<>();
        for (StructField field : schema.fields()) {
            fields.add(named(new GetStructField(object, fields.size(), Option.empty()), field.name(),
                    field.metadata()));
        }
        return org.apache.spark.sql.classic.Dataset.ofRows(frame.sparkSession(),
                new SerializeFromObject(seq(fields), new MapPartitions(scoring, scored, objects)));
    }

    private static Attribute attribute(String name, DataType type) {
        return new AttributeReference(name, type, false, Metadata.empty(), NamedExpression$.MODULE$.newExprId(),
                seq(List.of()));
    }

    private static NamedExpression named(Expression expression, String name, Metadata metadata) {
        return new Alias(expression, name, NamedExpression$.MODULE$.newExprId(), seq(List.of()), Option.apply(metadata),
                seq(List.of()));
    }

    private static <T> Seq<T> seq(List<T> list) {
        return CollectionConverters.asScala(list).toSeq();
    }
}
