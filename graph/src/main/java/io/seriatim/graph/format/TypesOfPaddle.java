package io.seriatim.graph.format;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.DType;

/** Refuses to write what PaddlePaddle's files cannot say: element types that its programs do not have. */
final class TypesOfPaddle {
    private static final String ADVICE =
            ", which PaddlePaddle's files cannot hold: cast it to int64 or int32, or write "
                    + "the model in a format that has the type";

    private TypesOfPaddle() {
    }

    static void require(Program program) {
        for (Block block : program.blocks()) {
            for (VarDesc desc : block.vars()) {
                VarType.TensorType tensor = desc.type().tensorType();
                if (tensor != null && DataTypes.isOwn(tensor.dataType())) {
                    throw new IllegalArgumentException(
                            "Variable '" + Printable.of(desc.name()) + "' is of the type " + tensor + ADVICE);
                }
            }
            for (OpDesc op : block.ops()) {
                require(op);
            }
        }
    }

    private static void require(OpDesc op) {
        for (Attribute.Named attribute : op.attributes()) {
            if (attribute.name().endsWith("dtype") && attribute.value() instanceof Attribute.Int(int number)
                    && DataTypes.isOwn(number)) {
                throw new IllegalArgumentException("Attribute " + attribute.name() + " of operation '"
                        + Printable.of(op.type()) + "' is " + DataTypes.dtype(number) + ADVICE);
            }
        }
    }

    static void require(DType dtype) {
        if (DataTypes.isOwn(DataTypes.number(dtype))) {
            throw new IllegalArgumentException("A tensor to be written is of the type " + dtype + ADVICE);
        }
    }
}
