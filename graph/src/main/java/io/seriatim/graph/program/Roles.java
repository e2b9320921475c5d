package io.seriatim.graph.program;

import java.util.Set;

/** The attribute op_role: which part of training an operation belongs to. Bits. */
public final class Roles {
    /** The attribute that holds the role. */
    public static final String ATTRIBUTE = "op_role";
    /** The attribute that holds a parameter and its gradient. */
    public static final String VARIABLES = "op_role_var";
    /** The attribute that names the device to run on. */
    public static final String DEVICE = "op_device";
    /** The attribute that holds the name scope. */
    public static final String SCOPE = "op_namescope";
    static final String CALLSTACK = "op_callstack";
    /** The attribute that marks quantized operations. */
    public static final String QUANTIZED = "with_quant_attr";
    /** Of operations that are ready, the one with the lowest number begins first. */
    public static final String PRIORITY = "scheduling_priority";
    /** The attributes that every operation has. */
    public static final Set<String> ALL = Set.of(ATTRIBUTE, VARIABLES, SCOPE, DEVICE, QUANTIZED);

    /** The role of forward operations. */
    public static final int FORWARD = 0;
    /** The bit of backward operations. */
    public static final int BACKWARD = 1;
    /** The bit of operations of an optimizer. */
    public static final int OPTIMIZE = 2;
    /** The bit of operations that compute the learning rate. */
    public static final int RATE = 16;
    /** The bit of the operation that computes the loss. */
    public static final int LOSS = 256;

    private Roles() {
    }

    /**
     * The role of an operation.
     *
     * @param op
     *            any
     * @return bits; {@link #FORWARD} if it has none
     */
    public static int of(OpDesc op) {
        return op.attribute(ATTRIBUTE) instanceof Attribute.Int(int role) ? role : FORWARD;
    }

    /**
     * Whether an operation belongs to training only.
     *
     * @param op
     *            any
     * @return whether it is part of backward or of an optimizer
     */
    public static boolean isTraining(OpDesc op) {
        return (of(op) & (BACKWARD | OPTIMIZE)) != 0;
    }
}
