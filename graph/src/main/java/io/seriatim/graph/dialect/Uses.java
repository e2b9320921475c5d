package io.seriatim.graph.dialect;

import io.seriatim.graph.dialect.TargetSchema.Operand;
import io.seriatim.graph.dialect.TargetSchema.Use;
import io.seriatim.graph.dialect.TargetSchema.Value;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations of programs as the check of a schema sees them. */
public final class Uses {
    private Uses() {
    }

    /**
     * An operation of a program.
     *
     * @param target
     *            the schema that it will be checked against
     * @param block
     *            where it stands
     * @param op
     *            the operation
     * @return its variables with their declared types, and its attributes that mean something here or there
     */
    public static Use of(TargetSchema target, Block block, OpDesc op) {
        Operation own = Operations.system().find(op.type());
        Map<String, Value> attributes = new LinkedHashMap<>();
        for (Attribute.Named each : op.attributes()) {
            boolean means = own != null && own.attribute(each.name()) != null;
            if (means || target.hasAttribute(op.type(), each.name())) {
                attributes.put(each.name(), value(each.value()));
            }
        }
        return new Use(op.type(), 0, operands(block, op.inputs()), operands(block, op.outputs()), attributes);
    }

    private static Map<String, List<Operand>> operands(Block block, Map<String, List<String>> slots) {
        Map<String, List<Operand>> operands = new LinkedHashMap<>();
        slots.forEach((slot, names) -> operands.put(slot, names.stream().map(name -> {
            VarDesc desc = block.find(name);
            return operand(name, desc == null ? null : desc.type());
        }).toList()));
        return operands;
    }

    /**
     * A variable.
     *
     * @param name
     *            its name
     * @param type
     *            its type, or null if it is not known
     * @return the operand
     */
    public static Operand operand(String name, @Nullable VarType type) {
        VarType.TensorType tensor = type == null ? null : type.tensorType();
        return new Operand(name, tensor == null ? null : DataTypes.find(tensor.dataType()));
    }

    /**
     * The value of an attribute.
     *
     * @param attribute
     *            as programs have it
     * @return its kind and text
     */
    public static Value value(Attribute attribute) {
        return switch (attribute) {
            case Attribute.Int _ -> new Value("int32", null);
            case Attribute.Real _ -> new Value("float32", null);
            case Attribute.Text(String text) -> new Value("text", text);
            case Attribute.Ints _ -> new Value("int32s", null);
            case Attribute.Reals _ -> new Value("float32s", null);
            case Attribute.Texts _ -> new Value("texts", null);
            case Attribute.Bool _ -> new Value("bool", null);
            case Attribute.Bools _ -> new Value("bools", null);
            case Attribute.BlockRef _ -> new Value("block", null);
            case Attribute.Int64 _ -> new Value("int64", null);
            case Attribute.BlockRefs _ -> new Value("blocks", null);
            case Attribute.Int64s _ -> new Value("int64s", null);
            case Attribute.Float64s _ -> new Value("float64s", null);
            case Attribute.VarRef _ -> new Value("var", null);
            case Attribute.VarRefs _ -> new Value("vars", null);
            case Attribute.Float64 _ -> new Value("float64", null);
            case Attribute.Scalar _ -> new Value("scalar", null);
            case Attribute.Scalars _ -> new Value("scalars", null);
        };
    }
}
