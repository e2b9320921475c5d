package io.seriatim.graph.format.pir;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/** What a value's number stands for while a file is read. */
sealed interface PirValue {
    /**
     * A variable of the program.
     *
     * @param name
     *            its name
     */
    record Variable(String name) implements PirValue {
    }

    /**
     * A tensor of known elements, for which an operation is added only if something needs it as a variable.
     *
     * @param name
     *            of its variable
     * @param dataType
     *            Paddle's number of its element type
     * @param dims
     *            its dimensions
     * @param elements
     *            one that all elements have, or each of them
     * @param block
     *            the number of the block that defines it
     * @param made
     *            the variables that hold it, by the number of their block
     */
    record Constant(String name, int dataType, List<Long> dims, List<Object> elements, int block,
            Map<Integer, String> made)
            implements
                PirValue {
        private static final long LARGEST_LIST = 1 << 16;

        /** Its elements in order, as an attribute has them; just one if they are too many to be an attribute. */
        List<Object> all() {
            if (elements.size() != 1) {
                return elements;
            }
            long count = 1;
            for (long dim : dims) {
                count = dim <= 0 || count > LARGEST_LIST ? 0 : count * dim;
            }
            return count > 1 && count <= LARGEST_LIST
                    ? Collections.nCopies((int) count, elements.getFirst())
                    : elements;
        }
    }

    /**
     * Several values as one.
     *
     * @param values
     *            in order
     */
    record Vector(List<PirValue> values) implements PirValue {
        /** Copies the list. */
        public Vector {
            values = List.copyOf(values);
        }
    }

    /** An optional value that is not there. */
    record Nothing() implements PirValue {
    }
}
