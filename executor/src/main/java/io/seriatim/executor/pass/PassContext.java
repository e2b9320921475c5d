package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.PassName;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.kernel.PreparedKernels;

/**
 * The context of a pass.
 *
 * @param program
 *            the program that contains the block
 * @param options
 *            the options of the plan
 * @param kernels
 *            the available kernels
 */
public record PassContext(Program program, Options options, PreparedKernels kernels) {
    /** Returns whether a pass is enabled. */
    boolean isOn(PassName name) {
        return options.passes().contains(name);
    }

    /** Returns whether functions may be fused of which fused kernels turn NaN into a number. */
    boolean mayLoseNaN() {
        return options.nan().mayLoseNaN(program);
    }

    /** Returns whether a pass is enabled and the plan runs on the host. */
    boolean isOnForHost(PassName name) {
        return isOn(name) && options.place().isHost();
    }
}
