package io.seriatim.onnx.write.operators;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.OutGraph;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Branches and loops: the variables that a block writes become results of the node. */
public final class ControlWriters {
    private ControlWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        all.add("conditional_block", ControlWriters::branch);
        all.add("select_input", ControlWriters::select);
        all.add("while", ControlWriters::loop);
    }

    private static int block(WrittenOp op) {
        return op.desc().attribute("sub_block") instanceof Attribute.BlockRef(int index) ? index : -1;
    }

    /** The variables of blocks around it that a block writes. */
    private static List<String> written(WrittenOp op, Block inner) {
        Set<String> written = new LinkedHashSet<>();
        for (OpDesc each : inner.ops()) {
            for (String name : each.outputNames()) {
                if (inner.var(name) == null && op.block().find(name) != null
                        && op.block().get(name).type() instanceof VarType.Dense) {
                    written.add(name);
                }
            }
        }
        return List.copyOf(written);
    }

    private static VarType.TensorType type(WrittenOp op, String name) {
        return op.block().get(name).tensor();
    }

    /** A variable that no operation has written before has a value in one branch only. */
    private static void branch(WrittenOp op) {
        Block inner = op.block().program().block(block(op));
        List<String> results = written(op, inner);
        OutGraph then = op.graph().child();
        op.blocks().write(inner.index(), then);
        OutGraph otherwise = op.graph().child();
        for (String name : results) {
            VarType.TensorType type = type(op, name);
            then.output(then.get(name), type.dtype(), null);
            String before = op.graph().find(name);
            if (before == null) {
                long[] none = new long[type.dims().size()];
                before = none.length == 0
                        ? op.scalar(type.dtype(), 0)
                        : op.graph().constant(Tensor.of(type.dtype(), new double[0], none));
            }
            otherwise.output(before, type.dtype(), null);
        }
        String condition = op.node("Reshape", op.in("Cond"), op.ints());
        List<String> values = op.nodes("If", results.size(),
                Map.of("then_branch", then, "else_branch", otherwise), List.of(condition));
        for (int i = 0; i < results.size(); i++) {
            op.graph().set(results.get(i), values.get(i));
        }
    }

    private static void select(WrittenOp op) {
        if (op.count("X") != 2) {
            throw op.error("selects from %d values, but 2 are written", op.count("X"));
        }
        VarType.TensorType type = type(op, op.desc().output("Out").getFirst());
        OutGraph then = op.graph().child();
        then.output(op.in("X", 1), type.dtype(), null);
        OutGraph otherwise = op.graph().child();
        otherwise.output(op.in("X", 0), type.dtype(), null);
        String mask = op.node("Reshape", op.cast(op.in("Mask"), DType.BOOL), op.ints());
        op.out("Out", op.node("If", Map.of("then_branch", then, "else_branch", otherwise), mask));
    }

    private static void loop(WrittenOp op) {
        Block inner = op.block().program().block(block(op));
        String condition = op.desc().input("Condition").getFirst();
        List<String> carried = new ArrayList<>(written(op, inner));
        carried.remove(condition);
        for (String name : carried) {
            if (op.graph().find(name) == null) {
                throw op.error("writes the variable '%s', which has no value before the loop", name);
            }
        }
        for (OpDesc each : inner.ops()) {
            for (String name : each.outputNames()) {
                if (inner.find(name) != null && inner.get(name).type() instanceof VarType.TensorArray) {
                    throw op.error("writes the list of tensors '%s', which is not written", name);
                }
            }
        }
        OutGraph body = op.graph().child();
        body.unused("iteration", DType.INT64, new long[0]);
        body.input(condition, DType.BOOL, null);
        carried.forEach(name -> body.input(name, type(op, name).dtype(), null));
        op.blocks().write(inner.index(), body);
        String again = body.node("Reshape", List.of(body.get(condition), op.ints()), 1, Map.of()).getFirst();
        body.output(again, DType.BOOL, new long[0]);
        carried.forEach(name -> body.output(body.get(name), type(op, name).dtype(), null));
        List<String> operands = new ArrayList<>(List.of("", op.node("Reshape", op.in("Condition"), op.ints())));
        carried.forEach(name -> operands.add(op.graph().get(name)));
        List<String> values = op.nodes("Loop", carried.size(), Map.of("body", body), operands);
        for (int i = 0; i < carried.size(); i++) {
            op.graph().set(carried.get(i), values.get(i));
        }
        long[] one = type(op, condition).dims().stream().mapToLong(dim -> dim < 0 ? 1 : dim).toArray();
        op.graph().set(condition, op.graph().constant(Tensor.of(DType.BOOL, new double[]{0}, one)));
    }
}
