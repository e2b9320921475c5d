package io.seriatim.graph.translate;

import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An operation that is being appended to a block. Single use. */
public final class OpAppender {
    private final BlockBuilder block;
    private final Operation schema;
    private final OpDesc.Builder desc;
    private final Set<String> given = new HashSet<>();

    OpAppender(BlockBuilder block, String type) {
        this.block = block;
        this.schema = Operations.system().get(type);
        this.desc = OpDesc.of(type);
    }

    /**
     * The variables of an input slot.
     *
     * @param slot
     *            its name
     * @param refs
     *            the variables, none for an optional slot that is left out
     * @return this
     */
    public OpAppender in(String slot, Ref... refs) {
        return in(slot, Arrays.asList(refs));
    }

    /**
     * The variables of an input slot.
     *
     * @param slot
     *            its name
     * @param refs
     *            the variables
     * @return this
     */
    public OpAppender in(String slot, List<Ref> refs) {
        desc.in(slot, refs.stream().map(Ref::name).toList());
        return this;
    }

    /**
     * The variable of an optional input slot.
     *
     * @param slot
     *            its name
     * @param ref
     *            null to leave it out
     * @return this
     */
    public OpAppender maybe(String slot, @Nullable Ref ref) {
        return ref == null ? this : in(slot, ref);
    }

    /**
     * An attribute. Numbers are converted to the type of the schema.
     *
     * @param name
     *            its name
     * @param value
     *            a number, text, array, type of elements or the like; see {@link Attribute#of}
     * @return this
     * @throws IllegalArgumentException
     *             if the operation has no such attribute, or the number does not fit into its type
     */
    public OpAppender attr(String name, Object value) {
        AttributeSpec spec = schema.attribute(name);
        if (spec == null) {
            throw new IllegalArgumentException(
                    "Operation '" + schema.type() + "' has no attribute '" + name + "'; it has "
                            + schema.attributes().stream().map(AttributeSpec::name).sorted().toList());
        }
        Attribute given = Attribute.of(value instanceof DType dtype ? DataTypes.number(dtype) : value);
        desc.attr(name, converted(spec, given));
        return this;
    }

    private Attribute converted(AttributeSpec spec, Attribute given) {
        try {
            if (spec.type() == Attribute.Real.class && given instanceof Attribute.Float64(double number)) {
                return new Attribute.Real((float) number);
            }
            if (spec.type() == Attribute.Reals.class && given instanceof Attribute.Float64s(List<Double> numbers)) {
                return new Attribute.Reals(numbers.stream().map(Double::floatValue).toList());
            }
            if (spec.type() == Attribute.Int.class && given instanceof Attribute.Int64(long number)) {
                return new Attribute.Int(Math.toIntExact(number));
            }
            if (spec.type() == Attribute.Ints.class && given instanceof Attribute.Int64s(List<Long> numbers)) {
                return new Attribute.Ints(numbers.stream().map(Math::toIntExact).toList());
            }
            if (spec.type() == Attribute.Int64.class && given instanceof Attribute.Int(int number)) {
                return new Attribute.Int64(number);
            }
            if (spec.type() == Attribute.Int64s.class && given instanceof Attribute.Ints(List<Integer> numbers)) {
                return new Attribute.Int64s(numbers.stream().map(Integer::longValue).toList());
            }
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("Attribute '" + spec.name() + "' of operation '" + schema.type()
                    + "' has whole numbers of 32 bits, but is " + given, e);
        }
        return given;
    }

    /**
     * The block that the operation runs.
     *
     * @param name
     *            the attribute, for instance {@code sub_block}
     * @param runs
     *            the block
     * @return this
     */
    public OpAppender block(String name, Block runs) {
        desc.attr(name, runs);
        return this;
    }

    /**
     * Variables that are there already, which the operation writes.
     *
     * @param slot
     *            an output slot
     * @param refs
     *            the variables
     * @return this
     */
    public OpAppender to(String slot, Ref... refs) {
        return to(slot, Arrays.stream(refs).map(Ref::name).toList());
    }

    /**
     * Variables that are there already, which the operation writes.
     *
     * @param slot
     *            an output slot
     * @param names
     *            their names
     * @return this
     */
    public OpAppender to(String slot, List<String> names) {
        desc.out(slot, names);
        given.add(slot);
        return this;
    }

    /** Appends the operation, whose outputs are all given. */
    public void append() {
        block.append(desc.build(), false);
    }

    /**
     * Appends the operation.
     *
     * @param slot
     *            the output slot of the wanted result
     * @return the result
     */
    public Ref out(String slot) {
        return outs(slot).getFirst();
    }

    /**
     * Appends the operation. Outputs that are not asked for are written too if PaddlePaddle requires them.
     *
     * @param slots
     *            output slots of one variable each
     * @return the results, in this order
     */
    public List<Ref> outs(String... slots) {
        List<String> all = new ArrayList<>(List.of(slots));
        for (Slot slot : schema.outputs()) {
            if (!slot.optional() && !slot.list() && !given.contains(slot.name()) && !all.contains(slot.name())) {
                all.add(slot.name());
            }
        }
        return lists(all, Collections.nCopies(all.size(), 1)).subList(0, slots.length);
    }

    /**
     * Appends the operation.
     *
     * @param slot
     *            an output slot of several variables
     * @param count
     *            their number
     * @return the results
     */
    public List<Ref> list(String slot, int count) {
        return lists(List.of(slot), List.of(count));
    }

    /**
     * Appends the operation.
     *
     * @param slots
     *            output slots
     * @param counts
     *            the numbers of their variables
     * @return the results of all slots, in this order
     */
    public List<Ref> lists(List<String> slots, List<Integer> counts) {
        List<String> names = new ArrayList<>();
        for (int slot = 0; slot < slots.size(); slot++) {
            int first = names.size();
            for (int i = 0; i < counts.get(slot); i++) {
                names.add(block.fresh());
            }
            desc.out(slots.get(slot), names.subList(first, names.size()));
        }
        block.append(desc.build(), given.isEmpty());
        return names.stream().map(block::ref).toList();
    }
}
