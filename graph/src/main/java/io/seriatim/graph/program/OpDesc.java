package io.seriatim.graph.program;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The description of an operation: its type, the variables in its slots, its attributes. Immutable; a program is
 * changed by putting another one in its place. Slots and attributes keep the order in which they were read; an
 * attribute's name may occur twice, as in Paddle's own files, and the last counts.
 */
public final class OpDesc {
    private final String type;
    private final Map<String, List<String>> inputs;
    private final Map<String, List<String>> outputs;
    private final List<Attribute.Named> attributes;
    private final @Nullable Boolean target;
    private final @Nullable OriginalMessage original;
    /** Not part of the operation's value: files and comparisons ignore it. */
    private final @Nullable CallSite site;
    private final List<String> inputNames;
    private final List<String> outputNames;

    /**
     * Copies what it is given.
     *
     * @param type
     *            the operation's type
     * @param inputs
     *            the variables of each input slot, in order
     * @param outputs
     *            the variables of each output slot, in order
     * @param attributes
     *            in order
     * @param target
     *            Paddle's is_target, or null if the file does not say
     */
    public OpDesc(String type, Map<String, List<String>> inputs, Map<String, List<String>> outputs,
            List<Attribute.Named> attributes,
            @Nullable Boolean target) {
        this(type, inputs, outputs, attributes, target, null, null);
    }

    private OpDesc(String type, Map<String, List<String>> inputs, Map<String, List<String>> outputs,
            List<Attribute.Named> attributes,
            @Nullable Boolean target, @Nullable OriginalMessage original, @Nullable CallSite site) {
        this.type = type;
        this.inputs = copy(inputs);
        this.outputs = copy(outputs);
        this.inputNames = this.inputs.values().stream().flatMap(List::stream).toList();
        this.outputNames = this.outputs.values().stream().flatMap(List::stream).toList();
        this.attributes = List.copyOf(attributes);
        this.target = target;
        this.original = original;
        this.site = site;
    }

    private static Map<String, List<String>> copy(Map<String, List<String>> slots) {
        Map<String, List<String>> copy = LinkedHashMap.newLinkedHashMap(slots.size());
        slots.forEach((slot, names) -> copy.put(slot, List.copyOf(names)));
        return Collections.unmodifiableMap(copy);
    }

    /**
     * Begins a description.
     *
     * @param type
     *            the operation's type
     * @return a builder
     */
    public static Builder of(String type) {
        return new Builder(type);
    }

    /** Collects slots and attributes, and puts them in the order of Paddle's files: by name, in byte order. */
    public static final class Builder {
        private final String type;
        private final Map<String, List<String>> inputs = new TreeMap<>();
        private final Map<String, List<String>> outputs = new TreeMap<>();
        private final Map<String, Attribute> attributes = new TreeMap<>();

        private Builder(String type) {
            this.type = type;
        }

        /**
         * The variables of an input slot.
         *
         * @param slot
         *            its name
         * @param names
         *            the variables, in order; none for an optional slot without
         * @return this
         */
        public Builder in(String slot, String... names) {
            return in(slot, List.of(names));
        }

        /**
         * The variables of an input slot.
         *
         * @param slot
         *            its name
         * @param names
         *            the variables, in order; none for an optional slot without
         * @return this
         */
        public Builder in(String slot, Collection<String> names) {
            inputs.put(slot, List.copyOf(names));
            return this;
        }

        /**
         * The variables of an output slot.
         *
         * @param slot
         *            its name
         * @param names
         *            the variables, in order
         * @return this
         */
        public Builder out(String slot, String... names) {
            return out(slot, List.of(names));
        }

        /**
         * The variables of an output slot.
         *
         * @param slot
         *            its name
         * @param names
         *            the variables, in order
         * @return this
         */
        public Builder out(String slot, Collection<String> names) {
            outputs.put(slot, List.copyOf(names));
            return this;
        }

        /**
         * An attribute.
         *
         * @param name
         *            its name
         * @param value
         *            see {@link Attribute#of}
         * @return this
         */
        public Builder attr(String name, Object value) {
            attributes.put(name, Attribute.of(value));
            return this;
        }

        /**
         * The description.
         *
         * @return what was collected
         */
        public OpDesc build() {
            List<Attribute.Named> named = new ArrayList<>();
            attributes.forEach((name, value) -> named.add(new Attribute.Named(name, value)));
            return new OpDesc(type, inputs, outputs, named, null, null, CallSite.current());
        }
    }

    /**
     * The operation's type.
     *
     * @return for instance {@code matmul_v2}
     */
    public String type() {
        return type;
    }

    /**
     * The input slots.
     *
     * @return the variables of each, in order
     */
    public Map<String, List<String>> inputs() {
        return inputs;
    }

    /**
     * The output slots.
     *
     * @return the variables of each, in order
     */
    public Map<String, List<String>> outputs() {
        return outputs;
    }

    /**
     * The attributes.
     *
     * @return in order
     */
    public List<Attribute.Named> attributes() {
        return attributes;
    }

    /**
     * Paddle's is_target.
     *
     * @return null if the file does not say
     */
    public @Nullable Boolean target() {
        return target;
    }

    /**
     * The unknown parts of its message in the file.
     *
     * @return null if it has no more, or if it was not read from a file
     */
    public @Nullable OriginalMessage original() {
        return original;
    }

    /**
     * A copy with the unknown parts of its message in a file.
     *
     * @param message
     *            the message in the file, or null for nothing
     * @return the copy
     */
    public OpDesc with(@Nullable OriginalMessage message) {
        return new OpDesc(type, inputs, outputs, attributes, target, message, site);
    }

    /**
     * Where the operation was built: the innermost calls of code that is not of this library, as in a stack trace, up
     * to three. For an operation of a gradient, where the operation was built whose gradient it is; for one of an
     * optimizer, the call of {@code minimize}. An operation that was read from a file has Paddle's attribute
     * {@code op_callstack} instead, if the file has it; one of a model of another system has nothing. It is not written
     * to files, and two operations that differ in it only are equal.
     *
     * @return innermost first; empty if it is not known
     */
    public List<String> builtAt() {
        return site == null ? List.of() : site.frames();
    }

    /**
     * A copy that was built here, if it is not known where.
     *
     * @return this operation if it is known
     */
    public OpDesc builtHere() {
        return site == null
                ? new OpDesc(type, inputs, outputs, attributes, target, original, CallSite.current())
                : this;
    }

    /**
     * A copy that was built where another operation was.
     *
     * @param other
     *            whose place it takes over
     * @return a copy
     */
    public OpDesc builtWith(OpDesc other) {
        return new OpDesc(type, inputs, outputs, attributes, target, original, other.site);
    }

    /**
     * The variables of an input slot.
     *
     * @param slot
     *            its name
     * @return none if there is no such slot
     */
    public List<String> input(String slot) {
        return inputs.getOrDefault(slot, List.of());
    }

    /**
     * The variables of an output slot.
     *
     * @param slot
     *            its name
     * @return none if there is no such slot
     */
    public List<String> output(String slot) {
        return outputs.getOrDefault(slot, List.of());
    }

    /**
     * All variables that it reads.
     *
     * @return slot by slot
     */
    public List<String> inputNames() {
        return inputNames;
    }

    /**
     * All variables that it writes.
     *
     * @return slot by slot
     */
    public List<String> outputNames() {
        return outputNames;
    }

    /**
     * An attribute.
     *
     * @param name
     *            its name
     * @return the last of that name, or null
     */
    public @Nullable Attribute attribute(String name) {
        return Attribute.find(attributes, name);
    }

    /**
     * A copy with an attribute set; a new one goes to its place by name.
     *
     * @param name
     *            its name
     * @param value
     *            see {@link Attribute#of}
     * @return the copy
     */
    public OpDesc with(String name, Object value) {
        Attribute attribute = Attribute.of(value);
        List<Attribute.Named> changed = new ArrayList<>(attributes);
        changed.replaceAll(each -> each.name().equals(name) ? new Attribute.Named(name, attribute) : each);
        if (attribute(name) == null) {
            int at = 0;
            while (at < changed.size() && changed.get(at).name().compareTo(name) < 0) {
                at++;
            }
            changed.add(at, new Attribute.Named(name, attribute));
        }
        return new OpDesc(type, inputs, outputs, changed, target, original, site);
    }

    /**
     * A copy without some attributes.
     *
     * @param names
     *            which
     * @return the copy
     */
    public OpDesc without(Collection<String> names) {
        return new OpDesc(type, inputs, outputs,
                attributes.stream().filter(each -> !names.contains(each.name())).toList(), target,
                original, site);
    }

    /**
     * A copy with other slots.
     *
     * @param newInputs
     *            the input slots
     * @param newOutputs
     *            the output slots
     * @return the copy
     */
    public OpDesc with(Map<String, List<String>> newInputs, Map<String, List<String>> newOutputs) {
        return new OpDesc(type, newInputs, newOutputs, attributes, target, original, site);
    }

    /**
     * Whether it runs blocks of its program, which attributes name.
     *
     * @return true of branches, loops and recurrences
     */
    public boolean runsBlocks() {
        for (Attribute.Named each : attributes()) {
            if (!each.value().blocks().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /**
     * A copy that reads and writes variables of other names. The attribute that pairs parameters with gradients
     * follows.
     *
     * @param input
     *            the new name of each variable that it reads
     * @param output
     *            the new name of each variable that it writes
     * @return the copy
     */
    public OpDesc renamed(UnaryOperator<String> input, UnaryOperator<String> output) {
        OpDesc renamed = with(renamed(inputs, input), renamed(outputs, output));
        if (!(attribute(Roles.VARIABLES) instanceof Attribute.Texts(List<String> pairs))) {
            return renamed;
        }
        List<String> read = inputNames();
        List<String> written = outputNames();
        return renamed.with(Roles.VARIABLES, pairs.stream().map(name -> read.contains(name) ? input.apply(name) : name)
                .map(name -> written.contains(name) ? output.apply(name) : name).toArray(String[]::new));
    }

    private static Map<String, List<String>> renamed(Map<String, List<String>> slots, UnaryOperator<String> rename) {
        Map<String, List<String>> renamed = LinkedHashMap.newLinkedHashMap(slots.size());
        slots.forEach((slot, names) -> renamed.put(slot, names.stream().map(rename).toList()));
        return renamed;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OpDesc op && type.equals(op.type) && inputs.equals(op.inputs)
                && outputs.equals(op.outputs)
                && attributes.equals(op.attributes) && Objects.equals(target, op.target)
                && Objects.equals(original, op.original);
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, inputs, outputs, attributes);
    }

    @Override
    public String toString() {
        return ProgramText.line(this);
    }
}
