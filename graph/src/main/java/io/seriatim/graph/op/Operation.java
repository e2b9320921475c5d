package io.seriatim.graph.op;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An operation type: its slots and attributes, how it infers, what its gradient is, what else it does, and which
 * computations it comes down to. Immutable.
 */
public final class Operation {
    private final String type;
    private final List<Slot> inputs;
    private final List<Slot> outputs;
    private final Map<String, AttributeSpec> attributes;
    private final Inference.Rule inference;
    private final Lowering.@Nullable Rule lowering;
    private final @Nullable GradientRule gradient;
    private final Set<Effect> effects;
    private final Set<String> values;
    private final Set<String> shapesOnly;
    private final @Nullable String file;
    private final Set<String> aliases;
    private final List<Refusal> refusals;
    private final boolean boundary;
    private final boolean shapeArithmetic;
    private final @Nullable UnaryOperator<long[]> ofShape;
    private final @Nullable Function<OpDesc, List<String>> changedInPlace;

    /** Says of an operation that it cannot be run, if its attributes alone decide that. */
    @FunctionalInterface
    public interface Refusal {
        /**
         * Looks at an operation.
         *
         * @param op
         *            of the type that the rule was given for
         * @param attrs
         *            its attributes, with the defaults of the schema
         * @return why it cannot be run and what to do about it, to follow the operation's name and a colon; null if it
         * can be run
         */
        @Nullable
        String reason(OpDesc op, Attrs attrs);
    }

    private Operation(Builder builder) {
        type = builder.type;
        inputs = List.copyOf(builder.inputs);
        outputs = List.copyOf(builder.outputs);
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(builder.attributes));
        inference = builder.inference;
        lowering = builder.lowering;
        gradient = builder.gradient;
        effects = Collections.unmodifiableSet(EnumSet.copyOf(builder.effects));
        values = Set.copyOf(builder.values);
        shapesOnly = Set.copyOf(builder.shapesOnly);
        file = builder.file;
        aliases = Set.copyOf(builder.aliases);
        refusals = List.copyOf(builder.refusals);
        boundary = builder.boundary;
        shapeArithmetic = builder.shapeArithmetic;
        ofShape = builder.ofShape;
        changedInPlace = builder.changedInPlace;
    }

    /**
     * Begins a definition.
     *
     * @param type
     *            the type's name
     * @return a builder
     */
    public static Builder define(String type) {
        return new Builder(type);
    }

    /** Collects what an operation type is. */
    public static final class Builder {
        private final String type;
        private final List<Slot> inputs = new ArrayList<>();
        private final List<Slot> outputs = new ArrayList<>();
        private final Map<String, AttributeSpec> attributes = new LinkedHashMap<>();
        private Inference.Rule inference = _ -> {
        };
        private Lowering.@Nullable Rule lowering;
        private @Nullable GradientRule gradient;
        private final EnumSet<Effect> effects = EnumSet.noneOf(Effect.class);
        private final Set<String> values = new HashSet<>();
        private final Set<String> shapesOnly = new HashSet<>();
        private @Nullable String file;
        private final Set<String> aliases = new HashSet<>();
        private final List<Refusal> refusals = new ArrayList<>();
        private boolean boundary;
        private boolean shapeArithmetic;
        private @Nullable UnaryOperator<long[]> ofShape;
        private @Nullable Function<OpDesc, List<String>> changedInPlace;
        private final List<Builder> with = new ArrayList<>();

        private Builder(String type) {
            this.type = type;
        }

        /**
         * Input slots.
         *
         * @param slots
         *            names; followed by * for a list, ? for one that may be left out
         * @return this
         */
        public Builder in(String... slots) {
            inputs.addAll(Slot.parse(slots));
            return this;
        }

        /**
         * Output slots.
         *
         * @param slots
         *            names; followed by * for a list, ? for one that may be left out, ~ for one that only the gradient
         *            reads
         * @return this
         */
        public Builder out(String... slots) {
            outputs.addAll(Slot.parse(slots));
            return this;
        }

        /**
         * An attribute with a default.
         *
         * @param name
         *            its name
         * @param byDefault
         *            its value unless given, see {@link Attribute#of}; its type is the attribute's
         * @return this
         */
        public Builder attr(String name, Object byDefault) {
            Attribute value = Attribute.of(byDefault);
            attributes.put(name, new AttributeSpec(name, value.getClass(), value));
            return this;
        }

        /**
         * An attribute that must be given.
         *
         * @param name
         *            its name
         * @param attributeType
         *            the record that its value is
         * @return this
         */
        public Builder required(String name, Class<? extends Attribute> attributeType) {
            attributes.put(name, new AttributeSpec(name, attributeType, null));
            return this;
        }

        /**
         * That it reads or writes a file. It is run only where the caller allows files, see
         * {@link io.seriatim.graph.interpret.AllowedFiles}.
         *
         * @param attribute
         *            a text that must be given: the file's name
         * @return this
         */
        public Builder file(String attribute) {
            file = attribute;
            return required(attribute, Attribute.Text.class).effect(Effect.HOST);
        }

        /**
         * Which operations of the type cannot be run, whatever they are given. Programs with such operations are
         * refused before anything of them is run.
         *
         * @param rule
         *            looks at attributes only; several calls add rules, of which the first that refuses is quoted
         * @return this
         */
        public Builder refuse(Refusal rule) {
            refusals.add(rule);
            return this;
        }

        /**
         * How it infers.
         *
         * @param rule
         *            sets the outputs' types and shapes
         * @return this
         */
        public Builder infer(Inference.Rule rule) {
            inference = rule;
            return this;
        }

        /**
         * What it comes down to. Without, it is an instruction that only an executor can carry out.
         *
         * @param rule
         *            makes the steps
         * @return this
         */
        public Builder lower(Lowering.Rule rule) {
            lowering = rule;
            return this;
        }

        /**
         * Its gradient, one operation that is defined elsewhere.
         *
         * @param signature
         *            {@code type(Slot, Slot@GRAD, Slot=Other@GRAD) -> Slot@GRAD}; it gets the forward's attributes
         * @return this
         */
        public Builder grad(String signature) {
            gradient = GradientSignature.parse(signature)
                    .withLists(name -> inputs.stream().anyMatch(slot -> slot.name().equals(name) && slot.list()));
            return this;
        }

        /**
         * Its gradient.
         *
         * @param rule
         *            makes the operations
         * @return this
         */
        public Builder grad(GradientRule rule) {
            gradient = rule;
            return this;
        }

        /**
         * Its gradient, which is defined with it: with the slots of the signature, this operation's attributes, and
         * gradients that have the shape and type of what they are gradients of.
         *
         * @param signature
         *            {@code type(Slot, Slot@GRAD) -> Slot@GRAD}
         * @param rule
         *            what the gradient comes down to
         * @return this
         */
        public Builder grad(String signature, Lowering.Rule rule) {
            return grad(signature, null, rule);
        }

        /**
         * Its gradient, which is defined with it: with the slots of the signature and this operation's attributes.
         *
         * @param signature
         *            {@code type(Slot, Slot@GRAD) -> Slot@GRAD}
         * @param infer
         *            how the gradient infers, or null if gradients have the shape and type of what they are gradients
         *            of
         * @param rule
         *            what the gradient comes down to
         * @return this
         */
        public Builder grad(String signature, Inference.@Nullable Rule infer, Lowering.Rule rule) {
            with.add(gradOperation(signature, infer).lower(rule));
            return grad(signature);
        }

        /**
         * Begins the definition of a gradient operation, for one that has a gradient of its own: with the slots of the
         * signature, and this operation's attributes. It does not become this operation's gradient by that; say so with
         * {@link #grad(String)} and the same signature. The builder that is returned still needs what it comes down to,
         * then its own gradient, and is registered by its own {@link #register}. Where gradients have no gradients,
         * {@link #grad(String, Lowering.Rule)} does all of this.
         *
         * @param signature
         *            {@code type(Slot, Slot@GRAD) -> Slot@GRAD}; its slots must be defined before
         * @param infer
         *            how the gradient infers, or null if gradients have the shape and type of what they are gradients
         *            of
         * @return a builder of the gradient operation
         * @throws IllegalArgumentException
         *             if the signature names a slot that this operation does not have
         */
        public Builder gradOperation(String signature, Inference.@Nullable Rule infer) {
            GradientSignature parsed = GradientSignature.parse(signature);
            Builder builder = new Builder(parsed.type());
            parsed.inputs().forEach(binding -> builder.inputs.add(slot(binding)));
            parsed.outputs().forEach(binding -> builder.outputs.add(slot(binding)));
            builder.attributes.putAll(attributes);
            builder.refusals.addAll(refusals);
            return builder.infer(infer != null ? infer : inference -> GradientInference.infer(parsed, inference));
        }

        private Slot slot(GradientSignature.Binding binding) {
            for (String name : List.of(binding.written(), binding.forward())) {
                for (List<Slot> slots : List.of(outputs, inputs)) {
                    for (Slot slot : slots) {
                        if (slot.name().equals(name)) {
                            return new Slot(binding.slot(), slot.list(), true, false);
                        }
                    }
                }
            }
            throw new IllegalArgumentException("The gradient of '" + type + "' names the slot '" + binding.forward()
                    + "', which the operation does not have; define slots before the gradient");
        }

        /**
         * What it does apart from writing its outputs.
         *
         * @param effect
         *            one or more calls
         * @return this
         */
        public Builder effect(Effect effect) {
            effects.add(effect);
            return this;
        }

        /**
         * Inputs whose values decide on shapes or on the steps.
         *
         * @param slots
         *            their names
         * @return this
         */
        public Builder values(String... slots) {
            values.addAll(List.of(slots));
            return this;
        }

        /**
         * Inputs of which only type and shape are used, so that their memory may be gone.
         *
         * @param slots
         *            their names
         * @return this
         */
        public Builder shapesOnly(String... slots) {
            shapesOnly.addAll(List.of(slots));
            return this;
        }

        /**
         * Outputs that share memory with another variable from this operation on: see {@link Lowering#alias}.
         *
         * @param slots
         *            their names, and those of the outputs whose memory they share
         * @return this
         */
        public Builder aliases(String... slots) {
            aliases.addAll(List.of(slots));
            return this;
        }

        /**
         * That it stands at the boundary of a program: it brings values into a run or out of it. An executor does that
         * before and after the run, and leaves the operation out.
         *
         * @return this
         */
        public Builder boundary() {
            boundary = true;
            return this;
        }

        /**
         * That programs compute shapes with it, and that it does nothing else: an executor may compute it once for a
         * plan if all its inputs are known by then and it has no more elements than a shape has.
         *
         * @return this
         */
        public Builder shapeArithmetic() {
            shapeArithmetic = true;
            return this;
        }

        /**
         * That its only output follows from the shape of an input: shape arithmetic that is known as soon as that shape
         * is.
         *
         * @param slot
         *            the input, of which only the shape is used
         * @param elements
         *            the output's elements for an input of such dimensions
         * @return this
         */
        public Builder ofShape(String slot, UnaryOperator<long[]> elements) {
            ofShape = elements;
            return shapesOnly(slot).shapeArithmetic();
        }

        /**
         * That it changes variables and keeps a part of what they hold, as an operation does that writes one element of
         * a list: an executor counts them among what it reads and what it writes.
         *
         * @param variables
         *            the names of the variables that an operation changes
         * @return this
         */
        public Builder changesInPlace(Function<OpDesc, List<String>> variables) {
            changedInPlace = variables;
            return this;
        }

        /**
         * Puts it into a registry, with the gradients that were defined with it.
         *
         * @param registry
         *            where it goes
         */
        public void register(Operations registry) {
            registry.add(new Operation(this));
            with.forEach(each -> each.register(registry));
        }
    }

    /**
     * The type's name.
     *
     * @return for instance {@code matmul_v2}
     */
    public String type() {
        return type;
    }

    /**
     * The input slots.
     *
     * @return in order
     */
    public List<Slot> inputs() {
        return inputs;
    }

    /**
     * The output slots.
     *
     * @return in order
     */
    public List<Slot> outputs() {
        return outputs;
    }

    /**
     * The attributes.
     *
     * @return in order
     */
    public List<AttributeSpec> attributes() {
        return List.copyOf(attributes.values());
    }

    /**
     * An attribute.
     *
     * @param name
     *            its name
     * @return null if there is none
     */
    public @Nullable AttributeSpec attribute(String name) {
        return attributes.get(name);
    }

    /**
     * Its gradient.
     *
     * @return null if it has none
     */
    public @Nullable GradientRule gradient() {
        return gradient;
    }

    /**
     * What it does apart from writing its outputs.
     *
     * @return often nothing
     */
    public Set<Effect> effects() {
        return effects;
    }

    /**
     * The attribute that names the file which it reads or writes.
     *
     * @return null if it touches no files
     */
    public @Nullable String file() {
        return file;
    }

    /**
     * Inputs whose values decide on shapes or on the steps.
     *
     * @return slots
     */
    public Set<String> values() {
        return values;
    }

    /**
     * Inputs of which only type and shape are used.
     *
     * @return slots
     */
    public Set<String> shapesOnly() {
        return shapesOnly;
    }

    /**
     * Outputs that share memory with another variable from the operation on.
     *
     * @return slots
     */
    public Set<String> aliases() {
        return aliases;
    }

    /**
     * Whether it stands at the boundary of a program, see {@link Builder#boundary}.
     *
     * @return true of feed and fetch
     */
    public boolean isBoundary() {
        return boundary;
    }

    /**
     * Whether it computes shapes, see {@link Builder#shapeArithmetic}.
     *
     * @return true of what an executor may compute before a run
     */
    public boolean isShapeArithmetic() {
        return shapeArithmetic;
    }

    /**
     * Whether its output follows from the shape of its input, see {@link Builder#ofShape}.
     *
     * @return true of shape and size
     */
    public boolean isOfShape() {
        return ofShape != null;
    }

    /**
     * The elements of its output.
     *
     * @param dims
     *            the dimensions of the input that decides
     * @return in order
     * @throws IllegalStateException
     *             unless {@link #isOfShape}
     */
    public long[] elementsOf(long[] dims) {
        if (ofShape == null) {
            throw new IllegalStateException(
                    "The output of operation type '" + type + "' does not follow from the shape of an input");
        }
        return ofShape.apply(dims);
    }

    /**
     * The variables that an operation changes while it keeps a part of what they hold, see
     * {@link Builder#changesInPlace}.
     *
     * @param op
     *            an operation of this type
     * @return names; mostly none
     */
    public List<String> changedInPlace(OpDesc op) {
        return changedInPlace == null ? List.of() : changedInPlace.apply(op);
    }

    /**
     * Whether it comes down to steps; else it is an instruction of an executor.
     *
     * @return false for control flow, feed and fetch, files and collectives
     */
    public boolean isLowered() {
        return lowering != null;
    }

    /**
     * Infers types and shapes of the outputs.
     *
     * @param op
     *            an operation of this type
     * @param source
     *            what is known of its inputs
     * @return for each output slot, one type a variable; null where nothing is known
     * @throws IllegalArgumentException
     *             if the inputs do not fit; the message names operation, slots and shapes
     */
    public Map<String, List<@Nullable ArgType>> infer(OpDesc op, Inference.Source source) {
        Inference inference = new Inference(op, this, source);
        check(op, inference);
        inference(inference);
        return inference.results();
    }

    private void inference(Inference known) {
        try {
            inference.infer(known);
        } catch (IndexOutOfBoundsException | ArithmeticException e) {
            throw (IllegalArgumentException) known.error("shapes or attributes do not fit (" + e.getMessage() + ")")
                    .initCause(e);
        }
    }

    private void check(OpDesc op, Inference inference) {
        for (Slot slot : inputs) {
            inference.require(slot.optional() || inference.has(slot.name()), "the slot %s has no variable",
                    slot.name());
            inference.require(slot.list() || inference.count(slot.name()) <= 1, "the slot %s takes one variable",
                    slot.name());
        }
        // An instruction that is refused here may stand in a program that is built to be run elsewhere.
        String refusal = isLowered() ? refusal(op) : missing(op);
        if (refusal != null) {
            throw inference.error(refusal);
        }
    }

    /**
     * Why an operation of this type cannot be run, whatever it is given.
     *
     * @param op
     *            an operation of this type
     * @return null if nothing in its attributes speaks against it; it may still fail when it is run
     */
    public @Nullable String refusal(OpDesc op) {
        // Instructions need not look at every attribute.
        String missing = isLowered() ? missing(op) : null;
        if (missing != null || refusals.isEmpty()) {
            return missing;
        }
        Attrs attrs = new Attrs(op, this);
        for (Refusal rule : refusals) {
            String reason;
            try {
                reason = rule.reason(op, attrs);
            } catch (IllegalArgumentException | ArithmeticException e) {
                // An attribute of another type, or a number that is too large.
                return e.getMessage();
            }
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    private @Nullable String missing(OpDesc op) {
        for (AttributeSpec spec : attributes.values()) {
            if (spec.byDefault() == null && op.attribute(spec.name()) == null) {
                return "the attribute '" + spec.name() + "' is not given";
            }
        }
        return null;
    }

    /**
     * Makes the steps for known shapes.
     *
     * @param lowering
     *            of an operation of this type
     * @return the steps
     * @throws IllegalStateException
     *             if it does not come down to steps
     */
    public Lowered lower(Lowering lowering) {
        Lowering.Rule rule = this.lowering;
        if (rule == null) {
            throw new IllegalStateException(
                    "Operation '" + type + "' is an instruction of the executor: it has no steps");
        }
        rule.lower(lowering);
        return lowering.lowered();
    }

    @Override
    public String toString() {
        return type + inputs + " -> " + outputs;
    }
}
