package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.Serializable;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Which row a function is given. */
class InputRowTest {
    private static Seq<Expression> bound(int... ordinals) {
        return CollectionConverters.asScala(IntStream.of(ordinals)
                .<Expression>mapToObj(each -> new BoundReference(each, DataTypes.LongType, false)).toList()).toSeq();
    }

    private static InternalRow row(Object... cells) {
        return new GenericInternalRow(cells);
    }

    @Test
    void aRowOfTheColumnsIsGivenAsItIs() {
        InternalRow row = row(3L, 4L);
        assertSame(row, new InputRow(bound(0, 1)).eval(row));
    }

    @Test
    void othersAreMadeOfTheColumns() {
        assertEquals(row(4L, 3L), new InputRow(bound(1, 0)).eval(row(3L, 4L)));
        assertEquals(row(3L), new InputRow(bound(0)).eval(row(3L, 4L)));
        assertEquals(row(3L, 5L), new InputRow(bound(0, 2)).eval(row(3L, 4L, 5L)));
    }

    @Test
    void rowsOfTheSameColumnsAreEqual() {
        InputRow row = new InputRow(bound(0, 1));
        InputRow same = new InputRow(bound(0, 1));
        assertEquals(row, same);
        assertEquals(row.hashCode(), same.hashCode());
        assertNotEquals(row, new InputRow(bound(1, 0)));
        assertEquals(new InputRow(bound(1, 0)), row.withNewChildren(bound(1, 0)));
    }

    /** Appends whether a row is one of Spark's own, in one piece of memory. */
    private record Kinds() implements Function1<Iterator<Object>, Iterator<Object>>, Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public Iterator<Object> apply(Iterator<Object> rows) {
            return rows.map(each -> new JoinedRow((InternalRow) each,
                    row(each instanceof UnsafeRow unsafe && unsafe.numFields() == 3)));
        }
    }

    private static List<String> kinds(Dataset<Row> rows) {
        return ScoredFrame.of(rows, new Kinds(), rows.schema().add("whole", DataTypes.BooleanType, false))
                .collectAsList().stream().map(Row::toString).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"CODEGEN_ONLY", "NO_CODEGEN"})
    void functionsGetTheRowsOfSparksPlans(String mode) {
        SparkSession spark = LocalSpark.session().newSession();
        spark.conf().set("spark.sql.codegen.factoryMode", mode);
        Dataset<Row> rows = spark.range(0, 2, 1, 1).selectExpr("id", "string(id) as text", "array(id, 7) as x");
        List<String> expected = List.of("[0,0,ArraySeq(0, 7),true]", "[1,1,ArraySeq(1, 7),true]");
        assertEquals(expected, kinds(rows));
        Dataset<Row> cached = rows.cache();
        assertEquals(expected, kinds(cached));
        assertEquals(List.of("[ArraySeq(0, 7),0]", "[ArraySeq(1, 7),1]"), ScoredFrame.of(cached.select("x", "id"),
                new Same(), cached.select("x", "id").schema()).collectAsList().stream().map(Row::toString).toList());
        assertEquals(List.of("[0,0,ArraySeq(0, 7)]"), ScoredFrame.of(cached, new Same(), cached.schema())
                .filter("id = 0").collectAsList().stream().map(Row::toString).toList());
        assertEquals(2, ScoredFrame.of(ScoredFrame.of(cached, new Same(), cached.schema()), new Same(),
                cached.schema()).select("text").distinct().count());
        cached.unpersist();
    }

    /** Of which Spark generates no code for a whole stage. */
    @Test
    void rowsMayHaveMoreThanAHundredColumns() {
        Dataset<Row> wide = LocalSpark.session().range(0, 2, 1, 1).selectExpr(IntStream.range(0, 120)
                .mapToObj(i -> "id + " + i + " as c" + i).toArray(String[]::new));
        assertEquals(wide.collectAsList(), ScoredFrame.of(wide, new Same(), wide.schema()).collectAsList());
    }

    /** Gives the rows on. */
    private record Same() implements Function1<Iterator<Object>, Iterator<Object>>, Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public Iterator<Object> apply(Iterator<Object> rows) {
            return rows;
        }
    }
}
