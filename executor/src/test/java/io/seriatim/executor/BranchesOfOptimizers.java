package io.seriatim.executor;

import io.seriatim.graph.Network;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;

/** Puts branches before updates that halve the gradient in place: every other one is taken. */
final class BranchesOfOptimizers {
    private BranchesOfOptimizers() {
    }

    static Network in(Network network) {
        Program main = network.main().copy();
        Block global = main.global();
        List<OpDesc> ops = new ArrayList<>();
        int count = 0;
        for (OpDesc op : global.ops()) {
            if (!op.input("Grad").isEmpty()) {
                String gradient = op.input("Grad").getFirst();
                String taken = "taken_" + count;
                global.put(VarDesc.of(taken, VarType.dense(DType.BOOL, 1)));
                global.put(new VarDesc(taken + ".scope", new VarType.Other(VarType.STEP_SCOPES), null, null, null,
                        null));
                ops.add(OpDesc.of("fill_constant").out("Out", taken).attr("shape", new long[]{1}).attr("dtype", 0)
                        .attr("value", (float) (count % 2)).attr("op_role", 2).build());
                Block branch = main.addBlock(0, null);
                branch.add(OpDesc.of("scale").in("X", gradient).in("ScaleTensor").out("Out", gradient)
                        .attr("scale", 0.5f).attr("op_role", 2).build());
                ops.add(OpDesc.of("conditional_block").in("Cond", taken).in("Input", gradient).out("Out", gradient)
                        .out("Scope", taken + ".scope").attr("sub_block", new Attribute.BlockRef(branch.index()))
                        .attr("is_scalar_condition", true).attr("op_role", 2).build());
                count++;
            }
            ops.add(op);
        }
        global.setOps(ops);
        return new Network(main, network.startup(), network.outputs(), network.schedules());
    }
}
