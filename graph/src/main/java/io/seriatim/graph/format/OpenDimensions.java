package io.seriatim.graph.format;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Infers the dimensions that a program leaves open from those of its feeds, after some were given. */
final class OpenDimensions {
    private final Map<String, Integer> writers = new HashMap<>();

    private OpenDimensions(Program program) {
        program.blocks().forEach(
                block -> block.ops()
                        .forEach(op -> op.outputNames().forEach(name -> writers.merge(name, 1, Integer::sum))));
    }

    /**
     * Fills in dimensions of variables that one operation writes. Other variables, such as those that loops pass on,
     * may have another shape each time.
     *
     * @throws IllegalArgumentException
     *             if an operation does not accept the dimensions
     */
    static void infer(Program program) {
        OpenDimensions dimensions = new OpenDimensions(program);
        program.blocks().forEach(block -> block.ops().forEach(op -> dimensions.infer(block, op)));
    }

    private void infer(Block block, OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null || !schema.isLowered()) {
            return;
        }
        Map<String, List<@Nullable ArgType>> types = Appender.infer(block, op);
        op.outputs().forEach((slot, names) -> {
            List<@Nullable ArgType> inferred = types.getOrDefault(slot, List.of());
            for (int i = 0; i < Math.min(names.size(), inferred.size()); i++) {
                ArgType type = inferred.get(i);
                Block owner = block.owner(names.get(i));
                if (type != null && owner != null && writers.getOrDefault(names.get(i), 0) == 1) {
                    fill(owner, owner.get(names.get(i)), type.dims());
                }
            }
        });
    }

    private static void fill(Block owner, VarDesc desc, long... inferred) {
        if (!(desc.type() instanceof VarType.Dense(VarType.TensorType tensor, Integer _)) || desc.isPersistable()
                || tensor.dims().size() != inferred.length) {
            return;
        }
        List<Long> dims = new ArrayList<>();
        for (int i = 0; i < inferred.length; i++) {
            dims.add(tensor.dims().get(i) < 0 ? Long.valueOf(inferred[i]) : tensor.dims().get(i));
        }
        if (!dims.equals(tensor.dims())) {
            owner.put(desc.with(desc.type().with(new VarType.TensorType(tensor.dataType(), dims))));
        }
    }
}
