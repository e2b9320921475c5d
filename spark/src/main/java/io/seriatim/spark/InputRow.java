package io.seriatim.spark;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.jspecify.annotations.Nullable;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The row of some columns as an object: the row itself where it consists of these columns, which Spark's optimizer may
 * have put in another order or between others.
 */
final class InputRow extends Expression implements CodegenFallback, Serializable {
    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // Scala's type does not say so, but sequences of Spark's expressions are serializable.
    private final Seq<Expression> columns;
    /** Whether the columns are those of the row, once they are bound to it. */
    private final boolean isWhole;

    InputRow(Seq<Expression> columns) {
        this.columns = columns;
        isWhole = isWhole(CollectionConverters.asJava(columns));
    }

    private static boolean isWhole(List<Expression> columns) {
        for (int i = 0; i < columns.size(); i++) {
            if (!(columns.get(i) instanceof BoundReference column) || column.ordinal() != i) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Object eval(@Nullable InternalRow input) {
        if (isWhole && input != null && input.numFields() == columns.size()) {
            return input;
        }
        Object[] cells = new Object[columns.size()];
        for (int i = 0; i < cells.length; i++) {
            cells[i] = columns.apply(i).eval(input);
        }
        return new GenericInternalRow(cells);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return CodegenFallback.super.doGenCode(context, code);
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public DataType dataType() {
        return new ObjectType(InternalRow.class);
    }

    @Override
    public Seq<Expression> children() {
        return columns;
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return new InputRow(children);
    }

    @Override
    public int productArity() {
        return 1;
    }

    @Override
    public Object productElement(int index) {
        return columns;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof InputRow;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof InputRow row && columns.equals(row.columns);
    }

    @Override
    public int hashCode() {
        return columns.hashCode();
    }
}
