package io.seriatim.graph.dialect;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;

/** Refuses to write what PaddlePaddle's files cannot say: element types that its programs do not have. */
public final class TypesOfPaddle {
    private static final String ADVICE =
            ", which PaddlePaddle's files cannot hold: cast to int64 or int32, or write the model in a format that has "
                    + "the type";

    private TypesOfPaddle() {
    }

    /**
     * Checks a program.
     *
     * @param program
     *            any
     * @throws IllegalArgumentException
     *             if variables or attributes are of other types; the message names all of them
     */
    public static void require(Program program) {
        List<String> wrong = new ArrayList<>();
        for (Block block : program.blocks()) {
            for (VarDesc desc : block.vars()) {
                VarType.TensorType tensor = desc.type().tensorType();
                if (tensor != null && DataTypes.isOwn(tensor.dataType())) {
                    wrong.add("variable '" + Printable.of(desc.name()) + "' is of the type " + tensor);
                }
            }
            for (OpDesc op : block.ops()) {
                for (Attribute.Named attribute : op.attributes()) {
                    if (attribute.name().endsWith("dtype") && attribute.value() instanceof Attribute.Int(int number)
                            && DataTypes.isOwn(number)) {
                        wrong.add("attribute " + attribute.name() + " of operation '" + Printable.of(op.type())
                                + "' is " + DataTypes.dtype(number));
                    }
                }
            }
        }
        if (!wrong.isEmpty()) {
            String all = String.join(", ", wrong);
            throw new IllegalArgumentException(Character.toUpperCase(all.charAt(0)) + all.substring(1) + ADVICE);
        }
    }

    /**
     * Checks a tensor.
     *
     * @param dtype
     *            of its elements
     * @throws IllegalArgumentException
     *             if no file of PaddlePaddle has it
     */
    public static void require(DType dtype) {
        if (DataTypes.isOwn(DataTypes.number(dtype))) {
            throw new IllegalArgumentException("A tensor to be written is of the type " + dtype + ADVICE);
        }
    }
}
