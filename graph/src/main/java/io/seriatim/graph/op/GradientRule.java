package io.seriatim.graph.op;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import java.util.List;
import java.util.function.Predicate;

/** The rule that makes the operations of a gradient. */
@FunctionalInterface
public interface GradientRule {
    /** The suffix of the name of a gradient. */
    String SUFFIX = VarDesc.GRADIENT_SUFFIX;

    /** The placeholder of a missing variable in a list. */
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
