package io.seriatim.graph;

import java.util.Set;

/** The attribute op_role: which part of training an operation belongs to. Bits. */
final class Roles {
    static final String ATTRIBUTE = "op_role";
    static final String VARIABLES = "op_role_var";
    static final String DEVICE = "op_device";
    static final String SCOPE = "op_namescope";
    static final String CALLSTACK = "op_callstack";
    static final String QUANTIZED = "with_quant_attr";
    /** Of operations that are ready, the one with the lowest number begins first. */
    static final String PRIORITY = "scheduling_priority";
    /** The attributes that every operation has. */
    static final Set<String> ALL = Set.of(ATTRIBUTE, VARIABLES, SCOPE, DEVICE, QUANTIZED);

    static final int FORWARD = 0;
    static final int BACKWARD = 1;
    static final int OPTIMIZE = 2;
    static final int RATE = 16;
    static final int LOSS = 256;

    private Roles() {
    }

    static int of(OpDesc op) {
        return op.attribute(ATTRIBUTE) instanceof Attribute.Int(int role) ? role : FORWARD;
    }

    static boolean isTraining(OpDesc op) {
        return (of(op) & (BACKWARD | OPTIMIZE)) != 0;
    }
}
