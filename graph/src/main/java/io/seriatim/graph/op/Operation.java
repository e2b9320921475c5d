package io.seriatim.graph.op;

import io.seriatim.device.Device;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The schema of an operation type: its slots, attributes, inference, gradient, effects, and the computations to which
 * it is lowered. Immutable.
 */
public final class Operation {
    private final String type;
    private final List<Slot> inputs;
    private final List<Slot> outputs;
    private final Map<String, AttributeSpec> attributes;
    private final Inference.Rule inference;
    private final Lowering.@Nullable Rule lowering;
    private final Lowering.@Nullable Rule differentiable;
    private final @Nullable GradientRule gradient;
    private final Set<Effect> effects;
    private final Set<String> values;
    private final Set<String> differentiableValues;
    private final Set<String> shapesOnly;
    private final @Nullable String file;
    private final Set<String> aliases;
    private final Set<String> lodInputs;
    private final Set<String> lodOutputs;
    private final Map<String, String> lodShares;
    private final List<Refusal> refusals;
    private final @Nullable RankRefusal rankRefusal;
    private final boolean boundary;
    private final boolean shapeArithmetic;
    private final boolean copy;
    private final boolean keepsNothing;
    private final @Nullable UnaryOperator<long[]> ofShape;
    private final @Nullable ByElements byElements;
    private final @Nullable Function<OpDesc, List<String>> changedInPlace;
    private final @Nullable UnaryOperator<OpDesc> runForm;

    /** A rule that refuses operations which cannot be run among a number of ranks. */
    @FunctionalInterface
    public interface RankRefusal {
        /**
         * Examines an operation.
         *
         * @param op
         *            of the type that the rule was given for
         * @param attrs
         *            its attributes, with the defaults of the schema
         * @param ranks
         *            how many ranks run the program together; 0 if there is no communicator
         * @return why it cannot be run and what to do about it, as {@link Refusal#reason} says; null if it can be run
         */
        @Nullable
        String reason(OpDesc op, Attrs attrs, int ranks);
    }

    /** A rule that refuses operations which cannot be run because of their attributes. */
    @FunctionalInterface
    public interface Refusal {
        /**
         * Examines an operation.
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

    /** Computes the only result of an operation whose size depends on elements of its operands. */
    @FunctionalInterface
    public interface ByElements {
        /**
         * Computes the result.
         *
         * @param attrs
         *            the attributes of the operation
         * @param operands
         *            row-major tensors on the host: those of the slots, in their order; null for a slot without one
         * @param host
         *            where the result is allocated
         * @return a new tensor, the same as by inference and steps; null if they must compute it
         */
        @Nullable
        Tensor compute(Attrs attrs, List<@Nullable Tensor> operands, Device host);
    }

    Operation(OperationBuilder builder) {
        type = builder.type;
        inputs = List.copyOf(builder.inputs);
        outputs = List.copyOf(builder.outputs);
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(builder.attributes));
        inference = builder.inference;
        lowering = builder.lowering;
        differentiable = builder.differentiable;
        effects = Collections.unmodifiableSet(EnumSet.copyOf(builder.effects));
        values = Set.copyOf(builder.values);
        differentiableValues = Set.copyOf(builder.differentiableValues);
        shapesOnly = Set.copyOf(builder.shapesOnly);
        file = builder.file;
        aliases = Set.copyOf(builder.aliases);
        lodInputs = Collections.unmodifiableSet(new LinkedHashSet<>(builder.lodInputs));
        lodOutputs = Collections.unmodifiableSet(new LinkedHashSet<>(builder.lodOutputs));
        refusals = List.copyOf(builder.refusals);
        rankRefusal = builder.rankRefusal;
        boundary = builder.boundary;
        shapeArithmetic = builder.shapeArithmetic;
        copy = builder.copy;
        keepsNothing = builder.keepsNothing;
        ofShape = builder.ofShape;
        byElements = builder.byElements;
        changedInPlace = builder.changedInPlace;
        runForm = builder.runForm;
        gradient = builder.gradient != null || lowering == null || !DerivedGradient.isGradient(type)
                ? builder.gradient
                : DerivedGradient.ofGradient(this);
        lodShares = builder.lodShares == null ? LodSharing.of(this) : Map.copyOf(builder.lodShares);
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

    /** Collects the properties of an operation type. */
    public static final class Builder extends OperationBuilder {
        Builder(String type) {
            super(type);
        }

        @Override
        Builder self() {
            return this;
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
     * Its gradient. That of a gradient operation is derived unless it is defined.
     *
     * @return null if it has none
     */
    public @Nullable GradientRule gradient() {
        return gradient;
    }

    List<Refusal> refusals() {
        return refusals;
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

    /** Inputs whose values decide on the steps that are differentiated. */
    Set<String> differentiableValues() {
        return differentiableValues;
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
     * Inputs whose level-of-detail offsets it reads.
     *
     * @return slots
     */
    public Set<String> lodInputs() {
        return lodInputs;
    }

    /**
     * Outputs for which it makes level-of-detail offsets.
     *
     * @return slots
     */
    public Set<String> lodOutputs() {
        return lodOutputs;
    }

    /**
     * The outputs that take over the level-of-detail offsets of inputs.
     *
     * @return input slots by output slots
     */
    public Map<String, String> lodShares() {
        return lodShares;
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
     * Whether its output is a copy of its input, see {@link Builder#copies}.
     *
     * @return true of an assignment
     */
    public boolean isCopy() {
        return copy;
    }

    /**
     * Whether it keeps no reference to values on which an executor runs it, see {@link Builder#keepsNothing}.
     *
     * @return true of branches, loops and selections
     */
    public boolean keepsNothing() {
        return keepsNothing;
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
     * What computes its result without inference and steps, see {@link Builder#byElements}.
     *
     * @return null for most operations
     */
    public @Nullable ByElements byElements() {
        return byElements;
    }

    /**
     * The variables of which an operation may keep a part of what they hold, or all of it, see
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
     * An operation of this type with the slots with which it is run, see {@link Builder#runAs}.
     *
     * @param op
     *            as it is written
     * @return mostly the same
     */
    public OpDesc runForm(OpDesc op) {
        return runForm == null ? op : runForm.apply(op);
    }

    /**
     * Whether it is lowered to steps; otherwise it is an instruction of an executor.
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
        // Only missing attributes of an instruction are an error here: the program may be built to be run elsewhere.
        String refusal = isLowered() ? refusal(op) : missing(op);
        if (refusal != null) {
            throw inference.error(refusal);
        }
    }

    /**
     * Why an operation of this type cannot be run without a communicator, whatever it is given.
     *
     * @param op
     *            an operation of this type
     * @return null if nothing in its attributes speaks against it; it may still fail when it is run
     */
    public @Nullable String refusal(OpDesc op) {
        return refusal(op, 0);
    }

    /**
     * Why an operation of this type cannot be run, whatever it is given.
     *
     * @param op
     *            an operation of this type
     * @param ranks
     *            how many ranks run the program together; 0 if there is no communicator
     * @return null if nothing in its attributes speaks against it; it may still fail when it is run
     */
    public @Nullable String refusal(OpDesc op, int ranks) {
        // An instruction may ignore attributes.
        String missing = isLowered() ? missing(op) : null;
        RankRefusal among = rankRefusal;
        if (missing != null || (refusals.isEmpty() && among == null)) {
            return missing;
        }
        Attrs attrs = new Attrs(op, this);
        List<Refusal> rules = new ArrayList<>(refusals);
        if (among != null) {
            rules.add((each, given) -> among.reason(each, given, ranks));
        }
        for (Refusal rule : rules) {
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
     *             if it is not lowered to steps
     */
    public Lowered lower(Lowering lowering) {
        makeSteps(lowering);
        return lowering.lowered();
    }

    /**
     * Makes the steps that are differentiated to derive its gradient: those of {@link #lower}, unless others are
     * defined.
     *
     * @param lowering
     *            of an operation of this type
     * @return the steps
     * @throws IllegalStateException
     *             if it is not lowered to steps
     */
    public Lowered lowerDifferentiable(Lowering lowering) {
        if (differentiable == null) {
            return lower(lowering);
        }
        differentiable.lower(lowering);
        return lowering.lowered();
    }

    void makeSteps(Lowering lowering) {
        Lowering.Rule rule = this.lowering;
        if (rule == null) {
            throw new IllegalStateException(
                    "Operation '" + type + "' is an instruction of the executor: it has no steps");
        }
        rule.lower(lowering);
    }

    @Override
    public String toString() {
        return type + inputs + " -> " + outputs;
    }
}
