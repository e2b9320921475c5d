package io.seriatim.graph.op;

import io.seriatim.device.Devices;
import io.seriatim.graph.program.OpDesc;

/**
 * The memory that an operation needs for its results and for its own arrays, such as indexes, which are on the Java
 * heap. It is checked against the limit of the host's memory before anything is allocated, because sizes come from
 * files.
 */
final class WorkingMemory {
    private WorkingMemory() {
    }

    /**
     * Checks a size.
     *
     * @param op
     *            the operation
     * @param purpose
     *            what the memory is for, for the message
     * @param elements
     *            how many elements there are
     * @param each
     *            the bytes of one
     * @throws IllegalArgumentException
     *             if there are more bytes than the limit of the host's memory
     */
    static void require(OpDesc op, Object purpose, long elements, long each) {
        long limit = Devices.system().host().memory().limit();
        if (elements > limit / each) {
            throw new IllegalArgumentException("Operation '" + op.type() + "' (outputs " + op.outputNames()
                    + ") needs " + (elements > Long.MAX_VALUE / each ? "more than 2^63" : elements * each)
                    + " bytes of working memory for " + purpose + ", but the limit is " + limit
                    + " bytes (-Dseriatim.cpu.memory): use smaller sizes or raise the limit");
        }
    }
}
