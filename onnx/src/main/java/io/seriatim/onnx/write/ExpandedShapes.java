package io.seriatim.onnx.write;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The shapes of expanded variables. PaddlePaddle announces them from the left while it expands from the right, so that
 * programs declare other shapes than a run gives.
 */
final class ExpandedShapes {
    private ExpandedShapes() {
    }

    /** The program itself, or a copy with right shapes. */
    static Program of(Program program) {
        boolean wrong = program.blocks().stream()
                .anyMatch(block -> block.ops().stream().anyMatch(op -> shape(block, op) != null));
        if (!wrong) {
            return program;
        }
        Program right = program.copy();
        for (Block block : right.blocks()) {
            boolean changed = false;
            for (OpDesc op : block.ops()) {
                long[] shape = shape(block, op);
                if (shape != null) {
                    changed = true;
                    VarDesc out = block.get(op.output("Out").getFirst());
                    Objects.requireNonNull(block.owner(out.name()))
                            .put(out.with(VarType.dense(out.tensor().dtype(), shape)));
                } else if (changed) {
                    infer(block, op);
                }
            }
        }
        return right;
    }

    private static void infer(Block block, OpDesc op) {
        try {
            Appender.declare(block, op, Appender.infer(block, op));
        } catch (IllegalArgumentException _) {
            // Only a run can know it: the declared types stand.
        }
    }

    /** The shape of the result of an operation; null if it is declared so, or the operation does not expand. */
    private static long @Nullable [] shape(Block block, OpDesc op) {
        if (!op.type().equals("expand_v2")) {
            return null;
        }
        VarType.@Nullable TensorType x = tensor(block, op.input("X").getFirst());
        VarType.@Nullable TensorType out = tensor(block, op.output("Out").getFirst());
        long[] shape = new Attrs(op, Operations.system().get(op.type())).getLongs("shape");
        if (x == null || out == null || shape.length < x.dims().size()) {
            return null;
        }
        boolean computed = !op.input("Shape").isEmpty() || !op.input("expand_shapes_tensor").isEmpty();
        int added = shape.length - x.dims().size();
        for (int i = 0; i < shape.length; i++) {
            if (shape[i] < 0 || !op.input("Shape").isEmpty()) {
                shape[i] = computed || i < added ? -1 : x.dims().get(i - added);
            }
        }
        return Arrays.equals(shape, out.shape()) || op.output("Out").equals(op.input("X")) ? null : shape;
    }

    private static VarType.@Nullable TensorType tensor(Block block, String variable) {
        VarDesc desc = block.find(variable);
        return desc == null ? null : desc.type().tensorType();
    }
}
