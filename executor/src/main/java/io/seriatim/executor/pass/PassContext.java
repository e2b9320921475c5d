package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.PassName;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.kernel.PreparedKernels;

/**
 * What a pass knows of the block that it rewrites.
 *
 * @param program
 *            the program that the block is of
 * @param options
 *            how the plan is made
 * @param kernels
 *            the kernels that can be had
 */
public record PassContext(Program program, Options options, PreparedKernels kernels) {
    /** Whether the user has left a pass switched on. */
    boolean isOn(PassName name) {
        return options.passes().contains(name);
    }

    /** Whether a pass is switched on and the plan runs on the host. */
    boolean isOnForHost(PassName name) {
        return isOn(name) && options.place().isHost();
    }
}
