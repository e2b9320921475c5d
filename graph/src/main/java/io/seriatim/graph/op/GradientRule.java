package io.seriatim.graph.op;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import java.util.List;
import java.util.function.Predicate;

/** Says which operations compute the gradient of one. */
@FunctionalInterface
public interface GradientRule {
    /** What follows a variable's name in that of its gradient. */
    String SUFFIX = VarDesc.GRADIENT_SUFFIX;

    /** Stands in a list for a variable that is not there. */
    String EMPTY = "@EMPTY@";

    /**
     * The gradient of an operation.
     *
     * @param forward
     *            the operation
     * @param wanted
     *            whether the gradient of a variable that it reads is wanted
     * @return the operations, in order; they read and write gradients under the names of {@link #gradient}
     */
    List<OpDesc> make(OpDesc forward, Predicate<String> wanted);

    /**
     * The name of a variable's gradient.
     *
     * @param variable
     *            the variable's name
     * @return with {@link #SUFFIX}
     */
    static String gradient(String variable) {
        return variable + SUFFIX;
    }
}
