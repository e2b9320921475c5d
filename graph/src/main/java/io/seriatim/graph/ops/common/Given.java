package io.seriatim.graph.ops.common;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operation;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What an operation whose outputs' shapes depend on values is given: the same while shapes are inferred and while it is
 * lowered.
 */
public sealed interface Given {
    /** The operation's type. */
    String type();

    Attrs attrs();

    /** How many variables an input slot has. */
    int count(String slot);

    boolean wants(String output);

    ArgType in(String slot, int index);

    /** The elements of an input, or null if they are not known yet. */
    double @Nullable [] found(String slot, int index);

    /** The offsets of an input, if its companion is one of the inputs whose values are needed. */
    Lod lod(String slot, int index);

    /** The elements of an input. */
    default double[] numbers(String slot, int index) {
        return Objects.requireNonNull(found(slot, index));
    }

    /** The elements of the first input of a slot. */
    default double[] numbers(String slot) {
        return numbers(slot, 0);
    }

    default boolean has(String slot) {
        return count(slot) > 0;
    }

    default DType dtype(String slot) {
        return in(slot, 0).dtype();
    }

    default long dim(String slot, int axis) {
        return in(slot, 0).dims()[axis];
    }

    default long[] dims(String slot) {
        return in(slot, 0).dims();
    }

    /** The offsets of the first input of a slot. */
    default Lod lod(String slot) {
        return lod(slot, 0);
    }

    /** The offsets of the sequences of an input, as many as there are images, and one more. */
    default int[] offsets(String slot, int rows) {
        Lod lod = lod(slot);
        require(!lod.isEmpty() && lod.rows() == rows,
                "%s must be divided among the images by its LoD, from 0 to its %d rows, but its LoD is %s", slot, rows,
                lod);
        return Arrays.stream(lod.last()).mapToInt(Math::toIntExact).toArray();
    }

    /** Two inputs are divided among equally many images. */
    default void sameImages(int images, String slot, int[] offsets) {
        require(offsets.length - 1 == images, "%s must be divided among %d images, but its LoD has %d sequences", slot,
                images, offsets.length - 1);
    }

    /** A dimension as a length of arrays. */
    default int length(String slot, int axis) {
        return Math.toIntExact(dim(slot, axis));
    }

    @FormatMethod
    default void require(boolean holds, String rule, Object... values) {
        if (!holds) {
            throw error(String.format(Locale.ROOT, rule, values));
        }
    }

    /** The failure of a rule; names the operation. */
    default IllegalArgumentException error(String rule) {
        return new IllegalArgumentException("Operation '" + type() + "': " + rule);
    }

    /**
     * Adds the rules of an operation whose outputs' shapes depend on values.
     *
     * @param builder
     *            gets the rules; its slots and attributes are defined
     * @param check
     *            checks inputs and attributes, and says what is known of the outputs before the inputs' values are
     * @param compute
     *            computes the outputs
     * @param slots
     *            the inputs whose values are needed
     * @return the builder
     */
    static Operation.Builder rules(Operation.Builder builder, Consumer<Inference> check,
            Function<Given, ComputedOutputs> compute, String... slots) {
        return builder.values(slots).infer(inference -> {
            check.accept(inference);
            Given given = new Inferring(inference);
            if (given.found(slots[0], 0) != null) {
                inference.computed(ComputedOutputs.class, () -> compute.apply(given)).infer(inference);
            }
        }).lower(l -> l.computed(ComputedOutputs.class, () -> compute.apply(new Lowered(l))).lower(l));
    }

    /** While shapes are inferred. */
    record Inferring(Inference inference) implements Given {
        @Override
        public String type() {
            return inference.type();
        }

        @Override
        public Attrs attrs() {
            return inference.attrs();
        }

        @Override
        public int count(String slot) {
            return inference.count(slot);
        }

        @Override
        public boolean wants(String output) {
            return inference.outputs(output) > 0;
        }

        @Override
        public ArgType in(String slot, int index) {
            return inference.in(slot, index);
        }

        @Override
        public double @Nullable [] found(String slot, int index) {
            return inference.numbers(slot, index);
        }

        @Override
        public Lod lod(String slot, int index) {
            return Objects.requireNonNull(inference.lod(slot, index));
        }
    }

    /** While it is lowered. */
    record Lowered(Lowering lowering) implements Given {
        @Override
        public String type() {
            return lowering.type();
        }

        @Override
        public Attrs attrs() {
            return lowering.attrs();
        }

        @Override
        public int count(String slot) {
            return lowering.count(slot);
        }

        @Override
        public boolean wants(String output) {
            return lowering.outputs(output) > 0;
        }

        @Override
        public ArgType in(String slot, int index) {
            return lowering.type(slot, index);
        }

        @Override
        public double @Nullable [] found(String slot, int index) {
            return lowering.numbers(slot, index);
        }

        @Override
        public Lod lod(String slot, int index) {
            return lowering.lodValue(slot, index);
        }
    }
}
