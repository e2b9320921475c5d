package io.seriatim.graph.op;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The known types of an operation's inputs, and the types that its inference sets for the outputs. Inference runs
 * twice: while a program is built, when dimensions may be unknown (−1), and before a run, when all dimensions are
 * known, and the values of inputs that decide on shapes.
 */
public final class Inference {
    private final OpDesc op;
    private final Attrs attrs;
    private final Source source;
    private final Map<String, @Nullable ArgType[]> outputs = new LinkedHashMap<>();

    /** What is known of the inputs. */
    public interface Source {
        /**
         * The type of a variable.
         *
         * @param slot
         *            the input slot
         * @param index
         *            its place in the slot
         * @return its type, or null if nothing is known of it
         */
        @Nullable
        ArgType type(String slot, int index);

        /**
         * The values of a variable.
         *
         * @param slot
         *            the input slot
         * @param index
         *            its place in the slot
         * @return its elements as whole numbers, or null if they are not known yet
         */
        long @Nullable [] values(String slot, int index);

        /**
         * The elements of a tensor as {@link #values} gives them.
         *
         * @param tensor
         *            of any type
         * @return its elements in row-major order; fractions are cut off
         */
        static long[] whole(Tensor tensor) {
            if (!tensor.dtype().isFloating()) {
                return tensor.toLongArray();
            }
            double[] numbers = tensor.toDoubleArray();
            long[] whole = new long[numbers.length];
            for (int i = 0; i < whole.length; i++) {
                whole[i] = (long) numbers[i];
            }
            return whole;
        }

        /**
         * The values of a variable, fractions included.
         *
         * @param slot
         *            the input slot
         * @param index
         *            its place in the slot
         * @return its elements, or null if they are not known yet
         */
        default double @Nullable [] numbers(String slot, int index) {
            long[] values = values(slot, index);
            return values == null ? null : Arrays.stream(values).asDoubleStream().toArray();
        }

        /**
         * What an operation computes from the values of its inputs both to infer shapes and to be lowered. A source of
         * one operation with given values may keep it.
         *
         * @param computation
         *            computes it
         * @return its result, or that of an earlier call
         */
        default Object computed(Supplier<?> computation) {
            return computation.get();
        }

        /**
         * Whether a run follows, so that all dimensions are known.
         *
         * @return false while a program is built
         */
        default boolean isForRun() {
            return true;
        }
    }

    /** The rule by which an operation infers. */
    @FunctionalInterface
    public interface Rule {
        /**
         * Checks the inputs and sets the outputs.
         *
         * @param inference
         *            what is known
         */
        void infer(Inference inference);
    }

    /**
     * Of an operation.
     *
     * @param op
     *            its description
     * @param schema
     *            its schema
     * @param source
     *            what is known of its inputs
     */
    public Inference(OpDesc op, Operation schema, Source source) {
        this.op = op;
        this.attrs = new Attrs(op, schema);
        this.source = source;
    }

    /**
     * The operation's type.
     *
     * @return its name
     */
    public String type() {
        return op.type();
    }

    /**
     * The attributes.
     *
     * @return with defaults
     */
    public Attrs attrs() {
        return attrs;
    }

    /**
     * Whether an input slot has a variable.
     *
     * @param slot
     *            its name
     * @return false if it is absent or empty
     */
    public boolean has(String slot) {
        return count(slot) > 0;
    }

    /**
     * How many variables an input slot has.
     *
     * @param slot
     *            its name
     * @return from 0
     */
    public int count(String slot) {
        return op.input(slot).size();
    }

    /**
     * How many variables an output slot has.
     *
     * @param slot
     *            its name
     * @return from 0
     */
    public int outputs(String slot) {
        return op.output(slot).size();
    }

    /**
     * What is known of an input.
     *
     * @param slot
     *            its slot
     * @return of the slot's first variable
     */
    public ArgType in(String slot) {
        return in(slot, 0);
    }

    /**
     * What is known of an input.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return its type
     * @throws IllegalArgumentException
     *             if it is not there
     */
    public ArgType in(String slot, int index) {
        ArgType type = index < count(slot) ? source.type(slot, index) : null;
        if (type == null) {
            throw error("needs a tensor in slot " + slot + (index == 0 ? "" : ", place " + index));
        }
        return type;
    }

    /**
     * The inputs of a slot without those that stand for none.
     *
     * @param slot
     *            its slot
     * @return their types, at least one
     * @throws IllegalArgumentException
     *             if another is not there
     */
    public List<ArgType> present(String slot) {
        List<String> names = op.input(slot);
        List<ArgType> present = IntStream.range(0, names.size())
                .filter(i -> !names.get(i).equals(GradientRule.EMPTY)).mapToObj(i -> in(slot, i)).toList();
        return present.isEmpty() ? List.of(in(slot, 0)) : present;
    }

    /** What is known of an input; null if nothing is. */
    @Nullable
    ArgType known(String slot, int index) {
        return source.type(slot, index);
    }

    /** Whether an output has a variable at a place. */
    boolean wants(String slot, int index) {
        return !op.output(slot).get(index).equals(GradientRule.EMPTY);
    }

    /**
     * The dimensions of an input.
     *
     * @param slot
     *            its slot
     * @return a new array, −1 where unknown
     */
    public long[] dims(String slot) {
        return in(slot).dims();
    }

    /**
     * The element type of an input.
     *
     * @param slot
     *            its slot
     * @return the type
     */
    public DType dtype(String slot) {
        return in(slot).dtype();
    }

    /**
     * The values of an input that decides on shapes.
     *
     * @param slot
     *            its slot
     * @return its elements, or null if it is absent or its values are not known yet
     */
    public long @Nullable [] values(String slot) {
        return hasReal(slot, 0) ? source.values(slot, 0) : null;
    }

    /**
     * The values of an input that decides on shapes, fractions included.
     *
     * @param slot
     *            its slot
     * @return its elements, or null if it is absent or its values are not known yet
     */
    public double @Nullable [] numbers(String slot) {
        return numbers(slot, 0);
    }

    /** Values of complex variables would be their real parts. */
    private boolean hasReal(String slot, int index) {
        boolean isThere = index < count(slot);
        ArgType type = isThere ? source.type(slot, index) : null;
        require(type == null || !type.dtype().isComplex(),
                "%s must hold real numbers, since its values decide on shapes",
                slot);
        return isThere;
    }

    /**
     * The values of an input that decides on shapes, fractions included.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return its elements, or null if it is absent or its values are not known yet
     */
    public double @Nullable [] numbers(String slot, int index) {
        return hasReal(slot, index) ? source.numbers(slot, index) : null;
    }

    /**
     * Computes something from the values of the inputs that {@link Lowering#computed} returns again, where it can be
     * kept until then.
     *
     * @param type
     *            what is computed; always the same for a type of operations
     * @param computation
     *            computes it
     * @param <T>
     *            its type
     * @return the result
     */
    public <T> T computed(Class<T> type, Supplier<? extends T> computation) {
        return type.cast(source.computed(computation));
    }

    /**
     * The values of a list of one-element inputs that decide on shapes.
     *
     * @param slot
     *            its slot
     * @return one for each, −1 for those that are not known yet
     */
    public long[] listed(String slot) {
        long[] all = new long[count(slot)];
        for (int i = 0; i < all.length; i++) {
            long[] values = source.values(slot, i);
            all[i] = values == null || values.length == 0 ? -1 : values[0];
        }
        return all;
    }

    /**
     * Sets an output.
     *
     * @param slot
     *            its slot; nothing happens if it has no variable
     * @param dtype
     *            its elements' type
     * @param dims
     *            its dimensions, −1 where unknown
     */
    public void set(String slot, DType dtype, long... dims) {
        set(slot, 0, ArgType.dense(dtype, dims));
    }

    /**
     * Sets an output.
     *
     * @param slot
     *            its slot; nothing happens if it has no variable at that place
     * @param index
     *            its place in the slot
     * @param type
     *            what it is
     */
    public void set(String slot, int index, ArgType type) {
        if (index < outputs(slot)) {
            require(type.rank() <= Shape.MAX_RANK, "%s would have %d dimensions, but a tensor has at most %d", slot,
                    type.rank(), Shape.MAX_RANK);
            require(isCountable(type.dims()), "%s would have the shape %s, more elements than there can be", slot,
                    Numbers.text(type.dims()));
            outputs.computeIfAbsent(slot, name -> new ArgType[outputs(name)])[index] = type;
        }
    }

    private static boolean isCountable(long[] dims) {
        long bound = Long.MAX_VALUE;
        for (long dim : dims) {
            if (dim == 0) {
                return true;
            }
            bound /= Math.max(dim, 1);
        }
        return bound > 0;
    }

    /**
     * Gives an output the type of an input.
     *
     * @param input
     *            the input slot
     * @param output
     *            the output slot
     */
    public void same(String input, String output) {
        if (outputs(output) > 0) {
            set(output, 0, in(input));
        }
    }

    /**
     * Gives each variable of an output slot the type of the one in the same place of an input slot.
     *
     * @param input
     *            the input slot
     * @param output
     *            the output slot
     */
    public void sameEach(String input, String output) {
        for (int i = 0; i < Math.min(count(input), outputs(output)); i++) {
            set(output, i, in(input, i));
        }
    }

    /**
     * The number of sequences of an input: those of the last level of its offsets.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#readsLod}
     * @return −1 if it is not known yet
     * @throws IllegalArgumentException
     *             if a run follows, and the input is not divided into sequences
     */
    public long sequences(String slot) {
        if (!hasLod(slot)) {
            require(!isForRun(),
                    "%s must be divided into sequences, but its variable has no LoD: feed it with offsets, "
                            + "Tensor.withLod",
                    slot);
            return -1;
        }
        long[] dims = dims(LodSlot.of(slot));
        if (dims.length == 1) {
            return dims[0] < 0 ? -1 : dims[0] - 1;
        }
        Lod lod = lod(slot);
        return lod == null ? -1 : lod.last().length - 1;
    }

    /**
     * Whether an input may be divided into sequences. Its offsets may still have no levels.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#readsLod}
     * @return false while a program is built, and if its variable surely has no offsets
     */
    public boolean hasLod(String slot) {
        if (!has(LodSlot.of(slot))) {
            return false;
        }
        long[] dims = dims(LodSlot.of(slot));
        return dims.length != 1 || dims[0] != 0;
    }

    /**
     * The offsets of an input.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#readsLod}
     * @return null if their values are not known yet; {@link Lod#NONE} if there are none
     */
    public @Nullable Lod lod(String slot) {
        return lod(slot, 0);
    }

    /**
     * The offsets of an input.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#readsLod}
     * @param index
     *            its place in the slot
     * @return null if their values are not known yet; {@link Lod#NONE} if there are none
     */
    public @Nullable Lod lod(String slot, int index) {
        String companion = LodSlot.of(slot);
        if (index >= count(companion)) {
            return isForRun() ? Lod.NONE : null;
        }
        long[] values = source.values(companion, index);
        return values == null ? null : Lod.ofElements(values, in(companion, index).dims().length);
    }

    /**
     * Gives an output one level of offsets, whose values the operation computes.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#makesLod}; nothing happens if no one reads them
     * @param sequences
     *            how many sequences; 0 for no level
     */
    public void setLod(String slot, long sequences) {
        set(LodSlot.of(slot), DType.INT64, sequences < 0 ? -1 : sequences == 0 ? 0 : sequences + 1);
    }

    /**
     * Gives an output offsets.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#makesLod}; nothing happens if no one reads them
     * @param lod
     *            what {@link Lowering#outLod} gets
     */
    public void setLod(String slot, Lod lod) {
        set(LodSlot.of(slot), DType.INT64, lod.toTensor().shape().dims());
    }

    /**
     * Leaves an output as it was declared.
     *
     * @param slot
     *            its slot
     */
    public void asDeclared(String slot) {
        outputs.computeIfAbsent(slot, name -> new ArgType[outputs(name)]);
    }

    /**
     * Whether a run follows, so that all dimensions are known, and outputs must be given theirs.
     *
     * @return false while a program is built
     */
    public boolean isForRun() {
        return source.isForRun();
    }

    /**
     * An axis of an input, from 0.
     *
     * @param slot
     *            the input slot
     * @param axis
     *            from −rank
     * @return from 0
     * @throws IllegalArgumentException
     *             if there is no such axis
     */
    public int axis(String slot, long axis) {
        int rank = dims(slot).length;
        require((axis >= -rank && axis < rank) || (rank == 0 && (axis == 0 || axis == -1)),
                "the axis %d is not one of the %d dimensions of %s",
                axis, rank, slot);
        return (int) (axis < 0 ? axis + Math.max(rank, 1) : axis);
    }

    /**
     * Fails unless a rule holds.
     *
     * @param holds
     *            whether it does
     * @param rule
     *            what must hold, as a format
     * @param values
     *            of the format
     */
    @FormatMethod
    public void require(boolean holds, String rule, Object... values) {
        if (!holds) {
            throw error(String.format(Locale.ROOT, rule, values));
        }
    }

    /**
     * An error that names the operation, its slots and their shapes, and where it was built.
     *
     * @param rule
     *            what is wrong
     * @return to be thrown
     */
    public IllegalArgumentException error(String rule) {
        StringBuilder text = new StringBuilder("Operation '").append(op.type()).append("': ").append(rule)
                .append("; its inputs are");
        op.inputs().forEach((slot, names) -> {
            for (int i = 0; i < names.size(); i++) {
                text.append(' ').append(slot).append('=').append(names.get(i)).append(' ').append(source.type(slot, i));
            }
        });
        text.append(", its outputs ").append(op.outputNames());
        List<String> built = op.builtAt();
        return new IllegalArgumentException(
                (built.isEmpty() ? text : text.append("; built at ").append(String.join(", called at ", built)))
                        .toString());
    }

    /**
     * What was inferred.
     *
     * @return for each output slot, one type a variable; null where nothing was said
     */
    public Map<String, List<@Nullable ArgType>> results() {
        Map<String, List<@Nullable ArgType>> results = new TreeMap<>();
        outputs.forEach((slot, types) -> results.put(slot, Arrays.asList(types)));
        return results;
    }

    /**
     * The shape of two operands together; unknown dimensions stay unknown unless the other says more than 1.
     *
     * @param a
     *            the one's dimensions
     * @param b
     *            the other's
     * @return the dimensions of the result
     */
    public long[] broadcast(long[] a, long[] b) {
        long[] out = new long[Math.max(a.length, b.length)];
        for (int i = 0; i < out.length; i++) {
            long x = i < out.length - a.length ? 1 : a[i - out.length + a.length];
            long y = i < out.length - b.length ? 1 : b[i - out.length + b.length];
            require(x == y || x == 1 || y == 1 || x < 0 || y < 0, "the shapes %s and %s do not broadcast",
                    Numbers.text(a),
                    Numbers.text(b));
            out[i] = x == 1 ? y : y == 1 ? x : Math.max(x, y);
        }
        return out;
    }

    /**
     * The number of elements.
     *
     * @param dims
     *            dimensions
     * @return their product; −1 if one is unknown
     */
    public static long size(long... dims) {
        return Arrays.stream(dims).anyMatch(dim -> dim < 0) ? -1 : Shape.of(dims).size();
    }
}
